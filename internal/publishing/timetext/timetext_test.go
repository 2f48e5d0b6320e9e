package timetext_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/timetext"
)

func at(t *testing.T, zone, instant string) time.Time {
	t.Helper()
	z, err := timezone.Load(zone)
	if err != nil {
		t.Fatal(err)
	}
	now, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		t.Fatal(err)
	}
	return now.In(z)
}

func TestParse_ReadsEnglishAndVietnamese(t *testing.T) {
	now := at(t, "Asia/Ho_Chi_Minh", "2026-11-23T03:20:30Z") // Monday 10:20 there
	for text, want := range map[string]string{
		"tomorrow 9":                "2026-11-24T09:00",
		"Tomorrow at 9:30":          "2026-11-24T09:30",
		"tomorrow":                  "2026-11-24T09:00",
		"today 18:00":               "2026-11-23T18:00",
		"today 9:00":                "2026-11-23T09:00", // the API refuses it as past
		"9":                         "2026-11-24T09:00", // nine has passed today
		"11:15":                     "2026-11-23T11:15",
		"7pm":                       "2026-11-23T19:00",
		"12am":                      "2026-11-24T00:00",
		"tonight":                   "2026-11-23T20:00",
		"tonight at 12":             "2026-11-24T00:00",
		"midnight":                  "2026-11-24T00:00",
		"nửa đêm":                   "2026-11-24T00:00",
		"12 giờ đêm nay":            "2026-11-24T00:00",
		"tomorrow evening":          "2026-11-24T19:00",
		"friday 7:30":               "2026-11-27T07:30",
		"fri 18:30":                 "2026-11-27T18:30",
		"thu 16:00":                 "2026-11-26T16:00",
		"thursday 2:00":             "2026-11-26T02:00",
		"Fri":                       "2026-11-27T09:00",
		"monday 9":                  "2026-11-30T09:00", // nine of this Monday has passed
		"monday 18:00":              "2026-11-23T18:00",
		"next monday 9:00":          "2026-11-30T09:00",
		"next friday":               "2026-12-04T09:00",
		"next week":                 "2026-11-30T09:00",
		"in 1 hour":                 "2026-11-23T11:21",
		"in 45 minutes":             "2026-11-23T11:06",
		"in 90 minutes":             "2026-11-23T11:51",
		"in half an hour":           "2026-11-23T10:51",
		"in 3 days":                 "2026-11-26T10:20",
		"in 2 days at 8":            "2026-11-25T08:00",
		"24 Dec 18:00":              "2026-12-24T18:00",
		"24 dec 7pm":                "2026-12-24T19:00",
		"Dec 24, 6pm":               "2026-12-24T18:00",
		"5 March":                   "2027-03-05T09:00",
		"24/12 18:00":               "2026-12-24T18:00",
		"24/12/2027 7:00":           "2027-12-24T07:00",
		"24.12.26 7:00":             "2026-12-24T07:00",
		"2026-12-24T18:00":          "2026-12-24T18:00",
		"2026-12-24 18:00":          "2026-12-24T18:00",
		"2026-12-24T11:00:00Z":      "2026-12-24T18:00",
		"2026-12-24t18:00:00+07:00": "2026-12-24T18:00",
		"day after tomorrow 8am":    "2026-11-25T08:00",
		"thứ hai 7h30":              "2026-11-30T07:30",
		"THỨ HAI 7H30":              "2026-11-30T07:30",
		"thu hai 7h30":              "2026-11-30T07:30",
		"thu\u031b\u0301 hai 7h30":  "2026-11-30T07:30", // decomposed, as macOS types it
		"ngày mai 9 giờ":            "2026-11-24T09:00",
		"mai 9h":                    "2026-11-24T09:00",
		"9 giờ sáng mai":            "2026-11-24T09:00",
		"7 giờ tối nay":             "2026-11-23T19:00",
		"tối nay":                   "2026-11-23T19:00",
		"chiều mai 3 giờ rưỡi":      "2026-11-24T15:30",
		"11 giờ trưa mai":           "2026-11-24T11:00",
		"12 giờ trưa mai":           "2026-11-24T12:00",
		"thứ 6 14:00":               "2026-11-27T14:00",
		"thứ sáu tuần sau 8h":       "2026-12-04T08:00",
		"thu sau tuan sau 8h":       "2026-12-04T08:00",
		"thứ ba tuần tới":           "2026-12-01T09:00",
		"chủ nhật 20h15":            "2026-11-29T20:15",
		"cn 9h":                     "2026-11-29T09:00",
		"t7 8h":                     "2026-11-28T08:00",
		"thứ tư":                    "2026-11-25T09:00",
		"2 tiếng nữa":               "2026-11-23T12:21",
		"30 phút nữa":               "2026-11-23T10:51",
		"nửa tiếng nữa":             "2026-11-23T10:51",
		"2 tuần nữa":                "2026-12-07T10:20",
		"sau 2 giờ":                 "2026-11-23T12:21",
		"ngày kia 9h":               "2026-11-25T09:00",
		"ngày mốt 9h":               "2026-11-25T09:00",
		"mốt 9h":                    "2026-11-25T09:00",
		"24 tháng 12 lúc 18h":       "2026-12-24T18:00",
		"ngày 24/12 lúc 18 giờ":     "2026-12-24T18:00",
		"hôm nay 23h59":             "2026-11-23T23:59",
		"Tue 24 Nov 2026, 09:00":    "2026-11-24T09:00", // as the dashboard writes it
		"CN, 29/11/2026 09:00":      "2026-11-29T09:00",
	} {
		got, err := timetext.Parse(text, now)
		if err != nil || got.Format("2006-01-02T15:04") != want {
			t.Errorf("Parse(%q) = %s, %v; want %s", text, got.Format("2006-01-02T15:04"), err, want)
		}
	}
}

func TestParse_RefusesWhatItDoesNotUnderstand(t *testing.T) {
	now := at(t, "Asia/Ho_Chi_Minh", "2026-11-23T03:20:30Z")
	for _, text := range []string{
		"", " ", "soon", "tomorrow maybe", "25:00", "31/2", "12/24/2026", "tomorrow 9 10", "next", "13pm",
		"mai mốt gì đó", "một giờ chiều", "in -5 minutes", "in 5 years",
		"tomorrow 25:00", "32:00", "2026-02-30T10:00", "in 9999999 days", "in 99999999999999999999 weeks", "9:75",
		strings.Repeat("9", 1000), "\x00", "\xff",
	} {
		if got, err := timetext.Parse(text, now); !errors.Is(err, timetext.ErrUnknown) {
			t.Errorf("Parse(%q) = %s, %v; want ErrUnknown", text, got, err)
		}
	}
}

func TestParse_FollowsTheClock(t *testing.T) {
	for _, c := range []struct{ zone, now, text, want string }{
		{"Europe/Paris", "2026-03-29T00:30:00Z", "in 2 hours", "2026-03-29T04:30:00+02:00"}, // across the change
		{"Europe/Berlin", "2026-03-26T14:30:00Z", "in 4 days", "2026-03-30T15:30:00+02:00"},
		{"Europe/Berlin", "2026-03-26T14:30:00Z", "sunday 12:00", "2026-03-29T12:00:00+02:00"},
		{"Europe/Berlin", "2026-10-24T14:30:00Z", "sunday 2:30", "2026-10-25T02:30:00+02:00"}, // the first of two
		{"America/Vancouver", "2026-11-28T18:00:00Z", "1 Dec 9:00", "2026-12-01T09:00:00-07:00"},
		{"Africa/Casablanca", "2026-11-28T18:00:00Z", "1/12 9h", "2026-12-01T09:00:00Z"},
		{"America/Lima", "2026-12-31T20:00:00Z", "mai 9h", "2027-01-01T09:00:00-05:00"}, // the day of the zone
	} {
		got, err := timetext.Parse(c.text, at(t, c.zone, c.now))
		if err != nil || got.Format(time.RFC3339) != c.want {
			t.Errorf("Parse(%q) at %s in %s = %s, %v; want %s", c.text, c.now, c.zone, got.Format(time.RFC3339), err,
				c.want)
		}
	}
	for _, text := range []string{"sunday 2:30", "2026-03-29T02:30", "29/3 2h30"} {
		if got, err := timetext.Parse(text, at(t, "Europe/Berlin", "2026-03-26T14:30:00Z")); !errors.Is(err,
			timetext.ErrSkipped) {
			t.Errorf("Parse(%q) = %s, %v; want ErrSkipped", text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"tomorrow 9", "thứ hai 7h30", "in 2 hours", "24/12/2027 7:00", "12 giờ đêm nay"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 23, 3, 20, 30, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := timetext.Parse(text, now)
		if err == nil && got.IsZero() {
			t.Errorf("Parse(%q) is the zero time", text)
		}
	})
}

// RFC 3339 cannot write years before 0 or after 9999.
func TestParse_RefusesYearsOfMoreDigits(t *testing.T) {
	for text, zone := range map[string]string{
		"9999-12-31T23:59:59Z":      "Asia/Ho_Chi_Minh",
		"9999-12-31 20:00-05:00":    "UTC",
		"0000-01-01T00:00:00Z":      "America/New_York",
		"0000-01-01T00:00:00+07:00": "UTC",
	} {
		if got, err := timetext.Parse(text, at(t, zone, "2026-11-23T03:20:30Z")); !errors.Is(err, timetext.ErrUnknown) {
			t.Errorf("Parse(%q) in %s = %s, %v; want ErrUnknown", text, zone, got, err)
		}
	}
	if _, err := timetext.Parse("9999-12-31T23:59:59Z", at(t, "UTC", "2026-11-23T03:20:30Z")); err != nil {
		t.Errorf("the last second of the year 9999: %v", err)
	}
}
