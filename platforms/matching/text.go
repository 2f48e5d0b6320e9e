package matching

import (
	"html"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Verdict is the result of comparing a listed text with the text that was sent.
type Verdict int

// The verdicts. Unclear means that the server may have rewritten the text, so
// nothing may be sent again.
const (
	Different Verdict = iota
	Unclear
	Same
)

// minSimilarity is the similarity below which two texts are clearly different.
// About three in a thousand pairs of headlines of different articles are more
// similar than that.
const minSimilarity = 0.35

// gramLength is the number of letters and digits per n-gram.
const gramLength = 4

// shortTextLimit is the number of letters and digits up to which a text is too
// short to be clearly different from an empty text.
const shortTextLimit = 20

// Comparer compares listed texts with the text that was sent. It is not safe for
// concurrent use.
type Comparer struct {
	canonical string
	letters   []rune
}

// NewComparer returns a Comparer for the text that was sent.
func NewComparer(sent string) *Comparer {
	return &Comparer{canonical: canonical(sent), letters: letters(sent)}
}

// Compare compares the text that was sent with a listed text. Same means that
// their canonical forms are equal: HTML entities, Markdown and its escapes, list
// and quote markers, typographic punctuation, the scheme and trailing slash of
// links, Unicode normalization, invisible characters and whitespace are ignored.
// Different means that they share less than about a third of their n-grams.
func (c *Comparer) Compare(listed string) Verdict {
	if c.canonical == canonical(listed) {
		return Same
	}
	a, b := c.letters, letters(listed)
	switch {
	case len(a) == 0 && len(b) == 0:
		return Unclear // emoji or punctuation, which servers rewrite freely
	case len(a) == 0 || len(b) == 0:
		if len(a)+len(b) > shortTextLimit {
			return Different
		}
		return Unclear
	case similarity(a, b) < minSimilarity:
		return Different
	default:
		return Unclear
	}
}

// What servers rewrite. Each post is compared with the network's response, and compiling
// a pattern takes longer than matching it.
var (
	tagPattern     = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)                                // HTML that some servers accept and strip
	linkPattern    = regexp.MustCompile(`\[([^\[\]\n]+)\]\([^()\s]+\)`)                      // CommonMark 6.3, inline links
	markerPattern  = regexp.MustCompile(`(?m)^[ \t]*(?:[-+*•>]|#{1,6}|[0-9]{1,9}[.)])[ \t]`) // CommonMark 4.2, 5.1, 5.2
	addressPattern = regexp.MustCompile(`(?i)\b(?:https?://|www\.)[^\s<>]+`)
)

// canonical returns the form of a text that rewriting does not change.
func canonical(text string) string {
	for range 3 { // one escape level per step
		plain := html.UnescapeString(text)
		if plain == text {
			break
		}
		text = plain
	}
	text = norm.NFKC.String(text)
	text = tagPattern.ReplaceAllString(text, "")
	text = linkPattern.ReplaceAllString(text, "$1")
	text = markerPattern.ReplaceAllString(text, "")
	text = addressPattern.ReplaceAllStringFunc(text, canonicalAddress)
	var out strings.Builder
	for _, r := range text {
		if c := canonicalRune(r); c != 0 {
			out.WriteRune(c)
		}
	}
	return out.String()
}

// canonicalAddress removes what servers add to a link or strip from it.
func canonicalAddress(address string) string {
	for _, prefix := range []string{"https://", "http://", "www."} {
		if len(address) >= len(prefix) && strings.EqualFold(address[:len(prefix)], prefix) {
			address = address[len(prefix):]
		}
	}
	host, rest, _ := strings.Cut(address, "/")
	return strings.ToLower(host) + strings.TrimRight(rest, "/")
}

// canonicalRune returns the plain form of a character, or 0 for a character to
// ignore.
func canonicalRune(r rune) rune {
	switch r {
	case '*', '_', '~', '`', '\\': // Markdown's marks and its escape (CommonMark 2.4)
		return 0
	case '‘', '’', '‚', '′':
		return '\''
	case '“', '”', '„', '″':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―':
		return '-'
	case '\uFE0E', '\uFE0F': // variation selectors
		return 0
	}
	if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.IsControl(r) {
		return 0
	}
	return r
}

// letters returns the letters and digits of a text without its links, in
// lowercase.
func letters(text string) []rune {
	text = addressPattern.ReplaceAllString(html.UnescapeString(text), " ")
	var out []rune
	for _, r := range norm.NFKC.String(text) {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			out = append(out, unicode.ToLower(r))
		}
	}
	return out
}

// similarity returns the share of the shorter text's n-grams that the longer text
// contains. A text that was truncated or extended is therefore similar to itself.
func similarity(a, b []rune) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := min(gramLength, len(a))
	have := map[string]int{}
	for i := 0; i+n <= len(b); i++ {
		have[string(b[i:i+n])]++
	}
	shared, all := 0, len(a)-n+1
	for i := 0; i+n <= len(a); i++ {
		if g := string(a[i : i+n]); have[g] > 0 {
			have[g]--
			shared++
		}
	}
	return float64(shared) / float64(all)
}
