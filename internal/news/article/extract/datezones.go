package extract

import (
	"strings"
	"time"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// readWords adjusts what the declared language suggests to that of the text: the order of
// day and month, and the zone of Vietnamese pages.
func (r dateReader) readWords() {
	r.readLanguage()
	words := ""
	if r.a.Origins[article.FieldLanguage].Source == article.FromText {
		words = r.a.Language
	}
	if words == "vi" && r.zone == time.UTC && r.src.Zone == nil {
		r.zone = guessZone("", "vi")
	}
	if r.monthFirst && words != "en" && len(r.a.Text) > 300 || words == "vi" || isDayFirst(r.doc.URL.Hostname()) {
		r.monthFirst = false // templates declare en-US by default
	}
}

// isDayFirst reports whether a host is in a country that writes the day first.
func isDayFirst(host string) bool {
	switch tld := host[strings.LastIndex(host, ".")+1:]; tld {
	case "us", "io", "co", "tv", "me", "ai", "fm", "cc", "ly", "to", "gg", "ca", "ph", "am", "pr", "gu", "fyi":
		return false
	default:
		return len(tld) == 2
	}
}

// useZoneOfPage adopts the zone that a visible date of the page names, unless the
// domain has one.
func (r dateReader) useZoneOfPage(marks []mark) bool {
	if r.src.Zone != nil {
		return false
	}
	for _, m := range marks {
		for _, d := range []*dateCandidate{m.published, m.updated} {
			if d == nil || !d.isText || !d.HasZone || d.IsRelative {
				continue
			}
			_, own := d.Time.In(r.zone).Zone()
			if _, east := d.Local().Zone(); east != own && east != 0 {
				r.zone = d.Zone
				return true
			}
		}
	}
	return false
}

// clockSkew is how far the clock of a site may be ahead of ours, and maxOffset how far
// any zone is ahead of UTC.
const (
	clockSkew = 15 * time.Minute
	maxOffset = 14 * time.Hour
)

// parseDate parses a date and decides how far it is believed.
func (r dateReader) parseDate(text string) (dates.Date, bool) {
	d, ok := dates.Parse(text, r.dateOptions())
	if !ok {
		return d, false
	}
	return r.believe(d)
}

// believe reports whether a date is neither before the web nor in the future. A time that
// is ahead by less than a day is that of another zone: of the site's, if it is not ahead
// there. Otherwise only its day is believed.
func (r dateReader) believe(d dates.Date) (dates.Date, bool) {
	now := r.src.Now
	if d.Time.Year() < 1990 {
		return d, false
	}
	if now.IsZero() || !d.Time.After(now.Add(clockSkew)) {
		return d, true
	}
	if d.Time.After(now.Add(maxOffset)) {
		return d, false
	}
	if !d.HasTime {
		return d, true // it is already that day elsewhere
	}
	y, mo, day := d.Local().Date()
	h, mi, s := d.Local().Clock()
	if local := time.Date(y, mo, day, h, mi, s, 0, r.zone); !local.After(now.Add(clockSkew)) {
		return dates.Date{Time: local.UTC(), Zone: r.zone, HasTime: true}, true
	}
	return dates.Date{Time: time.Date(y, mo, day, 0, 0, 0, 0, r.zone).UTC(), Zone: r.zone}, true
}

// dateOptions returns the time zone of the site, from its settings or its country.
func (r *builder) dateOptions() dates.Options {
	return dates.Options{Zone: r.zone, Now: r.src.Now, MonthFirst: r.monthFirst}
}

func sameDay(a, b time.Time, zone *time.Location) bool {
	if d := a.Sub(b); d > -time.Minute && d < time.Minute {
		return true
	}
	return a.In(zone).Format(time.DateOnly) == b.In(zone).Format(time.DateOnly) ||
		a.UTC().Format(time.DateOnly) == b.In(zone).Format(time.DateOnly)
}

// guessZone returns the time zone of a country with a single zone and no daylight saving
// time, else UTC.
func guessZone(host, lang string) *time.Location {
	var hours int
	switch tld := host[strings.LastIndex(host, ".")+1:]; tld {
	case "vn", "th", "kh", "la":
		hours = 7
	case "sg", "my", "ph", "cn", "hk", "tw":
		hours = 8
	case "jp", "kr":
		hours = 9
	case "in":
		return time.FixedZone("IST", 5*3600+1800)
	case "ae":
		hours = 4
	default:
		if lang != "vi" {
			return time.UTC
		}
		hours = 7
	}
	return time.FixedZone("", hours*3600)
}
