package dates

import (
	"math"
	"slices"
	"strings"
	"time"
)

// The units of times ago. Whole months and years are counted by the calendar.
const (
	day     = 24 * time.Hour
	month30 = 30 * day
	year    = 365 * day
)

// relative parses "1 giờ trước", "hai ngày trước", "2 giờ 10 phút trước", "1 year, 2 months
// ago", "hôm qua, 22:15" and "vừa xong".
func (p *parser) relative() (Date, bool) {
	if p.opts.Now.IsZero() {
		return Date{}, false
	}
	now := p.opts.Now.In(p.opts.Zone)
	for i := range p.tokens {
		if at, whole, ok := p.ago(i, now); ok {
			return Date{Time: at.UTC(), Zone: p.opts.Zone, HasTime: !whole, HasZone: true, IsRelative: true}, true
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
	case p.is(i, "day") && p.is(i+1, "before") && p.is(i+2, "yesterday"):
		return 2, i + 3
	case p.is(i, "today"):
		return 0, i + 1
	case p.is(i, "yesterday"):
		return 1, i + 1
	}
	return -1, 0
}

// maxYearsAgo is the age above which a text is no time of publication.
const maxYearsAgo = 100

// ago parses durations that end in "trước" or "ago": "2 giờ 10 phút trước", "1 year, 2 months
// ago". whole reports that they count whole days.
func (p *parser) ago(i int, now time.Time) (at time.Time, whole, ok bool) {
	if p.num(i-2) >= 0 && p.is(i-1, ".", ",") && !p.at(i).afterSpace {
		return now, false, false // within a number: 2.5 hours ago
	}
	for at = now; ; {
		amount, k := p.amount(i)
		unit := durationOf(p.at(k).text)
		if amount < 0 || unit == 0 || amount*float64(unit) > float64(maxYearsAgo*year) {
			return now, false, false
		}
		if whole = unit >= day; unit >= month30 && amount == math.Trunc(amount) {
			at = monthsBefore(at, int(amount)*int(unit/year*12+unit%year/month30))
		} else {
			at = at.Add(-time.Duration(amount * float64(unit)))
		}
		if i = p.skip(k+1, ",", "and", "và"); p.is(i, "trước", "ago") {
			return at, whole, now.Sub(at) <= maxYearsAgo*(year+day)
		}
	}
}

// monthsBefore returns the same day of an earlier month, or its last one.
func monthsBefore(t time.Time, n int) time.Time {
	back := t.AddDate(0, -n, 0)
	if back.Day() != t.Day() {
		back = back.AddDate(0, 0, -back.Day())
	}
	return back
}

// amount parses a number in digits or words; -1: there is none.
func (p *parser) amount(i int) (n float64, end int) {
	switch {
	case p.at(i).digits > 4:
		return -1, i
	case p.num(i) >= 0:
		if p.is(i+1, ".", ",") && p.num(i+2) >= 0 && !p.at(i+1).afterSpace && !p.at(i+2).afterSpace {
			return float64(p.num(i)) + float64(p.num(i+2))/math.Pow10(p.at(i+2).digits), i + 3
		}
		return float64(p.num(i)), i + 1
	case p.is(i, "nửa"):
		return 0.5, i + 1
	case p.is(i, "vài"):
		return 3, i + 1
	case p.is(i, "a", "an"):
		return 1, i + 1
	}
	if n, end := p.vietnameseAmount(i); end > i {
		return float64(n), end
	}
	if n, end := p.englishAmount(i); end > i {
		return float64(n), end
	}
	return -1, i
}

// englishAmount parses one to ninety-nine; end is i if there is none.
func (p *parser) englishAmount(i int) (n, end int) {
	end = i
	tens := []string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	if at := slices.Index(tens, p.at(i).text); at >= 0 {
		n, end = 20+10*at, i+1
	}
	units := []string{
		"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
		"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	}
	k := end
	if n > 0 {
		k = p.skip(end, "-")
	}
	if at := slices.Index(units, p.at(k).text); at >= 0 && (n == 0 || at < 9) {
		n, end = n+at+1, k+1
	}
	return n, end
}

// vietnameseAmount parses một to chín mươi chín; end is i if there is none.
func (p *parser) vietnameseAmount(i int) (n, end int) {
	if n = vietnameseNumber(p.at(i).text); n == 0 || p.is(i, "giêng", "chạp") {
		return 0, i
	}
	switch end = i + 1; {
	case n < 10 && p.is(end, "mươi"):
		n, end = 10*n, end+1
	case n < 10:
		return n, end
	}
	unit := vietnameseNumber(p.at(end).text)
	switch {
	case p.is(end, "mốt"):
		unit = 1
	case p.is(end, "lăm", "nhăm"):
		unit = 5
	case p.is(end, "năm"): // years after a ten; five is lăm there
		unit = 0
	}
	if unit == 0 || unit > 9 {
		return n, end
	}
	return n + unit, end + 1
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
	case "fortnight":
		return 14 * day
	case "tháng", "month":
		return month30
	case "năm", "year", "y", "yr":
		return year
	case "decade":
		return 10 * year
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
