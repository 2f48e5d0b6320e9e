package verify

import (
	"bytes"
	"slices"
	"strings"
)

// hasNumbers reports whether decimals in a text look like a position.
func hasNumbers(p []byte) bool {
	for at := 0; at < len(p); {
		dot := bytes.IndexByte(p[at:], '.')
		if dot < 0 {
			return hasAngles(p)
		}
		at += dot
		whole, fraction := digitsBefore(p, at), digitsAfter(p, at+1)
		n := at + 1 + fraction
		switch {
		case whole == 4 && (at == 4 || p[at-5] != '.') && isNMEA(p[n:]):
			return true
		case whole >= 1 && whole <= 3 && fraction >= 4 && (followed(p, at-whole, n) || labeled(p[:at-whole])):
			return true
		}
		at++
	}
	return hasAngles(p)
}

func digitsBefore(p []byte, at int) (n int) {
	for at-n > 0 && isDigit(p[at-n-1]) {
		n++
	}
	return n
}

func digitsAfter(p []byte, at int) (n int) {
	for at+n < len(p) && isDigit(p[at+n]) {
		n++
	}
	return n
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// isNMEA reports whether a hemisphere and a longitude follow a latitude.
func isNMEA(p []byte) bool {
	if len(p) < 8 || p[0] != ',' || p[1] != 'N' && p[1] != 'S' || p[2] != ',' {
		return false
	}
	whole := digitsAfter(p, 3)
	if whole != 5 {
		return false
	}
	rest := p[3+whole:]
	if len(rest) > 0 && rest[0] == '.' {
		rest = rest[1+digitsAfter(rest, 1):]
	}
	return len(rest) > 1 && rest[0] == ',' && (rest[1] == 'E' || rest[1] == 'W')
}

// followed reports whether a second decimal follows, so that one may be a latitude and
// the other a longitude.
func followed(p []byte, start, end int) bool {
	if start > 0 && p[start-1] == '.' {
		return false
	}
	next := end
	for next < len(p) && next < end+4 && strings.IndexByte(" ,;|\t\r\n", p[next]) >= 0 {
		next++
	}
	signed := next < len(p) && (p[next] == '+' || p[next] == '-')
	if signed {
		next++
	} else if next == end {
		return false
	}
	whole := digitsAfter(p, next)
	if whole < 1 || whole > 3 || next+whole >= len(p) || p[next+whole] != '.' || digitsAfter(p, next+whole+1) < 4 {
		return false
	}
	a, b := value(p[start:end]), value(p[next:next+whole+1+digitsAfter(p, next+whole+1)])
	return min(a, b) <= 90 && max(a, b) <= 180
}

func value(digits []byte) (n float64) {
	scale := 0.0
	for _, b := range digits {
		if b == '.' {
			scale = 1
			continue
		}
		n = n*10 + float64(b-'0')
		scale *= 10
	}
	return n / max(scale, 1)
}

// labeled reports whether a text ends with the name of a coordinate.
func labeled(p []byte) bool {
	p = p[max(0, len(p)-24):]
	name := bytes.TrimRight(p, " :=\"'([+-")
	if len(name) == len(p) || len(p)-len(name) > 5 {
		return false
	}
	from := len(name)
	for from > 0 && (name[from-1]|0x20 >= 'a' && name[from-1]|0x20 <= 'z') {
		from--
	}
	return slices.Contains([]string{"lat", "latitude", "lon", "lng", "longitude"}, strings.ToLower(string(name[from:])))
}

// hasAngles looks for degrees and minutes with a hemisphere.
func hasAngles(p []byte) bool {
	for {
		at := bytes.Index(p, []byte("°"))
		if at < 0 {
			return false
		}
		before := digitsBefore(p, at)
		p = p[at+len("°"):]
		minutes := digitsAfter(p, 0)
		if before == 0 || minutes == 0 || minutes > 2 || !bytes.HasPrefix(p[minutes:], []byte("'")) &&
			!bytes.HasPrefix(p[minutes:], []byte("′")) {
			continue
		}
		rest := p[:min(len(p), 24)]
		if i := bytes.IndexAny(rest, "NS"); i >= 0 && bytes.Contains(p[i:min(len(p), i+12)], []byte("°")) {
			return true
		}
	}
}
