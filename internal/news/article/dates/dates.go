// Package dates reads the dates that news sites write in pages, feeds and sitemaps, in English
// and Vietnamese: from RFC 3339 in metadata and RFC 822 with all its misspellings to "Thứ bảy,
// 7/3/2026, 10:00 (GMT+7)" and "1 giờ trước" below a headline. The crawler and the reading of
// articles use the same.
package dates

import (
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// Date is a moment that was read, and how exactly the text named it.
type Date struct {
	Time    time.Time // in UTC
	HasTime bool      // the text names a time of day
	HasZone bool      // the text names its zone
}

// Options say what a text leaves open.
type Options struct {
	Zone       *time.Location // of the site; UTC where nil
	Now        time.Time      // for "1 giờ trước" and "7/3, 10:00"; such texts are not read where it is zero
	MonthFirst bool           // 3/7/2026 is the seventh of March
}

// maxTextBytes bounds what is looked at: dates are short.
const maxTextBytes = 200

// Parse reads a date. Forms of ISO 8601 and RFC 3339 come before all others, so that
// 2026-03-07 is never taken for the third of July.
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
	p := parser{tokens: tokenize(text), opts: o}
	if d, ok := p.absolute(); ok {
		return d, true
	}
	if d, ok := p.relative(); ok {
		return d, true
	}
	return p.dayWithoutYear()
}

// Time is Parse for those who ask for no more; zero: no date.
func (o Options) Time(text string) time.Time {
	d, _ := Parse(text, o)
	return d.Time
}

// VietnamTime is the time zone of Vietnam, which has one and no summer time.
func VietnamTime() *time.Location { return time.FixedZone("GMT+7", 7*60*60) }

// normalize composes letters and takes out what nobody sees.
func normalize(text string) string {
	return strings.NewReplacer("\u200b", "", "\u200e", "", "\u200f", "", "–", "-", "—", "-", "−", "-").Replace(norm.NFC.String(text))
}

// parseISO reads ISO 8601 and its relatives at the beginning of a text that holds no more.
func parseISO(s string, o Options) (Date, bool) {
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
		{"2006-01-02", false, false},
		{"2006/01/02", false, false},
		{"20060102", false, false},
	} {
		if len(s) < 8 || s[0] < '0' || s[0] > '9' {
			return Date{}, false
		}
		layout := f.layout
		if strings.HasSuffix(layout, " MST") {
			// Only UTC is certain: what other names mean depends on who reads them.
			if !strings.HasSuffix(s, " UTC") && !strings.HasSuffix(s, " GMT") {
				continue
			}
			s, layout, f.zoned = s[:len(s)-4]+"Z", "2006-01-02 15:04:05.999999999Z07:00", true
		}
		t, err := time.ParseInLocation(layout, s, o.Zone)
		if err == nil && plausible(t) {
			return Date{Time: t.UTC(), HasTime: f.clock, HasZone: f.zoned}, true
		}
	}
	return Date{}, false
}

// parseUnix reads seconds or milliseconds since 1970.
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

// plausible keeps what can be a date of publication.
func plausible(t time.Time) bool { return t.Year() >= 1900 && t.Year() <= 2200 }
