// Package message fills the sentences that people read with named values. The API
// returns a sentence in English together with its code and its values, so that a client
// can show the message in another language.
//
// A template contains {name} for a value and {name|one|other} for a number with its
// noun. The end of a name says what the value is: _at is a time, _seconds a duration,
// _bytes a size.
package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Params are the values in a message by name, as JSON has them: strings, numbers, lists.
// Times are RFC 3339 with the offset of the time zone in which people read them.
type Params map[string]any

// Message is a sentence with its code and its values.
type Message struct {
	Code   string `json:"code"`
	Text   string `json:"message"`
	Params Params `json:"params,omitempty"`
}

// New returns a Message with a filled template, see Format.
func New(code, template string, args ...any) Message {
	text, params := Format(template, args...)
	return Message{Code: code, Text: text, Params: params}
}

// Messages are sentences that are read one after the other.
type Messages []Message

// One returns a single Message.
func One(code, template string, args ...any) Messages {
	return Messages{New(code, template, args...)}
}

// Text joins the sentences.
func (m Messages) Text() string {
	texts := make([]string, len(m))
	for i, one := range m {
		texts[i] = one.Text
	}
	return strings.Join(texts, " ")
}

// Bytes is the size of a file.
type Bytes int64

func (b Bytes) String() string {
	if b < 1<<20 {
		return fmt.Sprintf("%d bytes", int64(b))
	}
	return fmt.Sprintf("%.1f MiB", float64(b)/(1<<20))
}

// Format replaces the names of a template by args, in the order in which they first
// occur, and returns the sentence and its values. An arg that is nil or "" has no value.
func Format(template string, args ...any) (string, Params) {
	params, texts := Params{}, map[string]string{}
	for i, name := range Names(template) {
		if i >= len(args) {
			break
		}
		if text := textOf(args[i]); text != "" {
			params[name], texts[name] = valueOf(args[i]), text
		}
	}
	text := Fill(template, func(name string) string { return texts[name] })
	if len(params) == 0 {
		return text, nil
	}
	return text, params
}

// Fill replaces the names of a template by their texts. A part in [brackets] is omitted
// if one of its names has no text.
func Fill(template string, text func(name string) string) string {
	var out strings.Builder
	for template != "" {
		open := strings.IndexByte(template, '[')
		if open < 0 {
			open = len(template)
		}
		filled, _ := substitute(template[:open], text)
		out.WriteString(filled)
		if open == len(template) {
			break
		}
		part, rest, _ := strings.Cut(template[open+1:], "]")
		if filled, complete := substitute(part, text); complete {
			out.WriteString(filled)
		}
		template = rest
	}
	return out.String()
}

func substitute(part string, text func(string) string) (filled string, complete bool) {
	complete = true
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(part, "{")
		out.WriteString(before)
		if !found {
			return out.String(), complete
		}
		placeholder, after, _ := strings.Cut(rest, "}")
		name, nouns, counted := strings.Cut(placeholder, "|")
		value := text(name)
		complete = complete && value != ""
		out.WriteString(value)
		if counted && value != "" {
			one, other, _ := strings.Cut(nouns, "|")
			if value != "1" {
				one = other
			}
			out.WriteString(" " + one)
		}
		part = after
	}
}

// Names lists the names in a template, each once, in order.
func Names(template string) []string {
	var names []string
	seen := map[string]bool{}
	for {
		_, rest, found := strings.Cut(template, "{")
		if !found {
			return names
		}
		placeholder, after, _ := strings.Cut(rest, "}")
		if name, _, _ := strings.Cut(placeholder, "|"); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
		template = after
	}
}

func valueOf(arg any) any {
	switch v := arg.(type) {
	case time.Time:
		return v.Format(time.RFC3339)
	case time.Duration:
		return v.Seconds()
	case Bytes:
		return int64(v)
	case string, int, int64, float64, []string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

func textOf(arg any) string {
	switch v := arg.(type) {
	case nil:
		return ""
	case time.Time:
		return v.Format("15:04 on 2 January 2006")
	case time.Duration:
		return durationText(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []string:
		return strings.Join(v, ", ")
	default:
		return fmt.Sprint(v)
	}
}

// durationText writes a duration in its largest unit that has no fraction.
func durationText(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		switch {
		case d == unit.length:
			return "1 " + unit.name
		case d > unit.length && d%unit.length == 0:
			return fmt.Sprintf("%d %ss", d/unit.length, unit.name)
		}
	}
	return d.String()
}
