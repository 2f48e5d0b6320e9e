// Package dates parses the dates of news pages, feeds and sitemaps in many languages,
// such as "Thứ Bảy, 7/3/2026, 14:05 (GMT+7)" and "3 hours ago".
package dates

import (
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Date is a parsed date.
type Date struct {
	Time    time.Time      // in UTC
	Zone    *time.Location // of the text, or of the site; nil: UTC
	HasTime bool           // the text contains a time of day
	HasZone bool           // the text contains a time zone

	IsRelative bool // the text counts back from the time of the fetch
}

// Local returns the time in the zone of the text, in which it has the day that readers
// see.
func (d Date) Local() time.Time {
	if d.Zone == nil {
		return d.Time.UTC()
	}
	return d.Time.In(d.Zone)
}

// Options provide what a text does not state.
type Options struct {
	Zone       *time.Location // of the site; default UTC
	Now        time.Time      // for relative dates and dates without a year, which are not parsed if it is zero
	MonthFirst bool           // 3/7/2026 is March 7
}

// maxTextBytes limits the input; dates are short.
const maxTextBytes = 200

// Parse parses a date. ISO 8601 and RFC 3339 are tried first, so that 2026-03-07 is
// never July 3.
func Parse(text string, o Options) (Date, bool) {
	if len(text) > maxTextBytes {
		return Date{}, false
	}
	if text = strings.TrimSpace(normalize(text)); text == "" {
		return Date{}, false
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if d, ok := parseISO(text, o); ok {
		return d, true
	}
	if d, ok := parseUnix(text); ok {
		return d, true
	}
	var buf [16]token
	p := parser{tokens: tokenize(buf[:0], text), opts: o}
	if d, ok := p.absolute(); ok {
		return d, true
	}
	if d, ok := p.relative(); ok {
		return d, true
	}
	return p.dayWithoutYear()
}

// Time returns the parsed time, or zero.
func (o Options) Time(text string) time.Time {
	d, _ := Parse(text, o)
	return d.Time
}

// VietnamTime returns the time zone of Vietnam, which has no daylight saving time.
func VietnamTime() *time.Location { return time.FixedZone("GMT+7", 7*60*60) }

// isOtherDigit reports whether a letter is a decimal digit of another script than Latin. Those of rare scripts beyond
// U+FFFF are not read.
func isOtherDigit(r rune) bool {
	return (r >= '\u0660' && r <= '\u1819' || r >= '０' && r <= '９') && unicode.IsDigit(r)
}

// digit returns the ASCII digit of another script's. All scripts have their ten digits in a row (Unicode, section 4.6).
func digit(r rune) rune {
	value := '0'
	for range 9 {
		if !unicode.IsDigit(r - 1) {
			break
		}
		value, r = value+1, r-1
	}
	return value
}

// HasDigit reports whether a text contains a decimal digit.
func HasDigit(s string) bool {
	const firstOther = 0xD9 // the first byte of U+0660
	others := false
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			return true
		}
		others = others || s[i] >= firstOther
	}
	return others && strings.ContainsFunc(s, isOtherDigit)
}

// normalize composes letters, converts digits to ASCII and removes invisible characters.
func normalize(text string) string {
	if !strings.ContainsFunc(text, func(c rune) bool { return c > unicode.MaxASCII }) {
		return text
	}
	if isThai(text) {
		text = spellOut(text)
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '\u200b', '\u200e', '\u200f':
			return -1
		case '–', '—', '−':
			return '-'
		case '：':
			return ':'
		}
		if isOtherDigit(r) {
			return digit(r)
		}
		return r
	}, norm.NFC.String(text))
}

func isThai(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= '\u0e00' && r <= '\u0e7f' })
}

// spellOut replaces the abbreviations of Thai months, which contain points, and removes that of the Buddhist era.
func spellOut(thai string) string {
	return strings.NewReplacer("ม.ค.", " มกราคม ", "ก.พ.", " กุมภาพันธ์ ", "มี.ค.", " มีนาคม ", "เม.ย.", " เมษายน ",
		"พ.ค.", " พฤษภาคม ", "มิ.ย.", " มิถุนายน ", "ก.ค.", " กรกฎาคม ", "ส.ค.", " สิงหาคม ", "ก.ย.", " กันยายน ",
		"ต.ค.", " ตุลาคม ", "พ.ย.", " พฤศจิกายน ", "ธ.ค.", " ธันวาคม ", "พ.ศ.", " ").Replace(thai)
}

// parseISO parses ISO 8601 and similar formats.
func parseISO(s string, o Options) (Date, bool) {
	if !startsWithYear(s) {
		return Date{}, false
	}
	for _, f := range []struct {
		layout       string
		clock, zoned bool
	}{
		{time.RFC3339Nano, true, true},
		{"2006-01-02T15:04:05.999999999Z0700", true, true},
		{"2006-01-02T15:04:05.999999999Z07", true, true},
		{"2006-01-02T15:04Z07:00", true, true},
		{"2006-01-02T15:04Z0700", true, true},
		{"2006-01-02 15:04:05.999999999Z07:00", true, true},
		{"2006-01-02 15:04:05.999999999 Z07:00", true, true},
		{"2006-01-02 15:04:05.999999999 -0700", true, true},
		{"2006-01-02 15:04:05.999999999 MST", true, false},
		{"20060102T150405Z0700", true, true},
		{"2006-01-02T15:04:05.999999999", true, false},
		{"2006-01-02 15:04:05.999999999", true, false},
		{"2006-01-02T15:04", true, false},
		{"2006-01-02 15:04", true, false},
		{"20060102T150405", true, false},
		{"20060102T1504", true, false},
		{"20060102150405", true, false},
		{"2006-01-02", false, false},
		{"2006/01/02", false, false},
		{"20060102", false, false},
	} {
		layout := f.layout
		if strings.HasSuffix(layout, " MST") {
			// Only UTC is unambiguous among zone abbreviations.
			if !strings.HasSuffix(s, " UTC") && !strings.HasSuffix(s, " GMT") {
				continue
			}
			s, layout, f.zoned = s[:len(s)-4]+"Z", "2006-01-02 15:04:05.999999999Z07:00", true
		}
		t, err := time.ParseInLocation(layout, s, o.Zone)
		if err == nil && !f.clock {
			t = startOfDay(t, t.Add(time.Hour).Day())
		}
		if err == nil && plausible(t) {
			return Date{Time: t.UTC(), Zone: t.Location(), HasTime: f.clock, HasZone: f.zoned}, true
		}
	}
	return Date{}, false
}

// startsWithYear reports whether a text starts like the formats of parseISO.
func startsWithYear(s string) bool {
	if len(s) < 8 {
		return false
	}
	for _, c := range []byte(s[:4]) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s[4] == '-' || s[4] == '/' || s[4] >= '0' && s[4] <= '9'
}

// parseUnix parses Unix time in seconds or milliseconds.
func parseUnix(s string) (Date, bool) {
	if len(s) != 10 && len(s) != 13 {
		return Date{}, false
	}
	var n int64
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return Date{}, false
		}
		n = n*10 + int64(c-'0')
	}
	t := time.Unix(n, 0)
	if len(s) == 13 {
		t = time.UnixMilli(n)
	}
	return Date{Time: t.UTC(), HasTime: true, HasZone: true}, plausible(t)
}

// plausible reports whether a time may be a publication date.
func plausible(t time.Time) bool { return t.Year() >= 1900 && t.Year() <= 2200 }
