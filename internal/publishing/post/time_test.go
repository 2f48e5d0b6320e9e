package post_test

import (
	"strings"
	"testing"
	"time"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := timezone.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestParseWhen_ReadsInstantsAndLocalTimes(t *testing.T) {
	for _, c := range []struct{ text, zone, want string }{
		// With an offset the zone does not matter.
		{"2026-12-24T18:00:00+07:00", "Europe/Berlin", "2026-12-24T11:00:00Z"},
		{"2026-12-24T18:00:00Z", "Asia/Ho_Chi_Minh", "2026-12-24T18:00:00Z"},
		{"2026-12-24T18:00:00.25-05:30", "UTC", "2026-12-24T23:30:00.25Z"},
		{"2026-12-24T18:00+07:00", "Europe/Berlin", "2026-12-24T11:00:00Z"},
		{"2026-12-24T18:00Z", "Asia/Ho_Chi_Minh", "2026-12-24T18:00:00Z"},
		// Without one it does.
		{"2026-12-24T18:00:00", "Asia/Ho_Chi_Minh", "2026-12-24T11:00:00Z"},
		{"2026-12-24T18:00", "Asia/Ho_Chi_Minh", "2026-12-24T11:00:00Z"},
		{"2026-12-24T18:00:00.125", "Asia/Kathmandu", "2026-12-24T12:15:00.125Z"},
		{"2027-01-01T00:30", "Pacific/Kiritimati", "2026-12-31T10:30:00Z"},
		{"2028-02-29T12:00", "UTC", "2028-02-29T12:00:00Z"},
		{"2026-07-01T12:00", "Europe/Berlin", "2026-07-01T10:00:00Z"},
		{"2026-12-01T12:00", "Europe/Berlin", "2026-12-01T11:00:00Z"},
		// Just beside a gap.
		{"2026-03-29T01:59:59", "Europe/Berlin", "2026-03-29T00:59:59Z"},
		{"2026-03-29T03:00:00", "Europe/Berlin", "2026-03-29T01:00:00Z"},
		// Ambiguous times mean the earlier one.
		{"2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00Z"},
		{"2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00Z"},
		{"2027-04-04T01:45", "Australia/Lord_Howe", "2027-04-03T14:45:00Z"}, // set back by half an hour
		{"2026-10-25T03:00", "Europe/Berlin", "2026-10-25T02:00:00Z"},       // no longer ambiguous
	} {
		got, err := post.ParseTime(c.text, zone(t, c.zone))
		if err != nil {
			t.Errorf("%s in %s: %v", c.text, c.zone, err)
			continue
		}
		if s := got.Format(time.RFC3339Nano); s != c.want {
			t.Errorf("%s in %s is %s, want %s", c.text, c.zone, s, c.want)
		}
	}
}

func TestParseWhen_RejectsSkippedTimes(t *testing.T) {
	for _, c := range []struct{ text, zone string }{
		{"2026-03-29T02:30", "Europe/Berlin"},
		{"2026-03-29T02:00", "Europe/Berlin"},
		{"2026-03-08T02:30", "America/New_York"},
		{"2026-10-04T02:15", "Australia/Lord_Howe"}, // by half an hour
		{"2027-03-28T01:30", "Europe/London"},
		{"2011-12-30T12:00", "Pacific/Apia"}, // a whole day
	} {
		got, err := post.ParseTime(c.text, zone(t, c.zone))
		if err == nil || !strings.Contains(err.Error(), "skip") || !strings.Contains(err.Error(), c.zone) {
			t.Errorf("%s in %s: %v, %v", c.text, c.zone, got, err)
		}
	}
}

func TestParseWhen_RejectsInvalidTimes(t *testing.T) {
	for _, text := range []string{
		"", "soon", "tomorrow 18:00", "2026-12-24", "18:00", "2026-13-01T00:00", "2026-02-29T00:00", "2026-12-24T24:00",
		"2026-12-24T18:60", "2026-12-24 18:00", "1766599200", "2026-12-24T18:00:00+07", "2026-12-24T18:00:00+99:00",
		" 2026-12-24T18:00", "2026-12-24T18:00:00Z\x00", "２０２６-12-24T18:00", "-2026-12-24T18:00", "20260-12-24T18:00",
		"2026-12-24T18:00:00Zulu", "2026-12-24T8:00", "2026-12-24T8:00:00Z", "2026-12-24T18:00:00,5Z",
	} {
		if got, err := post.ParseTime(text, time.UTC); err == nil {
			t.Errorf("%q was read as %s", text, got)
		}
	}
}

func TestLoadZone_AcceptsIANANamesOnly(t *testing.T) {
	for _, name := range []string{"Asia/Ho_Chi_Minh", "UTC", "Europe/Berlin", "America/Argentina/Ushuaia"} {
		if z, err := timezone.Load(name); err != nil || z.String() != name {
			t.Errorf("%s: %v %v", name, z, err)
		}
	}
	for _, name := range []string{
		"", "Local", "Mars/Olympus", "../etc/passwd", "+07:00", "Asia/Ho_Chi_Minh\x00",
		"/etc/localtime",
	} {
		if z, err := timezone.Load(name); err == nil {
			t.Errorf("%q was loaded as %s", name, z)
		}
	}
}

// A parsed time shows on a wall clock as it was written, and never earlier.
func FuzzParseWhen(f *testing.F) {
	zones := []string{
		"UTC", "Asia/Ho_Chi_Minh", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
		"Pacific/Apia", "America/St_Johns",
	}
	for _, seed := range []string{
		"2026-12-24T18:00:00+07:00", "2026-10-25T02:30", "2026-03-29T02:30",
		"2027-04-04T01:45:00.5", "0000-01-01T00:00", "9999-12-31T23:59:59", "x",
	} {
		for i := range zones {
			f.Add(seed, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		z := zone(t, zones[int(which)%len(zones)])
		got, err := post.ParseTime(text, z)
		if err != nil {
			if !got.IsZero() {
				t.Errorf("%q: an error and %s", text, got)
			}
			return
		}
		if got.Location() != time.UTC {
			t.Errorf("%q was read in %s", text, got.Location())
		}
		if _, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return
		}
		const minute = "2006-01-02T15:04"
		if shown := got.In(z).Format(minute); shown != text[:len(minute)] {
			t.Errorf("%q in %s shows as %s", text, z, shown)
		}
		if got.Year() < 1970 {
			return // local mean times have offsets with odd seconds
		}
		for back := 15 * time.Minute; back <= 25*time.Hour; back += 15 * time.Minute {
			if got.Add(-back).In(z).Format(minute) == text[:len(minute)] {
				t.Errorf("%q in %s was read as %s, and %s earlier shows the same", text, z, got, back)
			}
		}
	})
}
