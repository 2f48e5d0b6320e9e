package when

import (
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	vn := Vietnam()
	now := time.Date(2026, 3, 7, 15, 30, 0, 0, vn)
	r := Reader{Now: now, Zone: vn}
	at := func(h, m, s int) time.Time { return time.Date(2026, 3, 7, h, m, s, 0, vn) }
	const day = 24 * time.Hour
	for _, c := range []struct {
		text  string
		want  time.Time
		exact time.Duration
		zoned bool
	}{
		// RFC 3339 and its neighbours
		{"2026-03-07T10:00:00+07:00", at(10, 0, 0), time.Second, true},
		{"2026-03-07T03:00:00Z", at(10, 0, 0), time.Second, true},
		{"2026-03-07T03:00:00.123456789Z", at(10, 0, 0).Add(123456789), time.Second, true},
		{"2026-03-07T10:00:00+0700", at(10, 0, 0), time.Second, true},
		{"2026-03-07T10:00:00+07", at(10, 0, 0), time.Second, true},
		{"2026-03-07T10:00+07:00", at(10, 0, 0), time.Minute, true},
		{"2026-03-07 10:00:00 +0700", at(10, 0, 0), time.Second, true},
		{"2026-03-07T10:00:00", at(10, 0, 0), time.Second, false},
		{"2026-03-07 10:00", at(10, 0, 0), time.Minute, false},
		{"2026-03-07", at(0, 0, 0), day, false},
		{"2026/03/07 10:00", at(10, 0, 0), time.Minute, false},
		{"2026-3-7", at(0, 0, 0), day, false},
		{"10:00 2026-03-07", at(10, 0, 0), time.Minute, false},
		{"20260307T100000+0700", at(10, 0, 0), time.Second, true},
		{"20260307", at(0, 0, 0), day, false},
		{"1772852400", at(10, 0, 0), time.Second, true},
		{"1772852400000", at(10, 0, 0), time.Second, true},
		// RFC 822 and what feeds make of it
		{"Sat, 07 Mar 2026 10:00:00 +0700", at(10, 0, 0), time.Second, true},
		{"Sat, 7 Mar 2026 10:00:00 +0700", at(10, 0, 0), time.Second, true},
		{"Sat, 07 Mar 26 03:00:00 GMT", at(10, 0, 0), time.Second, true},
		{"Sat, 07 Mar 2026 10:00:00 GMT+7", at(10, 0, 0), time.Second, true},
		{"Sat, 07 Mar 2026 10:00:00 GMT+07:00", at(10, 0, 0), time.Second, true},
		{"07 Mar 2026 10:00 +07:00", at(10, 0, 0), time.Minute, true},
		{"Sat, 07 Mar 2026 10:00:00", at(10, 0, 0), time.Second, false},
		{"Sat,07 Mar 2026 10:00:00 ICT", at(10, 0, 0), time.Second, true},
		{"Saturday, 07-Mar-26 03:00:00 UTC", at(10, 0, 0), time.Second, true},
		{"Sat Mar  7 10:00:00 +0700 2026", at(10, 0, 0), time.Second, true},
		{"Fri, 06 Mar 2026 22:00:00 EST", at(10, 0, 0), time.Second, true},
		{"3/7/2026 10:00:00 AM", time.Date(2026, 7, 3, 10, 0, 0, 0, vn), time.Second, false},
		{"3/27/2026 1:05:00 PM", time.Date(2026, 3, 27, 13, 5, 0, 0, vn), time.Second, false},
		{"March 7, 2026", at(0, 0, 0), day, false},
		{"Mar 7, 2026 10:00 AM", at(10, 0, 0), time.Minute, false},
		{"Published 7 March 2026 at 12:05 am", at(0, 5, 0), time.Minute, false},
		// as Vietnamese sites show them
		{"Thứ bảy, 7/3/2026, 10:00 (GMT+7)", at(10, 0, 0), time.Minute, true},
		{"Thứ Bảy, 07/03/2026 10:00 GMT+7", at(10, 0, 0), time.Minute, true},
		{"07/03/2026 10:00 GMT+7", at(10, 0, 0), time.Minute, true},
		{"07/03/2026 | 10:00", at(10, 0, 0), time.Minute, false},
		{"07/03/2026 - 10:00", at(10, 0, 0), time.Minute, false},
		{"07-03-2026 - 10:00 AM", at(10, 0, 0), time.Minute, false},
		{"10:00 07/03/2026", at(10, 0, 0), time.Minute, false},
		{"10:00 | 07/03/2026", at(10, 0, 0), time.Minute, false},
		{"10:00, thứ 7, ngày 07/03/2026", at(10, 0, 0), time.Minute, false},
		{"Thứ 7, ngày 07/03/2026, 10:00", at(10, 0, 0), time.Minute, false},
		{"10h05 ngày 7/3/2026", at(10, 5, 0), time.Minute, false},
		{"7.3.2026", at(0, 0, 0), day, false},
		{"7/3/26", at(0, 0, 0), day, false},
		{"Cập nhật: 07/03/2026 03:05 CH", at(15, 5, 0), time.Minute, false},
		{"Cập nhật lúc 10:00, 07/03/2026", at(10, 0, 0), time.Minute, false},
		{"ngày 7 tháng 3 năm 2026", at(0, 0, 0), day, false},
		{"10:00 ngày 7 tháng 3 năm 2026", at(10, 0, 0), time.Minute, false},
		{"7 tháng 3, 2026", at(0, 0, 0), day, false},
		{"7 Tháng Ba, 2026", at(0, 0, 0), day, false},
		{"7/3, 10:00", at(10, 0, 0), time.Minute, false},
		{"30/12, 10:00", time.Date(2025, 12, 30, 10, 0, 0, 0, vn), time.Minute, false},
		{"Th\u1ee9 b\u1ea3y, 7/3/2026, 10:00\u00a0(GMT+7)", at(10, 0, 0), time.Minute, true},
		// counted from now
		{"1 giờ trước", at(14, 30, 0), time.Hour, true},
		{"1h trước", at(14, 30, 0), time.Hour, true},
		{"2 giờ 10 phút trước", at(13, 20, 0), time.Hour, true},
		{"45 phút trước", at(14, 45, 0), time.Minute, true},
		{"5' trước", time.Time{}, 0, false},
		{"30 giây trước", at(15, 29, 30), time.Second, true},
		{"3 ngày trước", now.Add(-3 * day), day, true},
		{"2 tuần trước", now.Add(-14 * day), 7 * day, true},
		{"1 tháng trước", now.Add(-30 * day), 30 * day, true},
		{"một giờ trước", at(14, 30, 0), time.Hour, true},
		{"nửa giờ trước", at(15, 0, 0), time.Hour, true},
		{"an hour ago", at(14, 30, 0), time.Hour, true},
		{"5 mins ago", at(15, 25, 0), time.Minute, true},
		{"Vừa xong", now, time.Minute, true},
		{"Hôm nay, 10:00", at(10, 0, 0), time.Minute, false},
		{"Hôm qua 10:00", at(10, 0, 0).Add(-day), time.Minute, false},
		{"yesterday", at(0, 0, 0).Add(-day), day, false},
		// no dates
		{"", time.Time{}, 0, false},
		{"31/2/2026", time.Time{}, 0, false},
		{"2026-13-45", time.Time{}, 0, false},
		{"Giá vàng tăng 10%", time.Time{}, 0, false},
		{"tỷ số 3/4", time.Time{}, 0, false},
		{"192.168.1.1", time.Time{}, 0, false},
		{"0001-01-01T00:00:00Z", time.Time{}, 0, false},
		{"99999 giờ trước", time.Time{}, 0, false},
	} {
		m, ok := r.Read(c.text)
		if ok == c.want.IsZero() || ok && (!m.Time.Equal(c.want) || m.Exact != c.exact || m.Zoned != c.zoned) {
			t.Errorf("%q: %v to %s, zoned %v, read %v", c.text, m.Time, m.Exact, m.Zoned, ok)
		}
	}
}

func TestReadWithoutNow(t *testing.T) {
	r := Reader{}
	for _, text := range []string{"1 giờ trước", "hôm nay", "7/3, 10:00"} {
		if m, ok := r.Read(text); ok {
			t.Errorf("%q without knowing the time: %v", text, m)
		}
	}
	if got := r.Time("7/3/2026 10:00"); !got.Equal(time.Date(2026, 3, 7, 10, 0, 0, 0, time.UTC)) {
		t.Error(got)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"Thứ bảy, 7/3/2026, 10:00 (GMT+7)", "2026-03-07T10:00:00+07:00", "1h trước", "Sat, 07 Mar 2026 10:00:00 GMT+7", "hôm qua 25:99"} {
		f.Add(text)
	}
	now := time.Date(2026, 3, 7, 15, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		m, ok := Reader{Now: now, Zone: Vietnam()}.Read(text)
		if ok != !m.Time.IsZero() || ok && (m.Exact <= 0 || m.Time.Year() < 1969 || m.Time.Year() > 2200) {
			t.Errorf("%q: %+v %v", text, m, ok)
		}
	})
}
