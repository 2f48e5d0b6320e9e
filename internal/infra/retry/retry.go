// Package retry waits between attempts: a sleep that ends with its context, and
// the Retry-After header of HTTP.
package retry

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Sleep waits for d, or until ctx ends. It returns the error of a context that
// ended first.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ParseAfter reads a Retry-After value (RFC 9110 §10.2.3), which is either a
// number of seconds or a date by the server's clock. Fractions of a second are
// accepted, because servers send them. ok is false for any other value.
func ParseAfter(value string) (wait time.Duration, at time.Time, ok bool) {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseFloat(value, 64); err == nil || seconds > 0 { // +Inf when out of range
		switch {
		case !(seconds >= 0):
			return 0, time.Time{}, false
		case seconds >= time.Duration(math.MaxInt64).Seconds():
			return math.MaxInt64, time.Time{}, true
		}
		return time.Duration(seconds * float64(time.Second)), time.Time{}, true
	}
	at, err := http.ParseTime(value)
	return 0, at, err == nil
}

// After returns how long a response with these headers asks to wait, at most
// limit; 0 if it does not. A date is compared with the server's own Date where
// there is one, otherwise with now.
func After(header http.Header, now time.Time, limit time.Duration) time.Duration {
	wait, at, ok := ParseAfter(header.Get("Retry-After"))
	if !ok {
		return 0
	}
	if !at.IsZero() {
		if date, err := http.ParseTime(header.Get("Date")); err == nil {
			now = date
		}
		wait = at.Sub(now)
	}
	return min(max(wait, 0), limit)
}

// Jitter returns d plus up to a fifth, chosen at random. It never returns less: a
// rate limit must not be tried before its reset.
func Jitter(d time.Duration) time.Duration {
	return d + time.Duration(rand.Int64N(int64(d)/5+1)) //nolint:gosec // not a secret
}
