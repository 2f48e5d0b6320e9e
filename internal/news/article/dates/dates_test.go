package dates_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/article/dates"
)

func TestParse(t *testing.T) {
	hanoi := time.FixedZone("ICT", 7*3600)
	now := time.Date(2026, 3, 7, 12, 30, 0, 0, hanoi)
	for _, c := range []struct{ text, want string }{
		{"2026-03-07T08:01:53+07:00", "2026-03-07T01:01:53Z"},
		{"2026-03-07T08:01:53.120Z", "2026-03-07T08:01:53.12Z"},
		{"2026-03-07T08:01:53+0700", "2026-03-07T01:01:53Z"},
		{"2026-03-07T08:01+07:00", "2026-03-07T01:01:00Z"},
		{"2026-03-07T08:01:53", "2026-03-07T01:01:53Z"}, // the site's zone
		{"2026-03-07 08:01:53", "2026-03-07T01:01:53Z"},
		{"2026-03-07 08:01:53 UTC", "2026-03-07T08:01:53Z"},
		{"2026-03-07 08:01:53 +0000", "2026-03-07T08:01:53Z"},
		{"20260307T080153Z", "2026-03-07T08:01:53Z"},
		{"1772843936", "2026-03-07T00:38:56Z"},
		{"1772843936000", "2026-03-07T00:38:56Z"},
		{"Thứ bảy, 7/3/2026, 10:00 (GMT+7)", "2026-03-07T03:00:00Z"},
		{"Thứ bảy, 07/03/2026 - 08:07", "2026-03-07T01:07:00Z"},
		{"07/03/2026 10:00 GMT+7", "2026-03-07T03:00:00Z"},
		{"01/03/2026 09:51", "2026-03-01T02:51:00Z"},
		{"10:00 07/03/2026", "2026-03-07T03:00:00Z"},
		{"10h30 ngày 7/3/2026", "2026-03-07T03:30:00Z"},
		{"10 giờ 30 phút, ngày 7 tháng 3 năm 2026", "2026-03-07T03:30:00Z"},
		{"7 tháng 3, 2026 lúc 10:00", "2026-03-07T03:00:00Z"},
		{"7/3/2026 3:05 CH", "2026-03-07T08:05:00Z"},
		{"1 giờ trước", "2026-03-07T04:30:00Z"},
		{"1h trước", "2026-03-07T04:30:00Z"},
		{"45 phút trước", "2026-03-07T04:45:00Z"},
		{"5 minutes ago", "2026-03-07T05:25:00Z"},
		{"an hour ago", "2026-03-07T04:30:00Z"},
		{"hôm qua, 22:15", "2026-03-06T15:15:00Z"},
		{"Hôm nay 08:00", "2026-03-07T01:00:00Z"},
		{"vừa xong", "2026-03-07T05:30:00Z"},
		{"Mon, 18 Nov 2019 12:00:00 GMT", "2019-11-18T12:00:00Z"},
		{"Mon, 18 Nov 2019 12:00:00 +0200", "2019-11-18T10:00:00Z"},
		{"November 18, 2019 at 9:08 pm EST", "2019-11-19T02:08:00Z"},
		{"Nov. 18, 2019 9:08 a.m. GMT", "2019-11-18T09:08:00Z"},
		{"Published 18th of November, 2019, 10:05 BST", "2019-11-18T09:05:00Z"},
		{"Updated 11:21 pm CST, Tuesday, November 19, 2019", "2019-11-20T05:21:00Z"},
		{"10:48, Tue, Nov 19, 2019 | UPDATED: 11:05, Tue, Nov 19, 2019", "2019-11-19T03:48:00Z"},
		{"13/12/2019 10:00 GMT-3", "2019-12-13T13:00:00Z"},
		{"12:00 am, 1 January 2020 UTC", "2020-01-01T00:00:00Z"},
		// formats of feeds, valid and invalid
		{"2026-03-07T10:00:00+07", "2026-03-07T03:00:00Z"},
		{"2026/03/07 10:00", "2026-03-07T03:00:00Z"},
		{"10:00 2026-03-07", "2026-03-07T03:00:00Z"},
		{"20260307T100000+0700", "2026-03-07T03:00:00Z"},
		{"Sat, 7 Mar 2026 10:00:00 +0700", "2026-03-07T03:00:00Z"},
		{"Sat, 07 Mar 26 03:00:00 GMT", "2026-03-07T03:00:00Z"},
		{"Sat, 07 Mar 2026 10:00:00 GMT+7", "2026-03-07T03:00:00Z"},
		{"Sat, 07 Mar 2026 10:00:00 GMT+07:00", "2026-03-07T03:00:00Z"},
		{"07 Mar 2026 10:00 +07:00", "2026-03-07T03:00:00Z"},
		{"Sat, 07 Mar 2026 10:00:00", "2026-03-07T03:00:00Z"},
		{"Sat,07 Mar 2026 10:00:00 ICT", "2026-03-07T03:00:00Z"},
		{"Saturday, 07-Mar-26 03:00:00 UTC", "2026-03-07T03:00:00Z"},
		{"Sat Mar  7 10:00:00 +0700 2026", "2026-03-07T03:00:00Z"},
		{"Sat Mar  7 03:00:00 UTC 2026", "2026-03-07T03:00:00Z"},
		{"Fri, 06 Mar 2026 22:00:00 EST", "2026-03-07T03:00:00Z"},
		{"3/7/2026 10:00:00 AM", "2026-07-03T03:00:00Z"},
		{"3/27/2026 1:05:00 PM", "2026-03-27T06:05:00Z"},
		{"Mar 7, 2026 10:00 AM", "2026-03-07T03:00:00Z"},
		{"Published 7 March 2026 at 12:05 am", "2026-03-06T17:05:00Z"},
		// formats of Vietnamese sites
		{"07/03/2026 | 10:00", "2026-03-07T03:00:00Z"},
		{"07-03-2026 - 10:00 AM", "2026-03-07T03:00:00Z"},
		{"10:00 | 07/03/2026", "2026-03-07T03:00:00Z"},
		{"10:00, thứ 7, ngày 07/03/2026", "2026-03-07T03:00:00Z"},
		{"Thứ 7, ngày 07/03/2026, 10:00", "2026-03-07T03:00:00Z"},
		{"Cập nhật: 07/03/2026 03:05 CH", "2026-03-07T08:05:00Z"},
		{"Cập nhật lúc 10:00, 07/03/2026", "2026-03-07T03:00:00Z"},
		{"10:00 ngày 7 tháng 3 năm 2026", "2026-03-07T03:00:00Z"},
		{"7/3, 10:00", "2026-03-07T03:00:00Z"},
		{"30/12, 10:00", "2025-12-30T03:00:00Z"},
		{"Th\u1ee9 b\u1ea3y, 7/3/2026, 10:00\u00a0(GMT+7)", "2026-03-07T03:00:00Z"},
		{"2 giờ 10 phút trước", "2026-03-07T03:20:00Z"},
		{"30 giây trước", "2026-03-07T05:29:30Z"},
		{"một giờ trước", "2026-03-07T04:30:00Z"},
		{"nửa giờ trước", "2026-03-07T05:00:00Z"},
		{"5 mins ago", "2026-03-07T05:25:00Z"},
		{"Đăng hôm kia lúc 10:00", "2026-03-05T03:00:00Z"},
		{"Hôm nay, 7/3/2026, 09:00", "2026-03-07T02:00:00Z"},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, ok := dates.Parse(c.text, dates.Options{Zone: hanoi, Now: now})
			require.True(t, ok)
			require.True(t, got.HasTime, "a time of day was named")
			require.Equal(t, c.want, got.Time.Format(time.RFC3339Nano))
		})
	}
}

func TestParse_DayOnly(t *testing.T) {
	for _, c := range []struct {
		text, want string
		monthFirst bool
	}{
		{"2026-03-07", "2026-03-07", false},
		{"7/3/2026", "2026-03-07", false},
		{"7/3/2026", "2026-07-03", true},
		{"13/3/2026", "2026-03-13", true},
		{"3/13/2026", "2026-03-13", false},
		{"7.3.26", "2026-03-07", false},
		{"Ngày 7 tháng 3 năm 2026", "2026-03-07", false},
		{"Friday, November 18, 2019", "2019-11-18", false},
		{"22 de outubro de 2010", "2010-10-22", false},
		{"2026-3-7", "2026-03-07", false},
		{"20260307", "2026-03-07", false},
		{"March 7, 2026", "2026-03-07", false},
		{"7/3/26", "2026-03-07", false},
		{"7/3/96", "1996-03-07", false},
		{"7 Tháng Ba, 2026", "2026-03-07", false},
		{"7 tháng mười hai năm 2026", "2026-12-07", false},
	} {
		got, ok := dates.Parse(c.text, dates.Options{MonthFirst: c.monthFirst})
		require.True(t, ok, c.text)
		require.False(t, got.HasTime, c.text)
		require.Equal(t, c.want, got.Time.Format(time.DateOnly), c.text)
	}
}

// Dates relative to now have no time of day.
func TestParse_DaysAgo(t *testing.T) {
	now := time.Date(2026, 3, 7, 12, 30, 0, 0, dates.VietnamTime())
	for text, want := range map[string]string{"3 ngày trước": "2026-03-04", "2 tuần trước": "2026-02-21", "1 tháng trước": "2026-02-05", "yesterday": "2026-03-06", "hôm qua": "2026-03-06"} {
		d, ok := dates.Parse(text, dates.Options{Now: now, Zone: dates.VietnamTime()})
		require.True(t, ok, text)
		require.False(t, d.HasTime, text)
		require.Equal(t, want, d.Time.In(dates.VietnamTime()).Format(time.DateOnly), text)
	}
	for _, text := range []string{"5' trước", "99999 giờ trước", "tỷ số 3/4", "Giá vàng tăng 10%", "192.168.1.1", "31/2/2026", "2026-13-45"} {
		_, ok := dates.Parse(text, dates.Options{Now: now})
		require.False(t, ok, text)
	}
}

func TestParse_RejectsOtherText(t *testing.T) {
	for _, s := range []string{"", "tomorrow", "31/02/2026", "99/99/2026", "0000-00-00", "1.2.3.4", "version 1.2", "call 0945.54.03.03", "0001-01-01T00:00:00Z", "1 giờ trước", "hôm nay", "7/3, 10:00"} {
		_, ok := dates.Parse(s, dates.Options{})
		require.False(t, ok, s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Thứ bảy, 7/3/2026, 10:00 (GMT+7)")
	f.Add("Nov. 18, 2019 9:08 a.m. EST")
	f.Add("1 giờ trước")
	f.Fuzz(func(t *testing.T, s string) {
		d, ok := dates.Parse(s, dates.Options{Now: time.Unix(1772843936, 0)})
		if ok && (d.Time.Year() < 1890 || d.Time.Year() > 2201) {
			t.Fatalf("%q: got %s", s, d.Time)
		}
	})
}
