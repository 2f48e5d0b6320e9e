package when

import (
	"regexp"
	"strings"
	"time"
)

var (
	agoForm = regexp.MustCompile(`\b(\d{1,4}|an?|one|một|nửa|vài) ?(giây|phút|giờ|tiếng|ngày|tuần|tháng|năm|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|s|p|ph|m|h|g|d|w)` +
		`(?: ?(\d{1,2}) ?(?:phút|p|m|minutes?|mins?))? (?:trước|ago)`)
	dayForm = regexp.MustCompile(`(?:^|[^\pL])(hôm nay|hôm qua|hôm kia|today|yesterday)(?:[^\pL]|$)`)
)

// relative reads dates that count from now.
func (r Reader) relative(text string) (Moment, bool) {
	if r.Now.IsZero() {
		return Moment{}, false
	}
	for _, now := range []string{"vừa xong", "vừa đăng", "mới đây", "just now"} {
		if strings.Contains(text, now) {
			return Moment{Time: r.Now, Exact: time.Minute, Zoned: true}, true
		}
	}
	if f := agoForm.FindStringSubmatch(text); f != nil {
		unit := span(f[2])
		ago := unit
		switch f[1] {
		case "nửa":
			ago = unit / 2
		case "vài":
			ago = 3 * unit
		case "a", "an", "one", "một":
		default:
			ago = time.Duration(number(f[1])) * unit
		}
		ago += time.Duration(number(f[3])) * time.Minute
		if ago > 100*365*24*time.Hour {
			return Moment{}, false
		}
		return Moment{Time: r.Now.Add(-ago), Exact: unit, Zoned: true}, true
	}
	f := dayForm.FindStringSubmatch(text)
	if f == nil {
		return Moment{}, false
	}
	day := r.Now.In(r.zone())
	switch f[1] {
	case "hôm qua", "yesterday":
		day = day.AddDate(0, 0, -1)
	case "hôm kia":
		day = day.AddDate(0, 0, -2)
	}
	p := parts{year: day.Year(), month: int(day.Month()), day: day.Day()}
	if clock := clockForm.FindStringSubmatch(text); clock != nil {
		p.take(clock[1:])
	}
	return r.moment(p)
}

func span(unit string) time.Duration {
	const day = 24 * time.Hour
	switch strings.TrimSuffix(unit, "s") {
	case "", "giây", "second", "sec":
		return time.Second
	case "phút", "minute", "min", "p", "ph", "m":
		return time.Minute
	case "giờ", "tiếng", "hour", "hr", "h", "g":
		return time.Hour
	case "ngày", "day", "d":
		return day
	case "tuần", "week", "w":
		return 7 * day
	case "tháng", "month":
		return 30 * day
	default:
		return 365 * day
	}
}
