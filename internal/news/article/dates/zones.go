package dates

import (
	"strings"
	"time"
	"unicode"

	"dateline/internal/infra/timezone"
)

// zone parses the time zone after the time of day or the day. day is in the zone of the
// site.
func (p *parser) zone(day time.Time, clockEnd, from, to int) (*time.Location, bool) {
	for _, i := range []int{clockEnd, to} {
		if i > from && i < to {
			continue
		}
		i = p.skip(i, "(", ",", "[", "uhr", "theo")
		if z, ok := p.zoneAt(day, i); ok {
			return z, true
		}
	}
	return nil, false
}

func (p *parser) zoneAt(day time.Time, i int) (*time.Location, bool) {
	named := p.is(i, "gmt", "utc", "ut")
	if named {
		i++
	}
	if z, ok := p.offset(i, named); ok {
		return z, true
	}
	if named || p.is(i, "z") {
		return time.UTC, true
	}
	if p.is(i+1, "/") {
		return p.ianaZone(i)
	}
	if z, ok := p.zoneInWords(i); ok {
		return z, true
	}
	w := p.at(i).raw
	if own, _ := day.Zone(); w != "" && own == w && hasLetter(w) { // CST in Shanghai
		return day.Location(), true
	}
	return zoneOf(w)
}

// offset parses +07:00, +0700 and +7. named reports that GMT or UTC comes before it;
// otherwise the sign may also be a dash, and the number that of comments.
func (p *parser) offset(i int, named bool) (*time.Location, bool) {
	n := p.at(i + 1)
	if !p.is(i, "+", "-", "−") || n.number < 0 || !named && n.afterSpace {
		return nil, false
	}
	h, m, end := n.number, 0, i+2
	switch {
	case n.digits == 4:
		h, m = h/100, h%100
	case p.is(end, ":") && p.at(end+1).digits == 2:
		m = p.num(end + 1)
		end += 2
	}
	next := p.at(end)
	if h > 14 || m > 59 || !named && (p.is(end, "/", "-", ".", "%") && !next.afterSpace || n.raw[0] != '0' &&
		hasLetter(next.text)) {
		return nil, false
	}
	sec := h*3600 + m*60
	if !p.is(i, "+") {
		sec = -sec
	}
	return time.FixedZone("", sec), true
}

func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// ianaZone parses a name of the IANA time zone database, such as Asia/Ho_Chi_Minh.
func (p *parser) ianaZone(i int) (*time.Location, bool) {
	switch p.at(i).raw {
	case "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
		"Etc", "US", "Canada", "Brazil", "Chile", "Mexico":
	default:
		return nil, false
	}
	var name strings.Builder
	name.WriteString(p.at(i).raw)
	for k := i + 1; k < len(p.tokens) && !p.at(k).afterSpace && !p.is(k, ")", "]", ",", ".", ";"); k++ {
		name.WriteString(p.at(k).raw)
	}
	return location(name.String())
}

// zoneInWords parses "Pacific Time", "Eastern Standard Time" and "giờ Việt Nam".
func (p *parser) zoneInWords(i int) (*time.Location, bool) {
	switch {
	case p.is(i, "giờ") && (p.is(i+1, "việt") && p.is(i+2, "nam") || p.is(i+1, "hà") && p.is(i+2, "nội")),
		p.is(i, "vietnam", "hanoi", "indochina") && p.is(i+1, "time"):
		return VietnamTime(), true
	case !p.is(i+1, "time") && (!p.is(i+1, "standard", "daylight") || !p.is(i+2, "time")):
		return nil, false
	}
	switch p.at(i).text {
	case "eastern":
		return zoneOf("ET")
	case "central":
		return zoneOf("CT")
	case "mountain":
		return zoneOf("MT")
	case "pacific":
		return zoneOf("PT")
	case "alaska":
		return zoneOf("AKT")
	}
	return nil, false
}

// zoneOf returns the zone of an abbreviation. Those that CLDR uses for both halves of the
// year (ET, PT) are places, because their offset depends on the day. Abbreviations are in
// capitals, because some are also words ("eat", "wit"), except those of RFC 5322, 4.3.
func zoneOf(w string) (*time.Location, bool) {
	switch w {
	case "ET":
		return location("America/New_York")
	case "CT":
		return location("America/Chicago")
	case "MT":
		return location("America/Denver")
	case "PT":
		return location("America/Los_Angeles")
	case "AKT":
		return location("America/Anchorage")
	}
	name := strings.ToUpper(w)
	minutes, ok := offsetOf(name)
	if !ok || w != name && !isRFC5322(name) {
		return nil, false
	}
	return time.FixedZone(name, minutes*60), true
}

func location(name string) (*time.Location, bool) {
	z, err := timezone.Load(name)
	return z, err == nil
}

func isRFC5322(name string) bool {
	switch name {
	case "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT":
		return true
	}
	return false
}

// offsetOf returns the minutes east of UTC of an abbreviation: those of RFC 5322, 4.3,
// the alphabetic ones in the IANA database 2025b, those that it had until 2017 and that
// sites still write (ICT, SGT, BRT), and the German ones of CLDR 48 (MEZ). Those with
// several meanings have that of RFC 5322, else the most common in news: BST is British,
// IST is Indian. SST and NST are missing, because Singapore and Nepal use them, too.
func offsetOf(name string) (minutes int, ok bool) {
	switch name {
	case "HST":
		return -10 * 60, true
	case "AKST", "HDT":
		return -9 * 60, true
	case "PST", "AKDT":
		return -8 * 60, true
	case "MST", "PDT":
		return -7 * 60, true
	case "CST", "MDT":
		return -6 * 60, true
	case "EST", "CDT", "COT", "PET":
		return -5 * 60, true
	case "AST", "EDT", "CLT", "VET":
		return -4 * 60, true
	case "ADT", "ART", "BRT", "CLST", "UYT":
		return -3 * 60, true
	case "NDT":
		return -2*60 - 30, true
	case "BRST":
		return -2 * 60, true
	case "WET", "WEZ":
		return 0, true
	case "BST", "CET", "MET", "MEZ", "WAT", "WEST", "WESZ":
		return 60, true
	case "CAT", "CEST", "EET", "MEST", "MESZ", "OEZ", "SAST":
		return 2 * 60, true
	case "EAT", "EEST", "IDT", "MSK", "OESZ", "TRT":
		return 3 * 60, true
	case "IRST":
		return 3*60 + 30, true
	case "GST", "SAMT":
		return 4 * 60, true
	case "AFT":
		return 4*60 + 30, true
	case "PKT", "UZT", "YEKT":
		return 5 * 60, true
	case "IST":
		return 5*60 + 30, true
	case "NPT":
		return 5*60 + 45, true
	case "OMST":
		return 6 * 60, true
	case "MMT":
		return 6*60 + 30, true
	case "ICT", "KRAT", "NOVT", "WIB":
		return 7 * 60, true
	case "AWST", "HKT", "IRKT", "MYT", "PHT", "SGT", "ULAT", "WITA":
		return 8 * 60, true
	case "JST", "KST", "WIT", "YAKT":
		return 9 * 60, true
	case "ACST":
		return 9*60 + 30, true
	case "AEST", "PGT", "VLAT":
		return 10 * 60, true
	case "ACDT":
		return 10*60 + 30, true
	case "AEDT", "MAGT":
		return 11 * 60, true
	case "FJT", "NZST", "PETT":
		return 12 * 60, true
	case "NZDT":
		return 13 * 60, true
	}
	return 0, false
}
