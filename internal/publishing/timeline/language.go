package timeline

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Keys of messages that are not event types.
const (
	Unknown = "unknown" // for events that a newer version wrote
	Account = "account" // for an account whose handle is not known any more
)

// Language renders events in one language. To add one, translate Messages and write the
// four functions; TestEveryEventTypeHasASentence shows what is missing.
//
// The key of a message is an event's type, or type and variant with a dot between: the
// code or the class of an error, or a property of the event (see teller.variants).
// {name} is replaced by a value; a part in [brackets] is omitted if one of its values
// is unknown.
type Language struct {
	Messages map[string]string
	Seconds  func(d time.Duration) string // 0.004 s
	Day      func(at time.Time) string    // 24 December 2026
	List     func(items []string) string  // a, b and c
	Count    func(n int, noun string) string
}

// fill puts values into a message.
func fill(message string, value func(name string) string) string {
	var out strings.Builder
	for message != "" {
		open := strings.IndexByte(message, '[')
		if open < 0 {
			open = len(message)
		}
		text, _ := substitute(message[:open], value)
		out.WriteString(text)
		if open == len(message) {
			break
		}
		part, rest, _ := strings.Cut(message[open+1:], "]")
		if text, complete := substitute(part, value); complete {
			out.WriteString(text)
		}
		message = rest
	}
	return out.String()
}

func substitute(text string, value func(string) string) (filled string, complete bool) {
	complete = true
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		out.WriteString(before)
		if !found {
			return out.String(), complete
		}
		name, after, _ := strings.Cut(rest, "}")
		v := value(name)
		complete = complete && v != ""
		out.WriteString(v)
		text = after
	}
}

// lowerFirst lets a sentence follow a colon.
func lowerFirst(sentence string) string {
	first, size := utf8.DecodeRuneInString(sentence)
	second, _ := utf8.DecodeRuneInString(sentence[size:])
	if unicode.IsLower(second) {
		return string(unicode.ToLower(first)) + sentence[size:]
	}
	return sentence
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
