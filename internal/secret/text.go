// Package secret keeps tokens out of logs and seals them for the database.
package secret

import "log/slog"

// Text is a secret string. It prints, logs and marshals as [redacted]; only
// Reveal gives the value.
type Text struct{ value string }

const redacted = "[redacted]"

// NewText wraps a secret.
func NewText(value string) Text { return Text{value} }

// Reveal gives the secret itself, for the one call that needs it.
func (t Text) Reveal() string { return t.value }

// Empty says whether there is no secret.
func (t Text) Empty() bool { return t.value == "" }

// String hides the value from %v and %s.
func (Text) String() string { return redacted }

// GoString hides the value from %#v.
func (Text) GoString() string { return redacted }

// LogValue hides the value from slog.
func (Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the value from JSON and other encoders.
func (Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }
