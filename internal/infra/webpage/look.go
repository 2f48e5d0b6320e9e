package webpage

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Language is a language of the dashboard.
type Language string

// The languages.
const (
	English    Language = "en"
	Vietnamese Language = "vi"
)

// The dashboard leaves what its reader has chosen in these cookies.
const (
	languageCookie = "dateline-language"
	schemeCookie   = "dateline-scheme"
)

// Look is how a reader wants pages to be.
type Look struct {
	Language Language
	Scheme   string // light or dark; empty: as the system
}

// LookOf reads a request: what was chosen in the dashboard, else what the browser
// prefers.
func LookOf(r *http.Request) Look {
	l := Look{Language: preferred(r.Header.Get("Accept-Language"))}
	if c, err := r.Cookie(languageCookie); err == nil && known(c.Value) {
		l.Language = Language(c.Value)
	}
	if c, err := r.Cookie(schemeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		l.Scheme = c.Value
	}
	return l
}

func known(code string) bool { return code == string(English) || code == string(Vietnamese) }

// preferred reads Accept-Language (RFC 9110, section 12.5.4).
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

// Text is a text in each language; it may have verbs of fmt.
type Text struct{ EN, VI string }

// Say writes a text in the reader's language.
func (l Look) Say(t Text, args ...any) string {
	text := t.EN
	if l.Language == Vietnamese {
		text = t.VI
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}
