// Package when reads dates as news sites write them, in pages, feeds and URLs:
// RFC 3339 first, then RFC 822 with all its misspellings, then the way in which
// Vietnamese and English sites show dates to people.
package when

import (
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// maxText bounds what can be a date.
const maxText = 200

// Moment is a date that was read.
type Moment struct {
	Time time.Time
	// Exact is to what the date was given: a second, a minute, an hour, 24
	// hours, or more for "3 tuần trước".
	Exact time.Duration
	// Zoned says that the text named its time zone, or needs none.
	Zoned bool
}

// Reader reads dates. The zero value takes what has no zone for UTC.
type Reader struct {
	Now  time.Time      // that "1 giờ trước" counts from; zero: such dates are not read
	Zone *time.Location // of dates without one; nil: UTC
}

// Vietnam is the time zone of Vietnam, which has one and no summer time.
func Vietnam() *time.Location { return time.FixedZone("GMT+7", 7*60*60) }

// Read reads a date. It takes text with other words around it, as sites put
// weekdays and labels there, but not whole paragraphs.
func (r Reader) Read(text string) (Moment, bool) {
	if len(text) > maxText {
		return Moment{}, false
	}
	text = tidy(text)
	if text == "" {
		return Moment{}, false
	}
	for _, form := range []func(string) (Moment, bool){r.iso, r.compact, r.epoch, r.words, r.vietnamese, r.numbers, r.relative} {
		if m, ok := form(text); ok && plausible(m.Time) {
			return m, true
		}
	}
	return Moment{}, false
}

// Time is Read for those who ask for no more; zero: no date.
func (r Reader) Time(text string) time.Time {
	m, _ := r.Read(text)
	return m.Time
}

func plausible(t time.Time) bool { return t.Year() >= 1970 && t.Year() < 2200 }

// tidy writes text in small letters, composed, with single spaces.
func tidy(text string) string {
	text = strings.ToLower(norm.NFC.String(text))
	text = strings.NewReplacer("\u200b", "", "\u200e", "", "\u200f", "", "–", "-", "—", "-", "−", "-").Replace(text)
	return strings.Join(strings.Fields(text), " ")
}

// parts are the pieces of a date as they were read.
type parts struct {
	year, month, day     int
	hour, minute, second int
	nanos                int
	clock                bool // there is a time of day
	seconds              bool // with seconds
	zone                 *time.Location
}

// moment checks the pieces: 31/2 is no date.
func (r Reader) moment(p parts) (Moment, bool) {
	if p.month < 1 || p.month > 12 || p.day < 1 || p.day > 31 || p.hour > 24 || p.minute > 59 || p.second > 60 {
		return Moment{}, false
	}
	m := Moment{Exact: 24 * time.Hour, Zoned: p.zone != nil}
	zone := p.zone
	if zone == nil {
		zone = r.zone()
	}
	if p.clock {
		m.Exact = time.Minute
		if p.seconds {
			m.Exact = time.Second
		}
	}
	day := time.Date(p.year, time.Month(p.month), p.day, 0, 0, 0, 0, zone)
	if day.Day() != p.day {
		return Moment{}, false
	}
	m.Time = time.Date(p.year, time.Month(p.month), p.day, p.hour, p.minute, p.second, p.nanos, zone)
	return m, true
}

func (r Reader) zone() *time.Location {
	if r.Zone != nil {
		return r.Zone
	}
	return time.UTC
}
