package recurrence

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/infra/timezone"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := timezone.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func local(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := ParseLocal(text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// expand returns the first occurrences in local time.
func expand(t testing.TB, rule, start, zoneName string, limit int) (shown []string) {
	t.Helper()
	r, err := Parse(rule)
	if err != nil {
		t.Fatal(err)
	}
	for o := range r.Occurrences(local(t, start), zone(t, zoneName)) {
		shown = append(shown, o.At.In(zone(t, zoneName)).Format("2006-01-02T15:04Z07:00"))
		if len(shown) == limit {
			break
		}
	}
	return shown
}

func TestOccurrences(t *testing.T) {
	for name, c := range map[string]struct{ rule, start, zone, want string }{
		"nine stays nine in Berlin": {
			"FREQ=DAILY", "2026-03-28T09:00", "Europe/Berlin",
			"2026-03-28T09:00+01:00 2026-03-29T09:00+02:00 2026-03-30T09:00+02:00",
		},
		"nine stays nine in New York": {
			"FREQ=WEEKLY", "2026-10-25T09:00", "America/New_York",
			"2026-10-25T09:00-04:00 2026-11-01T09:00-05:00 2026-11-08T09:00-05:00",
		},
		"a skipped half past two": {
			"FREQ=DAILY", "2026-03-28T02:30", "Europe/Berlin",
			"2026-03-28T02:30+01:00 2026-03-29T03:30+02:00 2026-03-30T02:30+02:00",
		},
		"skipped as in the RFC's example": {
			"FREQ=DAILY;COUNT=1", "2007-03-11T02:30", "America/New_York", "2007-03-11T03:30-04:00",
		},
		"the first beginning of the gap": {
			"FREQ=DAILY;COUNT=1", "2026-03-29T02:00", "Europe/Berlin", "2026-03-29T03:00+02:00",
		},
		"right after the gap": {"FREQ=DAILY;COUNT=1", "2026-03-29T03:00", "Europe/Berlin", "2026-03-29T03:00+02:00"},
		"half past two is ambiguous": {
			"FREQ=DAILY", "2026-10-24T02:30", "Europe/Berlin",
			"2026-10-24T02:30+02:00 2026-10-25T02:30+02:00 2026-10-26T02:30+01:00",
		},
		"half past one is ambiguous in New York": {
			"FREQ=DAILY;COUNT=1", "2026-11-01T01:30", "America/New_York", "2026-11-01T01:30-04:00",
		},
		"Vietnam has no daylight saving time": {
			"FREQ=WEEKLY;BYDAY=MO,FR", "2026-03-27T07:30", "Asia/Ho_Chi_Minh",
			"2026-03-27T07:30+07:00 2026-03-30T07:30+07:00 2026-04-03T07:30+07:00",
		},
		"a half hour skipped on Lord Howe": {
			"FREQ=DAILY", "2026-10-03T02:15", "Australia/Lord_Howe",
			"2026-10-03T02:15+10:30 2026-10-04T02:45+11:00 2026-10-05T02:15+11:00",
		},
		"a half hour twice on Lord Howe": {
			"FREQ=DAILY;COUNT=2", "2026-04-04T01:45", "Australia/Lord_Howe",
			"2026-04-04T01:45+11:00 2026-04-05T01:45+11:00",
		},
		"a day that Samoa skipped does not count": {
			"FREQ=DAILY;COUNT=3", "2011-12-28T09:00", "Pacific/Apia",
			"2011-12-28T09:00-10:00 2011-12-29T09:00-10:00 2011-12-31T09:00+14:00",
		},
		// RFC 5545, 3.3.10
		"every second week": {
			"FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU", "1997-08-05T09:00", "America/New_York",
			"1997-08-05T09:00-04:00 1997-08-10T09:00-04:00 1997-08-19T09:00-04:00",
		},
		"every tenth day": {
			"FREQ=DAILY;INTERVAL=10;COUNT=2", "1997-09-02T09:00", "America/New_York",
			"1997-09-02T09:00-04:00 1997-09-12T09:00-04:00",
		},
		"first Friday": {
			"FREQ=MONTHLY;BYDAY=1FR;COUNT=3", "1997-09-05T09:00", "America/New_York",
			"1997-09-05T09:00-04:00 1997-10-03T09:00-04:00 1997-11-07T09:00-05:00",
		},
		"last Friday": {
			"FREQ=MONTHLY;BYDAY=-1FR;COUNT=3", "2026-01-01T18:00", "Asia/Ho_Chi_Minh",
			"2026-01-30T18:00+07:00 2026-02-27T18:00+07:00 2026-03-27T18:00+07:00",
		},
		"second last Monday": {
			"FREQ=MONTHLY;BYDAY=-2MO;COUNT=2", "1997-09-22T09:00", "America/New_York",
			"1997-09-22T09:00-04:00 1997-10-20T09:00-04:00",
		},
		"fifth Monday": {
			"FREQ=MONTHLY;BYDAY=5MO;COUNT=3", "2026-01-01T09:00", "UTC",
			"2026-03-30T09:00Z 2026-06-29T09:00Z 2026-08-31T09:00Z",
		},
		"months without a 31st": {
			"FREQ=MONTHLY;COUNT=3", "2026-01-31T09:00", "UTC", "2026-01-31T09:00Z 2026-03-31T09:00Z 2026-05-31T09:00Z",
		},
		"the last day": {
			"FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", "2028-01-15T09:00", "UTC",
			"2028-01-31T09:00Z 2028-02-29T09:00Z 2028-03-31T09:00Z",
		},
		"the same day twice": {
			"FREQ=MONTHLY;BYMONTHDAY=31,-1;COUNT=2", "2026-01-01T09:00", "UTC", "2026-01-31T09:00Z 2026-02-28T09:00Z",
		},
		"out of order": {
			"FREQ=MONTHLY;BYMONTHDAY=15,1;COUNT=3", "2026-01-02T09:00", "UTC",
			"2026-01-15T09:00Z 2026-02-01T09:00Z 2026-02-15T09:00Z",
		},
		"a start that fits not": {"FREQ=WEEKLY;BYDAY=MO;COUNT=1", "2026-01-01T09:00", "UTC", "2026-01-05T09:00Z"},
		"until a date, whole": {
			"FREQ=DAILY;UNTIL=20260103", "2026-01-02T23:59:59", "Asia/Ho_Chi_Minh",
			"2026-01-02T23:59+07:00 2026-01-03T23:59+07:00",
		},
		"until an instant": {
			"FREQ=DAILY;UNTIL=20260103T020000Z", "2026-01-02T09:00", "Asia/Ho_Chi_Minh",
			"2026-01-02T09:00+07:00 2026-01-03T09:00+07:00",
		},
		"until just before": {
			"FREQ=DAILY;UNTIL=20260103T015959Z", "2026-01-02T09:00", "Asia/Ho_Chi_Minh",
			"2026-01-02T09:00+07:00",
		},
		"until a local time": {
			"RRULE:FREQ=DAILY;UNTIL=20260103T085959", "2026-01-02T09:00", "Asia/Ho_Chi_Minh",
			"2026-01-02T09:00+07:00",
		},
		"never": {"FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=30", "2026-02-01T09:00", "UTC", ""},
	} {
		want := strings.Fields(c.want)
		if got := expand(t, c.rule, c.start, c.zone, max(len(want), 1)+boolInt(strings.ContainsAny(c.rule, "C") ||
			strings.Contains(c.rule, "UNTIL"))); !slices.Equal(got, want) {
			t.Errorf("%s: %s from %s\n got %s\nwant %s", name, c.rule, c.start, got, want)
		}
	}
}

// boolInt requests one more occurrence than limited rules have.
func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestParseNamesWhatItRefuses(t *testing.T) {
	for rule, part := range map[string]string{
		"": "is not part of a rule", "DAILY": "is not part of a rule", "FREQ=DAILY;": "is not part of a rule",
		"INTERVAL=2": "FREQ is missing", "FREQ=HOURLY": "FREQ=HOURLY", "FREQ=YEARLY": "FREQ=YEARLY",
		"freq=DAILY":            "freq",
		"FREQ=DAILY;FREQ=DAILY": "FREQ is duplicated", "FREQ=DAILY;INTERVAL=0": "INTERVAL=0",
		"FREQ=DAILY;INTERVAL=-1": "INTERVAL", "FREQ=DAILY;INTERVAL=": "INTERVAL", "FREQ=DAILY;INTERVAL=+1": "INTERVAL",
		"FREQ=DAILY;COUNT=2;UNTIL=20260101": "COUNT and UNTIL", "FREQ=DAILY;COUNT=0": "COUNT=0",
		"FREQ=DAILY;UNTIL=tomorrow": "UNTIL=tomorrow", "FREQ=DAILY;UNTIL=20260230": "UNTIL",
		"FREQ=DAILY;BYDAY=MO": "BYDAY in a DAILY", "FREQ=WEEKLY;BYDAY=1MO": "without a number",
		"FREQ=MONTHLY;BYDAY=MO": "without numbers", "FREQ=WEEKLY;BYDAY=XX": `"XX"`, "FREQ=WEEKLY;BYDAY=": `""`,
		"FREQ=MONTHLY;BYDAY=6MO": `"6MO"`, "FREQ=MONTHLY;BYDAY=0MO": `"0MO"`, "FREQ=MONTHLY;BYMONTHDAY=0": `"0"`,
		"FREQ=MONTHLY;BYMONTHDAY=32": `"32"`, "FREQ=WEEKLY;BYMONTHDAY=1": "MONTHLY rule only",
		"FREQ=MONTHLY;BYDAY=1FR;BYMONTHDAY=13": "together", "FREQ=WEEKLY;WKST=SU": "WKST",
		"FREQ=DAILY;BYHOUR=9": "BYHOUR", "FREQ=MONTHLY;BYSETPOS=-1": "BYSETPOS", "FREQ=DAILY;X-A=1": "X-A",
	} {
		if _, err := Parse(rule); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want %q named", rule, err, part)
		}
	}
	for _, text := range []string{
		"", "2026-01-01", "2026-01-01T09:00Z", "2026-01-01T9:00", "2026-02-30T09:00",
		"2026-01-01T09:00:00.5",
	} {
		if _, err := ParseLocal(text); err == nil {
			t.Errorf("%q passed for a local time", text)
		}
	}
}

// fits checks a single date against a rule: checking every date gives the same result
// as expanding the rule.
func fits(r Rule, start, day time.Time) bool {
	first := midnight(start)
	days := int(day.Sub(first).Hours() / 24)
	monday := func(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }
	length := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	switch r.Freq {
	case Daily:
		return days%r.Interval == 0
	case Weekly:
		weeks := int(monday(day).Sub(monday(first)).Hours() / 24 / 7)
		if len(r.ByDay) == 0 {
			return weeks%r.Interval == 0 && day.Weekday() == first.Weekday()
		}
		return weeks%r.Interval == 0 && slices.ContainsFunc(r.ByDay, func(d Day) bool {
			return d.Weekday == day.Weekday()
		})
	default:
		months := (day.Year()-first.Year())*12 + int(day.Month()) - int(first.Month())
		if months%r.Interval != 0 {
			return false
		}
		if len(r.ByDay) == 0 && len(r.ByMonthDay) == 0 {
			return day.Day() == first.Day()
		}
		return slices.ContainsFunc(r.ByMonthDay,
			func(n int) bool { return n == day.Day() || length+1+n == day.Day() }) ||
			slices.ContainsFunc(r.ByDay, func(d Day) bool {
				return d.Weekday == day.Weekday() && (d.Nth == (day.Day()-1)/7+1 || d.Nth == -((length-day.Day())/7+1))
			})
	}
}

// clocks finds an instant by checking the zone's local time every 15 minutes, which is
// slow and reliable.
func clocks(l time.Time, z *time.Location) (time.Time, bool) {
	for t := l.Add(-30 * time.Hour); t.Before(l.Add(30 * time.Hour)); t = t.Add(15 * time.Minute) {
		if t.In(z).Format(localLayout) == FormatLocal(l) {
			return t, true
		}
	}
	return time.Time{}, false
}

func TestExpandingGivesWhatAskingEveryDayGives(t *testing.T) {
	rules := []string{
		"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO,WE",
		"FREQ=WEEKLY;INTERVAL=5;BYDAY=SA", "FREQ=MONTHLY", "FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=-1,29,30",
		"FREQ=MONTHLY;BYMONTHDAY=-31,31", "FREQ=MONTHLY;BYDAY=1MO,-1FR,5SU,-5TU", "FREQ=MONTHLY;INTERVAL=7;BYDAY=2TH",
	}
	for _, zoneName := range []string{
		"Europe/Berlin", "America/New_York", "Asia/Ho_Chi_Minh", "Australia/Lord_Howe",
		"Pacific/Apia", "America/Sao_Paulo", "Africa/Casablanca",
	} {
		z := zone(t, zoneName)
		for i, text := range rules {
			start := time.Date(2011, time.Month(1+i%12), 29+i%3, i*5%24, 15*(i%4), 0, 0, time.UTC)
			r, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			end := start.AddDate(4, 0, 0)
			next := map[string]time.Time{}
			for o := range r.Occurrences(start, z) {
				if !o.Local.Before(end) {
					break
				}
				next[o.Name()] = o.At
			}
			found := 0
			for l := start; l.Before(end); l = l.AddDate(0, 0, 1) {
				if !fits(r, start, midnight(l)) {
					continue
				}
				at, exists := clocks(l, z)
				got, have := next[FormatLocal(l)]
				switch {
				case !exists && !have: // only a whole day can be skipped
					if _, anyTime := clocks(midnight(l).Add(12*time.Hour), z); anyTime {
						t.Errorf("%s in %s: %s is missing", text, zoneName, FormatLocal(l))
					}
					continue
				case exists && !got.Equal(at), !exists && got.In(z).Format(localLayout) <= FormatLocal(l), !have:
					t.Errorf("%s in %s: %s is at %s, want %s", text, zoneName, FormatLocal(l), got, at)
				}
				found++
			}
			if found != len(next) || found < 4 {
				t.Errorf("%s in %s: %d occurrences, want %d", text, zoneName, len(next), found)
			}
		}
	}
}

func TestAskingLaterGivesTheSame(t *testing.T) {
	r, err := Parse("FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,TH;COUNT=40")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for range 2 {
		var names []string
		for o := range r.Occurrences(local(t, "2026-01-01T06:00"), zone(t, "Asia/Ho_Chi_Minh")) {
			names = append(names, o.Name())
		}
		if all != nil && !slices.Equal(all, names) || len(names) != 40 {
			t.Errorf("%d occurrences: %v", len(names), names)
		}
		all = names
	}
}

func FuzzRule(f *testing.F) {
	for _, rule := range []string{
		"FREQ=DAILY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR", "FREQ=MONTHLY;BYDAY=-1FR;COUNT=3",
		"FREQ=MONTHLY;BYMONTHDAY=-1,31;UNTIL=20301231", "RRULE:FREQ=DAILY;UNTIL=20261231T170000Z", "FREQ=;=;;",
	} {
		for _, name := range []string{"Asia/Ho_Chi_Minh", "Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe"} {
			f.Add(rule, "2011-10-29T02:30", name)
		}
	}
	f.Fuzz(func(t *testing.T, rule, startText, zoneName string) {
		r, err := Parse(rule)
		if err != nil {
			return
		}
		start, err := ParseLocal(startText)
		z, errZone := timezone.Load(zoneName)
		if err != nil || errZone != nil || start.Year() < 1970 || start.Year() > 2200 {
			return
		}
		var before Occurrence
		n := 0
		for o := range r.Occurrences(start, z) {
			if o.Local.Before(start) || n > 0 && (!o.Local.After(before.Local) || !o.At.After(before.At)) {
				t.Fatalf("%s follows %s", o, before)
			}
			if !fits(r, start, midnight(o.Local)) {
				t.Fatalf("%s does not fit %s", o.Name(), rule)
			}
			if shown := o.At.In(z).Format(localLayout); shown < o.Name() {
				t.Fatalf("%s is at %s, when clocks show %s", o.Name(), o.At, shown)
			}
			before = o
			if n++; n > 60 || r.Count > 0 && n > r.Count {
				break
			}
		}
		if r.Count > 0 && n > r.Count {
			t.Fatalf("%d occurrences of %d", n, r.Count)
		}
	})
}
