package x

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	maxURLLength    = 4096 // of a link with a scheme; longer ones are not links
	maxDomainLength = 1024 // limit of the search; DNS allows 253 (RFC 1035 §2.3.4)
	maxLabelLength  = 63   // of a domain in ASCII (RFC 1035 §2.3.4)
	maxSlugLength   = 40   // of t.co
)

// link is an address that X would shorten, as character positions of the text.
type link struct {
	start, end int
	address    string // as written
	scheme     bool   // begins with http:// or https://
}

// links returns what twitter-text 3.1 detects as links (extractUrlsWithIndices):
// addresses with a scheme, and domains with a known top-level domain without one.
// text is in NFC. Its regular expressions use lookahead and backtracking that Go
// does not have, so this is a scanner that makes the same choices.
func links(text []rune) []link {
	var found []link
	barren := 0 // no domain starts before this position
	for at := 0; at < len(text); {
		// A link is preceded by one character, which is consumed, except at the
		// start of the text.
		m, ok := match{}, false
		if mayPrecedeLink(text[at]) {
			m, ok = matchAt(text, at+1, &barren)
		}
		if !ok && at == 0 {
			barren = 0
			m, ok = matchAt(text, 0, &barren)
		}
		if !ok {
			at++
			continue
		}
		found = append(found, fromMatch(text, m)...)
		at, barren = m.end, m.end
	}
	return found
}

// match is a part of a text that has the form of a link.
type match struct {
	start, domain, domainEnd, path, end int // path is where the path starts; 0: none
}

// matchAt returns the link at start. If there is none, it sets barren to the
// position before which no link without a scheme can start, so that a long text
// without spaces is not scanned repeatedly.
func matchAt(text []rune, start int, barren *int) (match, bool) {
	scheme := schemeLength(text[start:])
	if scheme == 0 && start < *barren {
		return match{}, false
	}
	m := match{start: start, domain: start + scheme}
	end, none := domainEnd(text, m.domain)
	if end == 0 {
		if scheme == 0 {
			*barren = none
		}
		return match{}, false // "http" alone is not a domain either
	}
	m.domainEnd = end
	m.end = m.domainEnd
	if n := portLength(text[m.end:]); n > 0 {
		m.end += n
	}
	if n := pathLength(text[m.end:]); n > 0 {
		m.path = m.end
		m.end += n
	}
	m.end += queryLength(text[m.end:])
	return m, true
}

func schemeLength(text []rune) int {
	for _, scheme := range []string{"https://", "http://"} {
		if len(text) > len(scheme) && strings.EqualFold(string(text[:len(scheme)]), scheme) {
			return len(scheme)
		}
	}
	return 0
}

// domainEnd returns the end of the domain at start with the most labels; 0: none,
// and none starts before the position that is returned with it. All labels except
// the one before the top-level domain may contain underscores.
func domainEnd(text []rune, start int) (best, none int) {
	known := false // a top-level domain was found
	for label := start; ; {
		end, plain := label, true
		for end < len(text) && (inDomain(text[end]) || text[end] == '-' || text[end] == '_') {
			plain = plain && text[end] != '_'
			end++
		}
		dot := end < len(text) && text[end] == '.' && end < start+maxDomainLength
		if !dot || end == label || edge(text[label]) || edge(text[end-1]) {
			switch {
			case known:
				return best, start
			case dot:
				return 0, label
			default:
				return 0, end
			}
		}
		if n := topLevel(text[end+1:]); n > 0 {
			known = true
			if plain {
				best = end + 1 + n
			}
		}
		label = end + 1
	}
}

func edge(r rune) bool { return r == '-' || r == '_' }

// fromMatch returns the links of a match: the match itself if it has a scheme,
// otherwise the parts of its domain that consist of ASCII and Latin letters.
func fromMatch(text []rune, m match) []link {
	scheme := m.domain > m.start
	length := utf16Length(text[m.start:m.end]) + len("https://")
	if scheme {
		length += m.domain - m.start - len("https://")
	}
	if !validDomain(text[m.domain:m.domainEnd]) || length > maxURLLength {
		return nil
	}
	if !scheme {
		if m.start > 0 && strings.ContainsRune("-_./", text[m.start-1]) {
			return nil
		}
		return latinLinks(text, m)
	}
	end := m.end
	if m.path == m.domainEnd && strings.EqualFold(string(text[m.domain:m.domainEnd]), "t.co") {
		// t.co links consist of a slug only.
		slug := m.path + 1
		for slug < m.end && asciiAlnum(text[slug]) {
			slug++
		}
		if slug > m.path+1+maxSlugLength {
			return nil
		}
		if slug > m.path+1 {
			end = slug + queryLength(text[slug:m.end])
		}
	}
	return []link{{start: m.start, end: end, address: string(text[m.start:end]), scheme: true}}
}

// latinLinks returns the links of a match without a scheme. The last one gets the
// path; without a path there is no query either.
func latinLinks(text []rune, m match) []link {
	var found []link
	domain := text[m.domain:m.domainEnd]
	for at := 0; at < len(domain); {
		n := latinDomain(domain[at:])
		if n == 0 {
			at++
			continue
		}
		found = append(found, link{start: m.domain + at, end: m.domain + at + n, address: string(domain[at : at+n])})
		at += n
	}
	if len(found) > 0 && m.path > 0 {
		last := &found[len(found)-1]
		rest := text[m.domainEnd:m.end]
		last.address += string(rest)
		last.end += len(rest)
	}
	return found
}

// latinDomain returns the length of a domain whose labels consist of ASCII and
// Latin letters; 0: none. The top-level domain may use any script.
func latinDomain(text []rune) int {
	best := 0
	for label := 0; ; {
		end := label
		for end < len(text) && (text[end] == '-' || asciiAlnum(text[end]) || latinAccent(text[end])) {
			end++
		}
		if end == label || end == len(text) || text[end] != '.' {
			return best
		}
		if n := topLevel(text[end+1:]); n > 0 {
			best = end + 1 + n
		}
		label = end + 1
	}
}

// validDomain checks the length of the labels in ASCII. A domain with the prefix
// xn-- must be valid Punycode.
func validDomain(domain []rune) bool {
	if len(domain) >= 4 && string(domain[:4]) == "xn--" && !containsLatinDomain(domain) {
		return false
	}
	// Punycode treats these as dots too (RFC 3490 §3.1).
	dots := strings.NewReplacer("\u3002", ".", "\uFF0E", ".", "\uFF61", ".")
	for label := range strings.SplitSeq(string(domain), ".") {
		if n := asciiLength(dots.Replace(label)); n == 0 || n > maxLabelLength {
			return false
		}
	}
	return true
}

// asciiLength returns the length of a label in Punycode.
func asciiLength(label string) int {
	if !strings.ContainsFunc(label, func(r rune) bool { return r > unicode.MaxASCII }) {
		return len(label)
	}
	// A label that only looks encoded is encoded again.
	ascii, err := idna.Punycode.ToASCII(strings.ReplaceAll(label, "xn--", "xx--"))
	if err != nil {
		return maxLabelLength + 1
	}
	return len(ascii)
}

func containsLatinDomain(domain []rune) bool {
	for i := range domain {
		if latinDomain(domain[i:]) > 0 {
			return true
		}
	}
	return false
}

func utf16Length(text []rune) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF && r <= utf8.MaxRune {
			n++
		}
	}
	return n
}
