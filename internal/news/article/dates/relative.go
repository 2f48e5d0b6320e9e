package dates

import (
	"strings"
	"time"
)

const day = 24 * time.Hour

// relative parses "1 giờ trước", "1h trước", "2 giờ 10 phút trước", "5 minutes ago",
// "hôm qua, 22:15" and "vừa xong".
func (p *parser) relative() (Date, bool) {
	if p.opts.Now.IsZero() {
		return Date{}, false
	}
	now := p.opts.Now.In(p.opts.Zone)
	for i := range p.tokens {
		if ago, whole, ok := p.ago(i); ok {
			return Date{Time: now.Add(-ago).UTC(), Zone: p.opts.Zone, HasTime: !whole, HasZone: true, IsRelative: true},
				true
		}
	}
	for i := range p.tokens {
		back, end := p.relativeDay(i)
		switch {
		case p.is(i, "vừa") && p.is(i+1, "xong", "đăng"), p.is(i, "mới") && p.is(i+1, "đây"), p.is(i, "just") &&
			p.is(i+1, "now"):
			return Date{Time: now.UTC(), Zone: p.opts.Zone, HasTime: true, HasZone: true, IsRelative: true}, true
		case back < 0:
			continue
		}
		h, m, s, clock, _ := p.clock(i, end)
		y, mo, d := now.AddDate(0, 0, -back).Date()
		return Date{
			Time: time.Date(y, mo, d, h, m, s, 0, p.opts.Zone).UTC(), Zone: p.opts.Zone, HasTime: clock,
			HasZone: true, IsRelative: true,
		}, true
	}
	return Date{}, false
}

// relativeDay parses the name of a day, such as yesterday, as a number of days before
// today; -1: none.
func (p *parser) relativeDay(i int) (back, end int) {
	switch {
	case p.is(i, "hôm") && p.is(i+1, "nay"):
		return 0, i + 2
	case p.is(i, "hôm") && p.is(i+1, "qua"):
		return 1, i + 2
	case p.is(i, "hôm") && p.is(i+1, "kia"):
		return 2, i + 2
	case p.is(i, "today"):
		return 0, i + 1
	case p.is(i, "yesterday"):
		return 1, i + 1
	}
	return -1, 0
}

// ago parses a duration that ends in "trước" or "ago". whole reports that it counts
// whole days.
func (p *parser) ago(i int) (span time.Duration, whole, ok bool) {
	unit := durationOf(p.at(i + 1).text)
	if unit == 0 {
		return 0, false, false
	}
	n := p.num(i)
	switch {
	case p.is(i, "nửa"):
		span = unit / 2
	case p.is(i, "vài"):
		span = 3 * unit
	case p.is(i, "a", "an", "one", "một"):
		span = unit
	case n >= 0 && n < 10000:
		span = time.Duration(n) * unit
	default:
		return 0, false, false
	}
	k := i + 2
	if minutes := p.num(k); minutes >= 0 && minutes < 60 && durationOf(p.at(k+1).text) == time.Minute {
		span += time.Duration(minutes) * time.Minute
		k += 2
	}
	return span, unit >= day, p.is(k, "trước", "ago") && span <= 100*365*day
}

func durationOf(w string) time.Duration {
	if w != "s" {
		w = strings.TrimSuffix(w, "s")
	}
	switch w {
	case "giây", "second", "sec", "s":
		return time.Second
	case "phút", "minute", "min", "p", "ph", "m":
		return time.Minute
	case "giờ", "hour", "hr", "h", "g", "tiếng":
		return time.Hour
	case "ngày", "day", "d":
		return day
	case "tuần", "week", "w":
		return 7 * day
	case "tháng", "month":
		return 30 * day
	case "năm", "year":
		return 365 * day
	}
	return 0
}

// dayWithoutYear parses "7/3, 10:00" as a day of this year, or of the previous one if it
// would be in the future.
func (p *parser) dayWithoutYear() (Date, bool) {
	if p.opts.Now.IsZero() {
		return Date{}, false
	}
	for i := range p.tokens {
		d, m := p.num(i), p.num(i+2)
		if d < 0 || m < 0 || p.at(i).digits > 2 || p.at(i+2).digits > 2 {
			continue
		}
		if !p.is(i+1, "/") || p.is(i+3, "/") || i > 0 && p.is(i-1, "/", ".", "-", ":") {
			continue
		}
		if p.opts.MonthFirst && d <= 12 || m > 12 {
			d, m = m, d
		}
		hour, minute, second, clock, end := p.clock(i, i+3)
		if !clock || m < 1 || m > 12 || d < 1 {
			return Date{}, false
		}
		zone, zoned := p.zone(p.opts.Now, end, i, i+3)
		if !zoned {
			zone = p.opts.Zone
		}
		t := time.Date(p.opts.Now.In(zone).Year(), time.Month(m), d, hour, minute, second, 0, zone)
		if t.After(p.opts.Now.Add(2 * day)) {
			t = time.Date(t.Year()-1, time.Month(m), d, hour, minute, second, 0, zone)
		}
		return Date{Time: t.UTC(), Zone: p.opts.Zone, HasTime: true, HasZone: zoned}, t.Day() == d
	}
	return Date{}, false
}

// vietnameseNumber returns the number of a month from its name; 0: none.
func vietnameseNumber(w string) int {
	switch w {
	case "một", "giêng":
		return 1
	case "hai":
		return 2
	case "ba":
		return 3
	case "tư", "bốn":
		return 4
	case "năm":
		return 5
	case "sáu":
		return 6
	case "bảy", "bẩy":
		return 7
	case "tám":
		return 8
	case "chín":
		return 9
	case "mười":
		return 10
	case "chạp":
		return 12
	}
	return 0
}

// weekday returns the weekday that the text names, in English or Vietnamese.
func (p *parser) weekday() (time.Weekday, bool) {
	for i := range p.tokens {
		switch w := p.at(i).text; {
		case w == "thứ":
			n := p.num(i + 1)
			if n < 0 {
				n = vietnameseNumber(p.at(i + 1).text)
			}
			if n >= 2 && n <= 7 { // Monday is the second day
				return time.Weekday(n - 1), true
			}
		case w == "chủ" && p.is(i+1, "nhật"), w == "cn":
			return time.Sunday, true
		case len(w) >= 3:
			for d := time.Sunday; d <= time.Saturday; d++ {
				if name := strings.ToLower(d.String()); w == name || w == name[:3] {
					return d, true
				}
			}
		}
	}
	return 0, false
}
