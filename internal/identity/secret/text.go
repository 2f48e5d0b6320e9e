// Package secret keeps secrets out of logs and encrypts them for the database.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Text is a secret string. It prints, logs and marshals as [redacted]; only Reveal
// returns the value.
type Text struct {
	// A pointer, because fmt prints unexported fields without calling their methods; for
	// a nested pointer it only prints the address.
	value *string
}

const redacted = "[redacted]"

// NewText wraps a secret.
func NewText(value string) Text { return Text{&value} }

// Reveal returns the value.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// Empty reports whether the secret is empty.
func (t Text) Empty() bool { return t.Reveal() == "" }

// String implements fmt.Stringer without the value.
func (Text) String() string { return redacted }

// Format implements fmt.Formatter without the value.
func (Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer without the value.
func (Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler without the value.
func (Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }
