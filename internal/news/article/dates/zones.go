package dates

import (
	"strings"
	"time"
)

// zone parses the time zone after the time of day or the day.
func (p *parser) zone(clockEnd, from, to int) (*time.Location, bool) {
	for _, i := range []int{clockEnd, to} {
		if i > from && i < to {
			continue
		}
		i = p.skip(i, "(", ",")
		if z, ok := p.zoneAt(i); ok {
			return z, true
		}
	}
	return nil, false
}

func (p *parser) zoneAt(i int) (*time.Location, bool) {
	named := p.is(i, "gmt", "utc", "ut")
	if named {
		i++
	}
	if p.is(i, "+", "-", "−") && p.num(i+1) >= 0 && (named || p.at(i+1).digits >= 2 && !p.at(i+1).afterSpace) {
		h, m := p.num(i+1), 0
		switch {
		case p.at(i+1).digits == 4:
			h, m = h/100, h%100
		case p.is(i+2, ":") && p.at(i+3).digits == 2:
			m = p.num(i + 3)
		}
		if h > 14 || m > 59 {
			return nil, false
		}
		sec := h*3600 + m*60
		if !p.is(i, "+") {
			sec = -sec
		}
		return time.FixedZone("", sec), true
	}
	if named || p.is(i, "z") {
		return time.UTC, true
	}
	return zoneName(p.at(i).text)
}

// zoneName returns the zone of an abbreviation used by news pages. Ambiguous ones have
// their American meaning.
func zoneName(w string) (*time.Location, bool) {
	var hours int
	switch w {
	case "est":
		hours = -5
	case "edt":
		hours = -4
	case "cst":
		hours = -6
	case "cdt":
		hours = -5
	case "mst":
		hours = -7
	case "mdt":
		hours = -6
	case "pst":
		hours = -8
	case "pdt":
		hours = -7
	case "bst", "cet":
		hours = 1
	case "cest":
		hours = 2
	case "ict":
		hours = 7
	case "jst", "kst":
		hours = 9
	case "sgt", "hkt":
		hours = 8
	case "aest":
		hours = 10
	case "aedt":
		hours = 11
	case "ist":
		return time.FixedZone("IST", 5*3600+1800), true
	default:
		return nil, false
	}
	return time.FixedZone(strings.ToUpper(w), hours*3600), true
}
