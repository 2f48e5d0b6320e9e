package message

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Catalog has the templates of a language by kind and code, as the dashboard has them.
// Its values are written as in Vietnamese, the only language besides that of the program.
// The zero Catalog is English.
type Catalog struct {
	templates map[string]map[string]templates
}

// templates are one template, or several of which the first is used whose values are all
// known.
type templates []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *templates) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(t))
	}
	*t = templates{""}
	return json.Unmarshal(raw, &(*t)[0])
}

// ParseCatalog reads the catalog of a language from JSON.
func ParseCatalog(raw []byte) (c Catalog, err error) {
	if err := json.Unmarshal(raw, &c.templates); err != nil {
		return c, fmt.Errorf("read messages: %w", err)
	}
	return c, nil
}

// Text returns the sentence of a message in the language of the catalog, or in English
// if it has none. kinds are those to look in, in order. Times are in zone.
func (c Catalog) Text(m Message, zone *time.Location, kinds ...string) string {
	value := func(name string) string {
		if name == "message" {
			return m.Text
		}
		return localText(name, m.Params[name], zone)
	}
	for _, kind := range kinds {
		for _, template := range c.templates[kind][m.Code] {
			if isComplete(template, value) {
				if text := tidy(Fill(template, value)); text != "" {
					return text
				}
			}
		}
	}
	return m.Text
}

// Join returns the sentences of messages, as Text.
func (c Catalog) Join(all Messages, zone *time.Location, kinds ...string) string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = c.Text(m, zone, kinds...)
	}
	return strings.Join(texts, " ")
}

// isComplete reports whether the values outside of [brackets] are known.
func isComplete(template string, value func(string) string) bool {
	for _, name := range Names(regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllString(template, "")) {
		if value(name) == "" {
			return false
		}
	}
	return true
}

// tidy removes the space that an omitted part leaves.
func tidy(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer(" .", ".", " ,", ",").Replace(text)
}

// localText writes a value: the end of its name says what it is.
func localText(name string, value any, zone *time.Location) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil && strings.HasSuffix(name, "_at") {
			return LocalTime(at.In(zone))
		}
		if name == "network" || name == "other" {
			return NetworkName(v)
		}
		return v
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			texts[i] = fmt.Sprint(one)
		}
		return strings.Join(texts, ", ")
	}
	number, ok := asNumber(value)
	switch {
	case !ok:
		return fmt.Sprint(value)
	case strings.HasSuffix(name, "_seconds"):
		return localSeconds(number)
	case strings.HasSuffix(name, "_bytes"):
		return localBytes(number)
	}
	return localNumber(number, 2)
}

// NetworkName returns the name of a network as it writes itself: telegram is Telegram.
func NetworkName(network string) string {
	switch network {
	case "linkedin":
		return "LinkedIn"
	case "wordpress":
		return "WordPress"
	}
	first, size := utf8.DecodeRuneInString(network)
	return string(unicode.ToUpper(first)) + network[size:]
}

func asNumber(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// LocalTime writes a time as in Vietnamese: the time of day before the day.
func LocalTime(t time.Time) string { return t.Format("15:04, 02/01/2006") }

func localSeconds(seconds float64) string {
	for _, unit := range []struct {
		name    string
		seconds float64
	}{{"ngày", 86_400}, {"giờ", 3600}, {"phút", 60}} {
		if seconds >= unit.seconds && math.Mod(seconds, unit.seconds) == 0 {
			return localNumber(seconds/unit.seconds, 0) + " " + unit.name
		}
	}
	return localNumber(seconds, 3) + " giây"
}

func localBytes(bytes float64) string {
	switch {
	case bytes >= 1e6:
		return localNumber(bytes/1e6, 1) + " MB"
	case bytes >= 1e4:
		return localNumber(bytes/1e3, 1) + " kB"
	}
	return localNumber(bytes, 0) + " byte"
}

// localNumber writes a number with a decimal comma and points between thousands.
func localNumber(n float64, decimals int) string {
	text := strconv.FormatFloat(math.Abs(n), 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	var out strings.Builder
	if n < 0 {
		out.WriteByte('-')
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out.WriteByte('.')
		}
		out.WriteRune(digit)
	}
	if fraction != "" {
		out.WriteString("," + fraction)
	}
	return out.String()
}
