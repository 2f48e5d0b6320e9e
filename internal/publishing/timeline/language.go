package timeline

import (
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// Keys of messages that are not event types.
const (
	Unknown = "unknown" // for events that a newer version wrote
	Account = "account" // for an account whose handle is not known any more
)

// Language renders events in one language.
//
// The key of a message is an event's type, or type and variant with a dot between: the
// code or the class of an error, or a property of the event (see renderer.variants).
// A message is a template of package message. A client that writes an entry in another
// language uses the same keys and names.
type Language struct {
	Messages map[string]string
	Seconds  func(d time.Duration) string // 0.004 s
	Day      func(at time.Time) string    // 24 December 2026
	List     func(items []string) string  // a, b and c
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
