// Package secret keeps tokens out of logs and seals them for the database.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Text is a secret string. It prints, logs and marshals as [redacted]; only
// Reveal gives the value.
type Text struct {
	// A pointer, because fmt reads the unexported fields of what it prints past
	// all methods; of a pointer in there it shows the address only.
	value *string
}

const redacted = "[redacted]"

// NewText wraps a secret.
func NewText(value string) Text { return Text{&value} }

// Reveal gives the secret itself, for the one call that needs it.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// Empty says whether there is no secret.
func (t Text) Empty() bool { return t.Reveal() == "" }

// String hides the value from what asks for a string.
func (Text) String() string { return redacted }

// Format hides the value from every verb of fmt.
func (Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue hides the value from slog.
func (Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the value from JSON and other encoders.
func (Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }
