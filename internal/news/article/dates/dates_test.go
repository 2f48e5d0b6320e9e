package dates_test

import (
	"fmt"
	"strconv"
	"strings"
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
		// other languages and scripts
		{"السبت، 07 مارس 2026 - 12:09 م", "2026-03-07T05:09:00Z"},
		{"السبت ٧ مارس ٢٠٢٦ 09:15", "2026-03-07T02:15:00Z"},
		{"7 آذار / مارس 2026 09:15 مساءً", "2026-03-07T14:15:00Z"},
		{"7 במרץ 2026, 09:15", "2026-03-07T02:15:00Z"},
		{"7 मार्च 2026 09:15", "2026-03-07T02:15:00Z"},
		{"৭ মার্চ ২০২৬, ০৯:১৫", "2026-03-07T02:15:00Z"},
		{"7 มีนาคม 2569 09:15", "2026-03-07T02:15:00Z"},
		{"07/03/2569 09:15", "2026-03-07T02:15:00Z"},
		{"2026. március 7. 09:15", "2026-03-07T02:15:00Z"},
		{"2026年３月７日 ０９：１５", "2026-03-07T02:15:00Z"},
		{"7 март 2026 09:15", "2026-03-07T02:15:00Z"},
		{"7 مارس 2026م 09:15", "2026-03-07T02:15:00Z"},
		{"7 مارس، 2026 09:15", "2026-03-07T02:15:00Z"},
		{"7. listopada 2025. 09:15", "2025-10-07T02:15:00Z"},
		{"7 listopada 2025 09:15", "2025-11-07T02:15:00Z"},
		{"2026年3月7日午前9時15分", "2026-03-07T02:15:00Z"},
		{"令和8年3月7日 09:15", "2026-03-07T02:15:00Z"},
		{"2026年3月7日 19時5分更新", "2026-03-07T12:05:00Z"},
		{"2026年3月7日公開 09:15", "2026-03-07T02:15:00Z"},
		{"2026年3月7日星期六上午9:15", "2026-03-07T02:15:00Z"},
		{"2026년 3월 7일 오전 9시 15분", "2026-03-07T02:15:00Z"},
		{"7 มี.ค. 2569 09:15 น.", "2026-03-07T02:15:00Z"},
		{"7 มี.ค. 69 | 09:15 น.", "2026-03-07T02:15:00Z"},
		{"วันที่ 7 มีนาคม พ.ศ. 2569 เวลา 09.15 น.", "2026-03-07T02:15:00Z"},
		{"2026-03-07T01:15:0Z", "2026-03-07T01:15:00Z"},
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
		{"3/7/2026 10:00:00 AM", "2026-03-07T03:00:00Z"},
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
		{"2.5 hours ago", "2026-03-07T03:00:00Z"},
		{"1 day, 2 hours ago", "2026-03-06T03:30:00Z"},
		{"1 week, 1 day, 1 hour and 1 minute ago", "2026-02-27T04:29:00Z"},
		{"fifteen minutes ago", "2026-03-07T05:15:00Z"},
		{"mười phút trước", "2026-03-07T05:20:00Z"},
		{"2026/3/7 PM 2:26", "2026-03-07T07:26:00Z"},
		{"2026年3月7日 下午 2:26", "2026-03-07T07:26:00Z"},
		{"7/3/2026, AM 12:05", "2026-03-06T17:05:00Z"},
		{"20260307T1000", "2026-03-07T03:00:00Z"},
		{"20260307100005", "2026-03-07T03:00:05Z"},
		{"Đăng hôm kia lúc 10:00", "2026-03-05T03:00:00Z"},
		{"Hôm nay, 7/3/2026, 09:00", "2026-03-07T02:00:00Z"},
		// WordPress in Vietnamese: F j, Y and g:i a
		{"Tháng Ba 5, 2026 9:15 chiều", "2026-03-05T14:15:00Z"},
		{"9:15 sáng Tháng Mười Một 5, 2025", "2025-11-05T02:15:00Z"},
		{"5 Th3, 2026 lúc 09:15", "2026-03-05T02:15:00Z"},
		// parts of the day
		{"5/3/2026 11:30 đêm", "2026-03-05T16:30:00Z"},
		{"5/3/2026 12:10 đêm", "2026-03-04T17:10:00Z"},
		{"5/3/2026 2:10 đêm", "2026-03-04T19:10:00Z"},
		{"5/3/2026 lúc 1 giờ trưa", "2026-03-05T06:00:00Z"},
		{"5/3/2026 12 giờ trưa", "2026-03-05T05:00:00Z"},
		{"5/3/2026 11h30 trưa", "2026-03-05T04:30:00Z"},
		{"9 giờ rưỡi tối 5/3/2026", "2026-03-05T14:30:00Z"},
		{"5/3/2026 12:10 tối", "2026-03-04T17:10:00Z"},
		{"5/3/2026 1 giờ khuya", "2026-03-04T18:00:00Z"},
		{"5/3/2026 11 giờ khuya", "2026-03-05T16:00:00Z"},
		{"5/3/2026 4 giờ rạng sáng", "2026-03-04T21:00:00Z"},
		{"5/3/2026 15:05 chiều (GMT+9)", "2026-03-05T06:05:00Z"},
		{"5 March 2026, 12:05 noon UTC", "2026-03-05T12:05:00Z"},
		// zones
		{"Thu, 05 Mar 2026 09:15:00 America/Los_Angeles", "2026-03-05T17:15:00Z"},
		{"Sun, 05 Jul 2026 09:15:00 America/Los_Angeles", "2026-07-05T16:15:00Z"},
		{"2026-03-05 09:15 (America/Argentina/Buenos_Aires)", "2026-03-05T12:15:00Z"},
		{"2026-03-05T09:15:00[America/Port-au-Prince]", "2026-03-05T14:15:00Z"}, // RFC 9557
		{"2026-03-05T09:15:00+09:00[Asia/Tokyo]", "2026-03-05T00:15:00Z"},
		{"Thu, 05 Mar 2026 09:15:00 PT", "2026-03-05T17:15:00Z"},
		{"Sun, 05 Jul 2026 09:15:00 PT", "2026-07-05T16:15:00Z"},
		{"9:15 a.m. ET, March 5, 2026", "2026-03-05T14:15:00Z"},
		{"July 5, 2026 at 9:15 p.m. Central Time", "2026-07-06T02:15:00Z"},
		{"March 5, 2026 at 9:15 MT", "2026-03-05T16:15:00Z"},
		{"Thu, 05 Mar 2026 09:15:00 +7", "2026-03-05T02:15:00Z"},
		{"2026-03-05 09:15:00+7", "2026-03-05T02:15:00Z"},
		{"2026-03-05 09:15:00.000 -5", "2026-03-05T14:15:00Z"},
		{"2026-03-05 09:15 UTC + 7", "2026-03-05T02:15:00Z"},
		{"2026-03-05 09:15:00 +0545", "2026-03-05T03:30:00Z"},
		{"Thu, 05 Mar 2026 09:15:00 EET", "2026-03-05T07:15:00Z"},
		{"Thu, 05 Mar 2026 09:15:00 MSK", "2026-03-05T06:15:00Z"},
		{"Thu, 05 Mar 2026 09:15:00 WIB", "2026-03-05T02:15:00Z"},
		{"Thu, 05 Mar 2026 09:15:00 NZDT", "2026-03-04T20:15:00Z"},
		{"5. März 2026, 09:15 Uhr MEZ", "2026-03-05T08:15:00Z"},
		{"09:15 (giờ Việt Nam) 05/03/2026", "2026-03-05T02:15:00Z"},
		// no zones
		{"5 mars 2026 à 09:15 et plus", "2026-03-05T02:15:00Z"},
		{"5/3/2026 09:15 +12 comments", "2026-03-05T02:15:00Z"},
		{"09:15 -05/03/2026", "2026-03-05T02:15:00Z"},
		{"5/3/2026 09:15 - 3 phút đọc", "2026-03-05T02:15:00Z"},
		{"05/03/2026 09:15 and/or", "2026-03-05T02:15:00Z"},
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
		{"Tháng Ba 5, 2026", "2026-03-05", false},
		{"Tháng 3 5, 2026", "2026-03-05", false},
		{"5 Th3, 2026", "2026-03-05", false},
		{"05-Th3-2026", "2026-03-05", false},
		{"Th12 5, 2026", "2026-12-05", false},
		{"Thứ Năm, Tháng Ba 5, 2026", "2026-03-05", false},
		{"Thứ 5, 5 Tháng Năm, 2026", "2026-05-05", false},
		{"ngày 5 tháng năm năm 2026", "2026-05-05", false},
		{"Tháng Mười Một 5, 2026", "2026-11-05", false},
		{"Tháng Mười 1, 2026", "2026-10-01", false},
		{"5 tháng Giêng, 2026", "2026-01-05", false},
		{"5 thg 3, 2026", "2026-03-05", false},
		{"năm 2026 tháng 3 ngày 5", "2026-03-05", false},
		// the weekday decides the order
		{"Thứ Năm, 05/03/2026", "2026-03-05", true},
		{"Thứ 5, 3/5/2026", "2026-03-05", false},
		{"Sunday 03/01/2026", "2026-03-01", false},
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
	for text, want := range map[string]string{
		"3 ngày trước": "2026-03-04", "2 tuần trước": "2026-02-21",
		"1 tháng trước": "2026-02-07", "yesterday": "2026-03-06", "hôm qua": "2026-03-06",
		// Several units, in digits and words
		"1 year, 2 months ago": "2025-01-07", "2 years and 1 day ago": "2024-03-06", "1 năm 3 tháng trước": "2024-12-07",
		"3 tuần 2 ngày trước": "2026-02-12", "eight months ago": "2025-07-07", "twenty-one days ago": "2026-02-14",
		"hai ngày trước": "2026-03-05", "năm năm trước": "2021-03-07", "mười lăm ngày trước": "2026-02-20",
		"hai mươi mốt ngày trước": "2026-02-14", "mười năm trước": "2016-03-07", "a fortnight ago": "2026-02-21",
		"the day before yesterday": "2026-03-05", "a decade ago": "2016-03-07", "1.5 days ago": "2026-03-06",
	} {
		d, ok := dates.Parse(text, dates.Options{Now: now, Zone: dates.VietnamTime()})
		require.True(t, ok, text)
		require.False(t, d.HasTime, text)
		require.Equal(t, want, d.Time.In(dates.VietnamTime()).Format(time.DateOnly), text)
	}
	for _, text := range []string{
		"5' trước", "99999 giờ trước", "tỷ số 3/4", "Giá vàng tăng 10%", "192.168.1.1",
		"31/2/2026", "2026-13-45", "Tháng 3, 2026", "15 tháng Chạp năm 2025 âm lịch", "rằm tháng Giêng, 2026",
		"Th 5 Mar", "1000 years ago", "5000 months ago", "1 century 2 decades", "2 giờ",
	} {
		_, ok := dates.Parse(text, dates.Options{Now: now})
		require.False(t, ok, text)
	}
}

func TestParse_RejectsOtherText(t *testing.T) {
	for _, s := range []string{
		"", "tomorrow", "31/02/2026", "99/99/2026", "0000-00-00", "1.2.3.4", "version 1.2",
		"call 0945.54.03.03", "0001-01-01T00:00:00Z", "1 giờ trước", "hôm nay", "7/3, 10:00",
	} {
		_, ok := dates.Parse(s, dates.Options{})
		require.False(t, ok, s)
	}
}

// A day that can be read in both orders is not in the future, if one reading is not.
func TestParse_FutureDayYields(t *testing.T) {
	now := time.Date(2026, 3, 20, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		text, want string
		monthFirst bool
	}{
		{"03/12/2026", "2026-03-12", false},
		{"12.03.2026 10:00", "2026-03-12", true},
		{"01/03/2026", "2026-03-01", false},
		{"01/03/2026", "2026-01-03", true},
		{"10/11/2026", "2026-11-10", false}, // both are
		{"21/03/2026", "2026-03-21", true},
	} {
		got, ok := dates.Parse(c.text, dates.Options{MonthFirst: c.monthFirst, Now: now})
		require.True(t, ok, c.text)
		require.Equal(t, c.want, got.Time.Format(time.DateOnly), c.text)
	}
}

// Abbreviations with several meanings have that of the site's zone.
func TestParse_AbbreviationOfTheSite(t *testing.T) {
	for name, want := range map[string]string{
		"Asia/Shanghai":   "2026-03-05T01:15:00Z",
		"America/Chicago": "2026-03-05T15:15:00Z", "America/Havana": "2026-03-05T14:15:00Z",
	} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		got, ok := dates.Parse("2026-03-05 09:15 CST", dates.Options{Zone: zone})
		require.True(t, ok)
		require.True(t, got.HasZone)
		require.Equal(t, want, got.Time.Format(time.RFC3339), name)
	}
}

// Abbreviations agree with the IANA database, where it has them.
func TestParse_AbbreviationsOfIANA(t *testing.T) {
	for _, name := range []string{
		"Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Africa/Maputo", "Africa/Nairobi", "America/Anchorage",
		"America/Chicago", "America/Denver", "America/Halifax", "America/Los_Angeles", "America/New_York",
		"Asia/Hong_Kong", "Asia/Jakarta", "Asia/Jayapura", "Asia/Karachi", "Asia/Kolkata", "Asia/Makassar",
		"Asia/Seoul", "Asia/Tokyo", "Australia/Adelaide", "Australia/Perth", "Australia/Sydney", "Europe/Helsinki",
		"Europe/Lisbon", "Europe/London", "Europe/Moscow", "Europe/Paris", "Pacific/Auckland", "Pacific/Honolulu",
	} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for _, month := range []time.Month{time.January, time.July} {
			at := time.Date(2026, month, 5, 9, 15, 0, 0, zone)
			text := at.Format("Mon, 02 Jan 2006 15:04:05 MST")
			got, ok := dates.Parse(text, dates.Options{Zone: dates.VietnamTime()})
			require.True(t, ok, text)
			require.True(t, got.HasZone, text)
			require.Equal(t, at.UTC(), got.Time, "%s %s", text, name)
		}
	}
}

// All months in all Vietnamese formats of dates, times and zones are read.
func TestParse_VietnameseFormats(t *testing.T) {
	months := []string{"Một", "Hai", "Ba", "Tư", "Năm", "Sáu", "Bảy", "Tám", "Chín", "Mười", "Mười Một", "Mười Hai"}
	hanoi := dates.VietnamTime()
	for m := 1; m <= 12; m++ {
		word, number := months[m-1], strconv.Itoa(m)
		for _, d := range []int{5, 12} {
			n := strconv.Itoa(d)
			for _, date := range []string{
				"Tháng " + word + " " + n + ", 2025", "Tháng " + number + " " + n + ", 2025",
				n + " Th" + number + ", 2025", fmt.Sprintf("%02d-Th%d-2025", d, m), n + " Tháng " + word + ", 2025",
				n + " tháng " + number + ", 2025", "ngày " + n + " tháng " + strings.ToLower(word) + " năm 2025",
				n + " thg " + number + ", 2025", n + "/" + number + "/2025", fmt.Sprintf("%02d-%02d-2025", d, m),
				n + "/" + number + " năm 2025",
			} {
				for _, hour := range []int{0, 1, 4, 11, 12, 13, 18, 23} {
					for _, clock := range []string{
						fmt.Sprintf("%d:05", hour), fmt.Sprintf("%02dh05", hour),
						fmt.Sprintf("%d giờ 05 phút", hour), fmt.Sprintf("%d:05 %s", (hour+11)%12+1, partOfDay(hour)),
					} {
						for zone, east := range map[string]int{"": 7, " (GMT+9)": 9, " +9": 9, " WIB": 7} {
							for _, text := range []string{
								date + " " + clock + zone, clock + " " + date + zone,
								"Ngày đăng: " + date + " - " + clock + zone,
							} {
								want := time.Date(2025, time.Month(m), d, hour-east, 5, 0, 0, time.UTC)
								got, ok := dates.Parse(text, dates.Options{Zone: hanoi})
								if !ok || !got.HasTime || !got.Time.Equal(want) {
									t.Fatalf("%q: got %v %v, want %v", text, got.Time, ok, want)
								}
							}
						}
					}
				}
			}
		}
	}
}

// partOfDay names the part of the day of an hour as CLDR does for Vietnamese.
func partOfDay(hour int) string {
	switch {
	case hour < 4 || hour >= 21:
		return "đêm"
	case hour < 12:
		return "sáng"
	case hour < 18:
		return "chiều"
	}
	return "tối"
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

// Where summer time begins at midnight, a day has no midnight.
func TestParse_DaysWithoutMidnight(t *testing.T) {
	for name, day := range map[string]string{
		"America/Santiago": "2025-09-07", "Africa/Cairo": "2025-04-25", "America/Sao_Paulo": "2018-11-04",
		"America/Havana": "2026-03-08", "Asia/Beirut": "2026-03-29",
	} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		y, m, d := day[:4], day[5:7], day[8:]
		for _, text := range []string{day, d + "/" + m + "/" + y} {
			got, ok := dates.Parse(text, dates.Options{Zone: zone})
			require.True(t, ok, name+" "+text)
			require.Equal(t, day, got.Local().Format(time.DateOnly), name+" "+text)
			require.False(t, got.HasTime)
		}
	}
}
