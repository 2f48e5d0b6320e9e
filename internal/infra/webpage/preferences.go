package webpage

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/internal/infra/message"
)

// Language is a language of the dashboard.
type Language string

// The languages.
const (
	English    Language = "en"
	Vietnamese Language = "vi"
)

// Cookies in which the dashboard stores the preferences of a user.
const (
	languageCookie = "dateline-language"
	schemeCookie   = "dateline-scheme"
)

// Preferences are the language and color scheme of a user.
type Preferences struct {
	Language Language
	Scheme   string // light or dark; empty for that of the system
}

// PreferencesOf returns the preferences of a request: those chosen in the dashboard, or
// those of the browser.
func PreferencesOf(r *http.Request) Preferences {
	p := Preferences{Language: preferred(r.Header.Get("Accept-Language"))}
	if c, err := r.Cookie(languageCookie); err == nil && known(c.Value) {
		p.Language = Language(c.Value)
	}
	if c, err := r.Cookie(schemeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		p.Scheme = c.Value
	}
	return p
}

func known(code string) bool { return code == string(English) || code == string(Vietnamese) }

// preferred parses Accept-Language (RFC 9110, section 12.5.4).
func preferred(header string) Language {
	type choice struct {
		code    string
		quality float64
	}
	var choices []choice
	for part := range strings.SplitSeq(header, ",") {
		tag, parameters, _ := strings.Cut(part, ";")
		primary, _, _ := strings.Cut(strings.TrimSpace(tag), "-")
		c := choice{strings.ToLower(primary), 1}
		if q, ok := strings.CutPrefix(strings.TrimSpace(parameters), "q="); ok {
			c.quality, _ = strconv.ParseFloat(q, 64)
		}
		if known(c.code) && c.quality > 0 {
			choices = append(choices, c)
		}
	}
	if len(choices) == 0 {
		return English
	}
	slices.SortStableFunc(choices, func(a, b choice) int { return cmp.Compare(b.quality, a.quality) })
	return Language(choices[0].code)
}

// Text is a text in all languages; it can contain fmt verbs.
type Text struct{ EN, VI string }

// Catalogs are the messages of the program in each language but English.
type Catalogs map[Language]message.Catalog

// Time returns a time without its zone, as the language writes it.
func (p Preferences) Time(t time.Time) string {
	if p.Language == Vietnamese {
		return message.LocalTime(t)
	}
	return t.Format("2006-01-02 15:04")
}

// LongTime returns a time with its weekday and without its zone; the year is left out if it is that of now.
func (p Preferences) LongTime(t, now time.Time) string {
	isOtherYear := t.Year() != now.In(t.Location()).Year()
	if p.Language == Vietnamese {
		days := []string{"Chủ Nhật", "Thứ Hai", "Thứ Ba", "Thứ Tư", "Thứ Năm", "Thứ Sáu", "Thứ Bảy"}
		layout := "2/1"
		if isOtherYear {
			layout = "2/1/2006"
		}
		return t.Format("15:04, ") + days[t.Weekday()] + t.Format(" "+layout)
	}
	if isOtherYear {
		return t.Format("Monday, Jan 2, 2006, 15:04")
	}
	return t.Format("Monday, Jan 2, 15:04")
}

// ShortTime returns a time of this year without its weekday and zone.
func (p Preferences) ShortTime(t time.Time) string {
	if p.Language == Vietnamese {
		return t.Format("15:04, 2/1")
	}
	return t.Format("Jan 2, 15:04")
}

// Day returns a day, as the language writes it.
func (p Preferences) Day(t time.Time) string {
	if p.Language == Vietnamese {
		return t.Format("02/01/2006")
	}
	return t.Format(time.DateOnly)
}

// Translate returns a text in the preferred language.
func (p Preferences) Translate(t Text, args ...any) string {
	text := t.EN
	if p.Language == Vietnamese {
		text = t.VI
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}
