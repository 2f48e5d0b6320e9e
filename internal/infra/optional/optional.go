// Package optional converts between zero values and nil, by which JSON and SQL say that
// a value is missing.
package optional

import "time"

// Of returns nil for the zero value.
func Of[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Value returns the zero value for nil.
func Value[T any](v *T) T {
	if v == nil {
		var zero T
		return zero
	}
	return *v
}

// OfTime returns nil for the zero time of any zone.
func OfTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// UTC returns a time in UTC, and nil for nil.
func UTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}
