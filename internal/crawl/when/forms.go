package when

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Pieces of the patterns. A time of day is 10:00, 10:00:30, 10h00, 10h, 10 giờ 30,
// with or without AM, PM, SA (sáng) or CH (chiều).
const (
	clockPart = `(\d{1,2})(?::|h| giờ | giờ)(\d{2})?(?::(\d{2}))?(?: phút)?(?: ?(am|pm|a\.m\.|p\.m\.|sa|ch|sáng|chiều|tối)\b)?`
	monthPart = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
	zonePart  = `(?: ?\(?((?:gmt|utc) ?[+-] ?\d{1,2}(?::?\d{2})?|[+-]\d{2}:?\d{2}\b|\b(?:z|gmt|utc|ut|ict|est|edt|cst|cdt|mst|mdt|pst|pdt|bst|cet|cest|jst|kst|sgt|hkt|ist|aest|aedt)\b)\)?)?`
	gap       = `(?: ?[,|-] ?| ?lúc:? ?| at | t |t| )*`
)

var (
	isoForm = regexp.MustCompile(`(?:^|[^\d])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[t ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9})\d*)?)?` +
		` ?(z\b|(?:gmt|utc)? ?[+-] ?\d{1,2}(?::?\d{2})?\b|gmt\b|utc\b)?)?`)
	compactForm = regexp.MustCompile(`^(\d{4})(\d{2})(\d{2})(?:t?(\d{2})(\d{2})(\d{2})(?:\.\d+)?(z|[+-]\d{2}:?\d{2})?)?$`)
	epochForm   = regexp.MustCompile(`^(\d{10})(\d{3})?$`)

	// 7 Mar 2026 10:00:00 +0700, Saturday, 7-March-26 10:00 GMT
	dayMonth = regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th)?[ -]` + monthPart + `,?[ -](\d{4}|\d{2})\b(?:` + gap + clockPart + zonePart + `)?`)
	// March 7, 2026 10:00 AM; Sat Mar 7 10:00:00 +0700 2026
	monthDay     = regexp.MustCompile(`\b` + monthPart + ` (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b(?:` + gap + clockPart + zonePart + `)?`)
	monthDayLate = regexp.MustCompile(`\b` + monthPart + ` (\d{1,2}) ` + clockPart + zonePart + ` (\d{4})\b`)

	// 10:00, ngày 7 tháng 3 năm 2026; 7 Tháng Ba, 2026
	longForm = regexp.MustCompile(`(?:ngày )?\b(\d{1,2}) ?tháng ?(\d{1,2}|giêng|một|hai|ba|tư|bốn|năm|sáu|bảy|tám|chín|mười hai|mười một|mười|chạp),?(?: năm)? ?(\d{4})(?:` + gap + clockPart + zonePart + `)?`)
	// 7/3/2026, 07-03-2026, 7.3.26
	numberForm = regexp.MustCompile(`(?:^|[^\d/.:-])(\d{1,2})([/.-])(\d{1,2})([/.-])(\d{4}|\d{2})\b(?:` + gap + clockPart + zonePart + `)?`)
	// 7/3, 10:00: of this year
	shortForm = regexp.MustCompile(`(?:^|[^\d/.:-])(\d{1,2})/(\d{1,2})(?:[^\d/]|$)`)
	clockForm = regexp.MustCompile(`(?:^|[^\d/.-])` + clockPart + zonePart)
	zoneForm  = regexp.MustCompile(`^(?:gmt|utc)? ?([+-]) ?(\d{1,2})(?::?(\d{2}))?$`)
)

// iso reads RFC 3339 and what is near to it. It goes first: 2026-03-07 has only
// one meaning.
func (r Reader) iso(text string) (Moment, bool) {
	f := isoForm.FindStringSubmatch(text)
	if f == nil {
		return Moment{}, false
	}
	p := parts{year: number(f[1]), month: number(f[2]), day: number(f[3]), zone: zone(f[8])}
	if f[4] != "" {
		p.clock, p.hour, p.minute, p.second, p.seconds = true, number(f[4]), number(f[5]), number(f[6]), f[6] != ""
		p.nanos = number((f[7] + "000000000")[:9])
	} else if clock := clockForm.FindStringSubmatch(text); clock != nil {
		p.take(clock[1:])
	}
	return r.moment(p)
}

func (r Reader) compact(text string) (Moment, bool) {
	f := compactForm.FindStringSubmatch(text)
	if f == nil {
		return Moment{}, false
	}
	return r.moment(parts{year: number(f[1]), month: number(f[2]), day: number(f[3]), clock: f[4] != "", seconds: f[4] != "",
		hour: number(f[4]), minute: number(f[5]), second: number(f[6]), zone: zone(f[7])})
}

// epoch reads seconds or milliseconds since 1970.
func (r Reader) epoch(text string) (Moment, bool) {
	f := epochForm.FindStringSubmatch(text)
	if f == nil {
		return Moment{}, false
	}
	at := time.Unix(int64(number(f[1])), int64(number(f[2]))*1e6).In(r.zone())
	return Moment{Time: at, Exact: time.Second, Zoned: true}, true
}

// words reads dates with English months, RFC 822's first of all.
func (r Reader) words(text string) (Moment, bool) {
	if f := dayMonth.FindStringSubmatch(text); f != nil {
		p := parts{day: number(f[1]), month: month(f[2]), year: year(f[3])}
		p.take(f[4:])
		return r.moment(p)
	}
	if f := monthDay.FindStringSubmatch(text); f != nil {
		p := parts{month: month(f[1]), day: number(f[2]), year: number(f[3])}
		p.take(f[4:])
		return r.moment(p)
	}
	if f := monthDayLate.FindStringSubmatch(text); f != nil {
		p := parts{month: month(f[1]), day: number(f[2]), year: number(f[8])}
		p.take(f[3:8])
		return r.moment(p)
	}
	return Moment{}, false
}

// vietnamese reads "ngày 7 tháng 3 năm 2026", with a time before or behind.
func (r Reader) vietnamese(text string) (Moment, bool) {
	f := longForm.FindStringSubmatchIndex(text)
	if f == nil {
		return Moment{}, false
	}
	s := groups(text, f)
	p := parts{day: number(s[1]), month: vietnameseMonth(s[2]), year: number(s[3])}
	p.take(s[4:])
	p.before(text[:f[0]])
	return r.moment(p)
}

// numbers reads 7/3/2026, the day first as Vietnam and most of the world do,
// with a time before or behind.
func (r Reader) numbers(text string) (Moment, bool) {
	if f := numberForm.FindStringSubmatchIndex(text); f != nil {
		s := groups(text, f)
		p := parts{day: number(s[1]), month: number(s[3]), year: year(s[5])}
		if p.month > 12 && p.day <= 12 { // 3/27/2026
			p.day, p.month = p.month, p.day
		}
		p.take(s[6:])
		p.before(text[:f[2]])
		if s[2] == s[4] {
			return r.moment(p)
		}
	}
	if r.Now.IsZero() {
		return Moment{}, false
	}
	f := shortForm.FindStringSubmatch(text)
	clock := clockForm.FindStringSubmatch(text)
	if f == nil || clock == nil {
		return Moment{}, false
	}
	p := parts{day: number(f[1]), month: number(f[2]), year: r.Now.In(r.zone()).Year()}
	p.take(clock[1:])
	m, ok := r.moment(p)
	if ok && m.Time.After(r.Now.Add(48*time.Hour)) { // in January, 30/12 was last year
		p.year--
		m, ok = r.moment(p)
	}
	return m, ok
}

// take fills in the groups of clockPart and zonePart.
func (p *parts) take(f []string) {
	if f[0] == "" {
		return
	}
	p.clock, p.hour, p.minute, p.second, p.seconds = true, number(f[0]), number(f[1]), number(f[2]), f[2] != ""
	switch f[3] {
	case "pm", "p.m.", "ch", "chiều", "tối":
		if p.hour < 12 {
			p.hour += 12
		}
	case "am", "a.m.", "sa", "sáng":
		if p.hour == 12 {
			p.hour = 0
		}
	}
	if p.zone == nil {
		p.zone = zone(f[4])
	}
}

// before looks for a time in front of the date: 10:00 07/03/2026.
func (p *parts) before(text string) {
	if p.clock {
		return
	}
	if f := clockForm.FindStringSubmatch(text); f != nil {
		p.take(f[1:])
	}
}

func groups(text string, places []int) []string {
	found := make([]string, len(places)/2)
	for i := range found {
		if places[2*i] >= 0 {
			found[i] = text[places[2*i]:places[2*i+1]]
		}
	}
	return found
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// year reads two digits as RFC 5322 §4.3 does.
func year(digits string) int {
	n := number(digits)
	switch {
	case len(digits) > 2:
		return n
	case n < 50:
		return 2000 + n
	default:
		return 1900 + n
	}
}

func month(name string) int {
	return strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", name)/3 + 1
}

func vietnameseMonth(name string) int {
	if n := number(name); n > 0 {
		return n
	}
	switch name {
	case "giêng", "một":
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
	case "bảy":
		return 7
	case "tám":
		return 8
	case "chín":
		return 9
	case "mười":
		return 10
	case "mười một":
		return 11
	default:
		return 12
	}
}

// zone reads +07:00, GMT+7 or a name. GMT+7 is seven hours ahead, as people mean
// it, not behind as in POSIX.
func zone(text string) *time.Location {
	text = strings.TrimSpace(text)
	hours := map[string]int{"ict": 7, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "bst": 1, "cet": 1,
		"cest": 2, "jst": 9, "kst": 9, "sgt": 8, "hkt": 8, "aest": 10, "aedt": 11}
	switch text {
	case "":
		return nil
	case "z", "gmt", "utc", "ut":
		return time.UTC
	case "ist":
		return time.FixedZone("ist", 5*3600+1800)
	}
	if offset, ok := hours[text]; ok {
		return time.FixedZone(text, offset*3600)
	}
	f := zoneForm.FindStringSubmatch(text)
	if f == nil || number(f[2]) > 14 || number(f[3]) > 59 {
		return nil
	}
	offset := number(f[2])*3600 + number(f[3])*60
	if f[1] == "-" {
		offset = -offset
	}
	return time.FixedZone("", offset)
}
