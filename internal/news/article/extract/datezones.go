package extract

import (
	"strings"
	"time"

	"dateline/internal/infra/timezone"
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
	if words != "" && r.src.Zone == nil {
		r.zone = guessZone(r.host, words)
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
func (r dateReader) useZoneOfPage(marks []dateCandidate) bool {
	if r.src.Zone != nil {
		return false
	}
	for _, d := range marks {
		if !d.isText || !d.HasZone || d.IsRelative {
			continue
		}
		_, own := d.Time.In(r.zone).Zone()
		if _, east := d.Local().Zone(); east != own && east != 0 {
			r.zone = d.Zone
			return true
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

// localDay returns a time in the zone in which it has the day that readers see. Metadata
// often has times in UTC, while the page shows the day in the zone of the site. If that is
// unknown, the date next to the headline tells it, else the one in the address.
func (r dateReader) localDay(d dates.Date, seen []dateCandidate) time.Time {
	local := d.Local()
	if _, east := local.Zone(); !d.HasTime || east != 0 {
		return local
	}
	own := d.Time.In(r.zone)
	if len(seen) == 0 || seen[0].shown.IsRelative || seen[0].shown.Time.IsZero() {
		return own
	}
	shown := seen[0].shown
	for _, t := range []time.Time{own, local, inZoneOf(d.Time, shown)} {
		if t.Format(time.DateOnly) == shown.Local().Format(time.DateOnly) {
			return t
		}
	}
	return own
}

// inZoneOf returns a time in the zone in which a clock shows a date, if that differs from
// UTC like a zone, or else in the nearest zone in which it is that day.
func inZoneOf(t time.Time, shown dates.Date) time.Time {
	y, mo, day := shown.Local().Date()
	h, mi, s := shown.Local().Clock()
	apart := time.Date(y, mo, day, h, mi, s, 0, time.UTC).Sub(t.UTC())
	switch zone := apart.Round(15 * time.Minute); {
	case shown.HasTime && (apart-zone).Abs() <= time.Minute:
		apart = zone
	case apart > 0: // the day begins later
		apart = apart.Truncate(time.Hour) + time.Hour
	default: // it has ended
		apart = (apart + 24*time.Hour).Truncate(time.Hour) - time.Hour
	}
	if apart.Abs() > maxOffset {
		return t
	}
	return t.In(time.FixedZone("", int(apart/time.Second)))
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

// guessZone returns the time zone of a site's country, else of its language, if nearly all news in
// it are written in one zone; else UTC.
func guessZone(host, lang string) *time.Location {
	name := zoneOfCountry(host[strings.LastIndex(host, ".")+1:])
	if name == "" {
		name = zoneOfLanguage(lang)
	}
	if name == "" {
		return time.UTC
	}
	zone, err := timezone.Load(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// zoneOfCountry returns the zone of a country by its top-level domain: the one in which most of its people live.
func zoneOfCountry(tld string) string {
	switch tld {
	case "vn":
		return "Asia/Ho_Chi_Minh"
	case "th", "kh", "la":
		return "Asia/Bangkok"
	case "sg", "my":
		return "Asia/Singapore"
	case "ph":
		return "Asia/Manila"
	case "cn":
		return "Asia/Shanghai"
	case "hk":
		return "Asia/Hong_Kong"
	case "tw":
		return "Asia/Taipei"
	case "jp":
		return "Asia/Tokyo"
	case "kr":
		return "Asia/Seoul"
	case "in":
		return "Asia/Kolkata"
	case "lk":
		return "Asia/Colombo"
	case "np":
		return "Asia/Kathmandu"
	case "bd":
		return "Asia/Dhaka"
	case "pk":
		return "Asia/Karachi"
	case "mm":
		return "Asia/Yangon"
	case "ae":
		return "Asia/Dubai"
	case "ir":
		return "Asia/Tehran"
	case "sa", "qa", "kw", "iq":
		return "Asia/Riyadh"
	case "il":
		return "Asia/Jerusalem"
	case "tr":
		return "Europe/Istanbul"
	case "de", "at", "ch", "fr", "it", "nl", "be", "lu", "es", "pl", "cz", "sk", "hu", "si", "hr", "rs", "dk", "no",
		"se":
		return "Europe/Berlin"
	case "uk", "ie", "pt":
		return "Europe/London"
	case "fi", "ee", "lv", "lt", "gr", "ro", "bg", "ua":
		return "Europe/Helsinki"
	case "by":
		return "Europe/Minsk"
	case "eg":
		return "Africa/Cairo"
	case "za":
		return "Africa/Johannesburg"
	case "ng":
		return "Africa/Lagos"
	case "ke":
		return "Africa/Nairobi"
	case "nz":
		return "Pacific/Auckland"
	case "ar":
		return "America/Argentina/Buenos_Aires"
	case "cl":
		return "America/Santiago"
	case "pe":
		return "America/Lima"
	case "br":
		return "America/Sao_Paulo"
	case "mx":
		return "America/Mexico_City"
	case "ca":
		return "America/Toronto"
	case "au":
		return "Australia/Sydney"
	case "id":
		return "Asia/Jakarta"
	case "ru":
		return "Europe/Moscow"
	}
	return ""
}

// zoneOfLanguage returns the zone of the country in which nearly all news in a language are written.
func zoneOfLanguage(lang string) string {
	switch lang {
	case "vi":
		return "Asia/Ho_Chi_Minh"
	case "th":
		return "Asia/Bangkok"
	case "ja":
		return "Asia/Tokyo"
	case "ko":
		return "Asia/Seoul"
	case "hi", "mr", "gu", "te", "kn", "ml":
		return "Asia/Kolkata"
	case "fa":
		return "Asia/Tehran"
	case "he":
		return "Asia/Jerusalem"
	case "tr":
		return "Europe/Istanbul"
	case "de", "it", "nl", "pl", "cs", "sk", "hu", "sl", "hr", "da", "no", "nb", "nn", "sv":
		return "Europe/Berlin"
	case "fi", "et", "lv", "lt", "el", "ro", "bg", "uk":
		return "Europe/Helsinki"
	}
	return ""
}
