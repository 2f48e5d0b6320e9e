// Package timetext reads times in words, in English and Vietnamese: "tomorrow 9",
// "fri 18:30", "in 2 hours", "24 Dec 7pm", "thứ hai 7h30", "9 giờ sáng mai", "tối nay",
// "2 tiếng nữa". The API, the dashboard, the command line and agents use it.
package timetext

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/recurrence"
)

// Reasons why a text is refused.
var (
	ErrUnknown = errors.New("the time cannot be read: write it like 2026-12-24T18:00, tomorrow 9:00, fri 18:30, " +
		"in 2 hours, thứ hai 7h30 or 9 giờ sáng mai")
	ErrSkipped = errors.New("clocks skip that time on that day")
)

// maxLength is longer than any time in words.
const maxLength = 100

const (
	dayLayout  = "2006-01-02"
	usualClock = "09:00" // of a day without a time
)

// Parse returns the time that a text means, seen from now, whose location is that of the
// text. Dates have the day first. A time without a date is the next one, a weekday the next
// such day. A text of which a part is not understood is refused.
func Parse(text string, now time.Time) (time.Time, error) {
	at, err := parse(text, now)
	if err == nil && (at.Year() < 0 || at.Year() > 9999) { // RFC 3339, section 1: years have four digits
		return time.Time{}, ErrUnknown
	}
	return at, err
}

func parse(text string, now time.Time) (time.Time, error) {
	if len(text) > maxLength {
		return time.Time{}, ErrUnknown
	}
	for _, written := range []string{text, strings.Replace(text, " ", "T", 1)} {
		if at, err := post.ParseTime(strings.ToUpper(strings.TrimSpace(written)), now.Location()); err == nil {
			return at.In(now.Location()), nil
		}
	}
	p := &parser{now: now, rest: fold(text)}
	p.today = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	if p.rest == "" {
		return time.Time{}, ErrUnknown
	}
	return p.parse()
}

// fold returns text in lower case without Vietnamese diacritics. "thứ" must not match
// Thursday, and "mốt" (the day after tomorrow) not "một" (one).
func fold(text string) string {
	text = strings.ToLower(norm.NFC.String(text))
	text = strings.NewReplacer("thứ", "weekday", "mốt", "ngaykia", "đ", "d", ",", " ", ";", " ").Replace(text)
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
	return strings.Join(strings.Fields(text), " ")
}

type parser struct {
	now   time.Time
	today time.Time // midnight of today's date, in UTC
	rest  string    // what is not understood yet

	date      time.Time // in UTC; zero: none
	clock     string
	isWeekday bool // the date is the next such day

	inNextWeek bool
}

// take removes the first match, unless one of the bytes follows, and returns its groups.
func (p *parser) take(pattern *regexp.Regexp, notBefore string) []string {
	at := 0
	for {
		m := pattern.FindStringSubmatchIndex(p.rest[at:])
		if m == nil {
			return nil
		}
		start, end := at+m[0], at+m[1]
		if end < len(p.rest) && strings.IndexByte(notBefore, p.rest[end]) >= 0 {
			at = start + 1
			continue
		}
		groups := make([]string, len(m)/2)
		for i := range groups {
			if m[2*i] >= 0 {
				groups[i] = p.rest[at+m[2*i] : at+m[2*i+1]]
			}
		}
		p.rest = strings.Join(strings.Fields(p.rest[:start]+" "+p.rest[end:]), " ")
		return groups
	}
}

func (p *parser) has(pattern *regexp.Regexp) bool { return p.take(pattern, "") != nil }

func (p *parser) parse() (time.Time, error) {
	if at, done, err := p.takeRelative(); done {
		return at, err
	}
	if g := p.take(isoDate, ""); g != nil {
		if p.date = date(g[1], g[2], g[3]); p.date.IsZero() {
			return time.Time{}, ErrUnknown
		}
	}
	p.inNextWeek = p.has(nextWeek) // before "tới", which is the evening elsewhere
	if p.has(midnight) {
		p.clock = "00:00"
	}
	part := p.takeDayPart()
	if !p.takeDate(part) || !p.takeClock(part) {
		return time.Time{}, ErrUnknown
	}
	p.rest = strings.TrimSpace(fillers.ReplaceAllString(p.rest, ""))
	if p.rest != "" || p.date.IsZero() && p.clock == "" {
		return time.Time{}, ErrUnknown
	}
	return p.resolve()
}

// takeRelative reads "in 2 hours" and "2 tiếng nữa". Days keep the time of day.
func (p *parser) takeRelative() (at time.Time, done bool, err error) {
	var g []string
	for _, form := range relativeForms {
		if g = p.take(form, ""); g != nil {
			break
		}
	}
	if g == nil {
		return time.Time{}, false, nil
	}
	amount, unit := amountOf(g[1]), unitOf(g[2])
	if amount*float64(unit) > float64(post.Horizon) {
		return time.Time{}, true, ErrUnknown
	}
	ahead := time.Duration(amount * float64(unit))
	if unit < day {
		if p.rest != "" {
			return time.Time{}, true, ErrUnknown
		}
		at = p.now.Add(ahead)
		if whole := at.Truncate(time.Minute); !whole.Equal(at) {
			at = whole.Add(time.Minute) // not before the time has passed
		}
		return at, true, nil
	}
	p.date = p.today.AddDate(0, 0, int(ahead/day))
	p.clock = p.now.Format("15:04")
	return time.Time{}, false, nil
}

const day = 24 * time.Hour

func amountOf(word string) float64 {
	switch {
	case strings.HasPrefix(word, "half"), word == "nua":
		return 0.5
	case word[0] >= '0' && word[0] <= '9':
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return math.Inf(1)
		}
		return n
	}
	return 1
}

func unitOf(word string) time.Duration {
	switch word[0] {
	case 'm', 'p': // minute, phút
		return time.Minute
	case 'h', 'g': // hour, giờ
		return time.Hour
	case 'w': // week
		return 7 * day
	case 't': // tiếng, tuần
		if strings.HasPrefix(word, "tu") {
			return 7 * day
		}
		return time.Hour
	}
	return day
}

// dayPart is a part of the day.
type dayPart struct {
	pattern     *regexp.Regexp
	usual       string
	isAfternoon bool // its hours count from noon
	isNoon      bool // 10 and 11 o'clock are before noon
	isNight     bool // 12 is midnight, and the first hours are those after it
	isTonight   bool
}

func (p *parser) takeDayPart() *dayPart {
	for _, d := range dayParts {
		if g := p.take(d.pattern, ""); g != nil {
			d.isTonight = g[0] == "tonight"
			return &d
		}
	}
	return nil
}

// takeDate reads the day; it is false for a date that does not exist.
func (p *parser) takeDate(part *dayPart) bool {
	hasDate := !p.date.IsZero()
	switch {
	case p.has(dayAfterTomorrow):
		p.date, hasDate = p.today.AddDate(0, 0, 2), true
	case p.has(tomorrow):
		p.date, hasDate = p.today.AddDate(0, 0, 1), true
	case p.has(today) || part != nil && part.isTonight:
		p.date, hasDate = p.today, true
	}
	weekday, hasWeekday := p.takeWeekday()
	isNext := p.inNextWeek || p.has(next)
	if isNext && !hasWeekday && !p.inNextWeek {
		return false
	}
	if !hasDate {
		for _, form := range dateForms {
			if g := p.take(form.pattern, form.notBefore); g != nil {
				p.date = p.explicit(g[form.year], g[form.month], g[form.day])
				return !p.date.IsZero()
			}
		}
	}
	monday := p.today.AddDate(0, 0, -sinceMonday(p.today.Weekday()))
	switch {
	case hasDate:
	case hasWeekday && isNext:
		p.date = monday.AddDate(0, 0, 7+sinceMonday(weekday))
	case hasWeekday:
		p.date, p.isWeekday = p.today.AddDate(0, 0, (int(weekday)-int(p.today.Weekday())+7)%7), true
	case p.inNextWeek:
		p.date = p.today.AddDate(0, 0, 7)
	}
	return true
}

func sinceMonday(d time.Weekday) int { return (int(d) + 6) % 7 }

func (p *parser) takeWeekday() (time.Weekday, bool) {
	for _, w := range weekdays {
		if p.has(w.pattern) {
			return w.day, true
		}
	}
	return 0, false
}

// explicit returns a date; without a year it is the next one.
func (p *parser) explicit(year, month, dayOfMonth string) time.Time {
	if i := strings.Index(monthAbbreviations, prefix(month, 3)); i >= 0 && month[0] >= 'a' {
		month = strconv.Itoa(i/4 + 1)
	}
	switch len(year) {
	case 0:
		this := date(strconv.Itoa(p.today.Year()), month, dayOfMonth)
		if !this.IsZero() && !this.Before(p.today) {
			return this
		}
		return date(strconv.Itoa(p.today.Year()+1), month, dayOfMonth)
	case 2:
		year = "20" + year
	}
	return date(year, month, dayOfMonth)
}

func prefix(s string, n int) string { return s[:min(n, len(s))] }

// date returns a date, or the zero time if it does not exist.
func date(year, month, dayOfMonth string) time.Time {
	t, err := time.Parse("2006-1-2", year+"-"+strings.TrimLeft(month, "0")+"-"+strings.TrimLeft(dayOfMonth, "0"))
	if err != nil {
		return time.Time{}
	}
	return t
}

// takeClock reads the time of day; it is false for one that does not exist.
func (p *parser) takeClock(part *dayPart) bool {
	var g []string
	for _, form := range clockForms {
		if g = p.take(form.pattern, form.notBefore); g != nil {
			break
		}
	}
	if g == nil {
		if part != nil {
			p.clock = part.usual
		}
		return true
	}
	hour, err := strconv.Atoi(g[1])
	if err != nil {
		return false
	}
	minute, half := 0, ""
	if len(g) > 3 {
		half = g[3]
	}
	switch {
	case len(g) <= 2 || g[2] == "":
	case g[2] == "ruoi":
		minute = 30
	default:
		if minute, err = strconv.Atoi(g[2]); err != nil {
			return false
		}
	}
	switch {
	case half != "":
		if hour < 1 || hour > 12 {
			return false
		}
		if hour %= 12; half == "pm" {
			hour += 12
		}
	case part == nil:
	case part.isNight && hour == 12:
		// Midnight ends the day that was named.
		hour = 0
		if p.date.IsZero() {
			break
		}
		p.date = p.date.AddDate(0, 0, 1)
	case part.isNight && hour < 5:
		// "2 giờ đêm" is after midnight, "tonight" of the coming night.
		if p.date.Equal(p.today) {
			p.date = p.date.AddDate(0, 0, 1)
		}
	case part.isAfternoon && hour < 12 && (!part.isNoon || hour < 10):
		hour += 12
	}
	if hour > 23 || minute > 59 {
		return false
	}
	p.clock = time.Date(2000, 1, 1, hour, minute, 0, 0, time.UTC).Format("15:04")
	return true
}

// resolve returns the instant of the date and the time of day.
func (p *parser) resolve() (time.Time, error) {
	if p.clock == "" {
		p.clock = usualClock
	}
	on := func(d time.Time) (time.Time, bool, error) {
		local, err := time.Parse(dayLayout+" 15:04", d.Format(dayLayout)+" "+p.clock)
		if err != nil {
			return time.Time{}, false, err
		}
		at, ok := recurrence.Instant(local, p.now.Location())
		at = at.In(p.now.Location())
		return at, ok && at.Format(dayLayout+" 15:04") == local.Format(dayLayout+" 15:04"), nil
	}
	d, repeat := p.date, 0
	switch {
	case d.IsZero():
		d, repeat = p.today, 1
	case p.isWeekday:
		repeat = 7 // "Monday 9" on a Monday at ten is in a week
	}
	at, exists, err := on(d)
	if err == nil && repeat > 0 && !at.After(p.now) {
		at, exists, err = on(d.AddDate(0, 0, repeat))
	}
	if err == nil && !exists {
		err = ErrSkipped
	}
	if err != nil {
		return time.Time{}, err
	}
	return at, nil
}
