package remote

import (
	"testing"
	"time"

	"dateline/internal/infra/timezone"
)

func TestParseWhen_ReadsTimesInTheWorkspaceZone(t *testing.T) {
	zone, err := timezone.Load("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 26, 15, 30, 0, 0, zone) // a Thursday; the clock skips 02:00 to 03:00 on March 29
	for text, want := range map[string]string{
		"2026-12-24T18:00:00+07:00": "2026-12-24T18:00:00+07:00",
		"2026-12-24T18:00":          "2026-12-24T18:00:00+01:00",
		"2026-12-24 18:00":          "2026-12-24T18:00:00+01:00",
		"2026-06-24 18:00":          "2026-06-24T18:00:00+02:00",
		"tomorrow 9:00":             "2026-03-27T09:00:00+01:00",
		"Tomorrow at 09:00":         "2026-03-27T09:00:00+01:00",
		"today 16:00":               "2026-03-26T16:00:00+01:00",
		"today 9:00":                "2026-03-26T09:00:00+01:00", // the API rejects it as past
		"thu 16:00":                 "2026-03-26T16:00:00+01:00",
		"thu 9:00":                  "2026-04-02T09:00:00+02:00",
		"sunday 12:00":              "2026-03-29T12:00:00+02:00",
		"wed 8:00":                  "2026-04-01T08:00:00+02:00",
		"16:00":                     "2026-03-26T16:00:00+01:00",
		"9:00":                      "2026-03-27T09:00:00+01:00",
		"in 90 minutes":             "2026-03-26T17:00:00+01:00",
		"in 1 hour":                 "2026-03-26T16:30:00+01:00",
		"in 4 days":                 "2026-03-30T15:30:00+02:00",
	} {
		got, err := parseWhen(text, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("parseWhen(%q) = %s, %v; want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "soon", "in -5 minutes", "in 5 years", "tomorrow", "tomorrow 25:00", "32:00", "2026-02-30T10:00", "2026-03-29T02:30", "sunday 2:30", "in 9999999 days"} {
		if got, err := parseWhen(text, now); err == nil || ExitCode(err) != ExitUsage {
			t.Errorf("parseWhen(%q) = %s, %v; want a usage error", text, got, err)
		}
	}
}
