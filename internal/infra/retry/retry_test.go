package retry

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"
)

func TestSleep_WaitsForTheDuration(t *testing.T) {
	start := time.Now()
	if err := Sleep(t.Context(), 10*time.Millisecond); err != nil {
		t.Fatalf("got %v, want nil", err)
	}
	if got := time.Since(start); got < 10*time.Millisecond {
		t.Errorf("slept %s, want at least 10ms", got)
	}
}

func TestSleep_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, d := range []time.Duration{0, time.Hour} {
		if err := Sleep(ctx, d); !errors.Is(err, context.Canceled) {
			t.Errorf("Sleep(%s): got %v, want context.Canceled", d, err)
		}
	}
}

func TestAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	server := now.Add(time.Hour) // a wrong clock
	for _, c := range []struct {
		name, value, date string
		want              time.Duration
	}{
		{"absent", "", "", 0},
		{"seconds", "120", "", 2 * time.Minute},
		{"space around", " 5 ", "", 5 * time.Second},
		{"zero", "0", "", 0},
		{"negative", "-5", "", 0},
		{"fraction", "1.5", "", 1500 * time.Millisecond},
		{"above the limit", "99999999999999999999", "", 24 * time.Hour},
		{"exponent", "1e300", "", 24 * time.Hour},
		{"out of range", "1e999", "", 24 * time.Hour},
		{"not a number", "NaN", "", 0},
		{"text", "soon", "", 0},
		{"date", now.Add(time.Minute).Format(http.TimeFormat), "", time.Minute},
		{"past date", now.Add(-time.Minute).Format(http.TimeFormat), "", 0},
		{"far date", now.AddDate(1, 0, 0).Format(http.TimeFormat), "", 24 * time.Hour},
		{
			"date by the server's clock", server.Add(time.Minute).Format(http.TimeFormat),
			server.Format(http.TimeFormat),
			time.Minute,
		},
		{"RFC 850 date", now.Add(time.Minute).Format(time.RFC850), "", time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{"Retry-After": {c.value}, "Date": {c.date}}
			if got := After(header, now, 24*time.Hour); got != c.want {
				t.Errorf("After(%q) = %s, want %s", c.value, got, c.want)
			}
		})
	}
}
