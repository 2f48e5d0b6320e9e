package counter_test

import (
	"testing"
	"time"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/timezone"
)

// British Columbia keeps UTC-7 since November 2026, Alberta UTC-6, Morocco UTC+0 since
// September, and Manitoba UTC-5.
func TestDayAt_CutsDaysByCurrentRules(t *testing.T) {
	for _, c := range []struct{ at, zone, want string }{
		{"2026-12-02T06:59:59Z", "America/Vancouver", "2026-12-01"},
		{"2026-12-02T07:00:00Z", "America/Vancouver", "2026-12-02"},
		{"2026-12-02T07:30:00Z", "America/Vancouver", "2026-12-02"},
		{"2026-12-02T06:30:00Z", "America/Edmonton", "2026-12-02"},
		{"2026-12-02T05:30:00Z", "America/Winnipeg", "2026-12-02"},
		{"2026-12-01T23:30:00Z", "Africa/Casablanca", "2026-12-01"},
		{"2026-12-02T04:30:00Z", "America/Havana", "2026-12-02"},
		{"2026-10-31T06:30:00Z", "America/Vancouver", "2026-10-30"}, // summer time, as before
		{"2026-12-02T17:00:00Z", "Asia/Ho_Chi_Minh", "2026-12-03"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		zone, err := timezone.Load(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := counter.DayAt(at, zone).Time().Format(time.DateOnly); got != c.want {
			t.Errorf("DayAt(%s, %s) = %s; want %s", c.at, c.zone, got, c.want)
		}
	}
}
