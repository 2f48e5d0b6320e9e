package call_test

import (
	"testing"
	"time"

	"dateline/platforms/call"
)

func TestResetAt_ReadsEveryForm(t *testing.T) {
	received := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	at := received.Add(5 * time.Minute)
	for value, want := range map[string]time.Time{
		"2026-11-22T12:05:00.000000Z":   at,
		"2026-11-22T12:05:00Z":          at,
		"2026-11-22T13:05:00+01:00":     at,
		"2026-11-22T12:05:00":           at,
		"2026-11-22 12:05:00 UTC":       at,
		"Sun, 22 Nov 2026 12:05:00 GMT": at,
		"1795349100":                    at,
		"1795349100.000":                at,
		"1795349100000":                 at,
		"300":                           at,
		" 300.5 ":                       at.Add(500 * time.Millisecond),
		"0":                             received,
		"":                              {},
		"soon":                          {},
		"-1":                            {},
		"NaN":                           {},
		"99999999":                      {},
		"1e300":                         {},
	} {
		r := &call.Response{Received: received}
		if got := r.ParseReset(value); !got.Equal(want) {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
	// A server whose clock is an hour ahead reports its own time.
	ahead := &call.Response{Received: received, Date: received.Add(time.Hour)}
	for value, want := range map[string]time.Time{"2026-11-22T13:05:00Z": at, "1795352700": at, "300": at} {
		if got := ahead.ParseReset(value); !got.Equal(want) {
			t.Errorf("an hour ahead, %q: got %v, want %v", value, got, want)
		}
	}
}

func TestWindow_ReadsPolicies(t *testing.T) {
	for policy, want := range map[string]time.Duration{
		"300;w=300": 5 * time.Minute, "5000; w=3600;comment=\"x\"": time.Hour, `"default";q=100;w=10`: 10 * time.Second,
		"": 0, "300": 0, "300;w=": 0, "300;w=-5": 0, "300;w=x": 0,
	} {
		if got := call.PolicyWindow(policy); got != want {
			t.Errorf("%q: got %s, want %s", policy, got, want)
		}
	}
}
