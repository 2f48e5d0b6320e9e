package x

import (
	"unicode"

	"golang.org/x/text/unicode/norm"

	"dateline/platforms/network"
)

// Count returns the weighted length of twitter-text 3 (config/v3.json,
// js/src/parseTweet.js): in NFC, links have a fixed length, an emoji counts two,
// and every other character one or two.
func (x *X) Count(text string, limits network.Limits) int {
	runes := []rune(norm.NFC.String(text))
	weight, at := 0, 0
	if limits.CharactersPerURL > 0 {
		for _, l := range links(runes) {
			if l.start >= at {
				weight += x.weight(runes[at:l.start]) + limits.CharactersPerURL
				at = min(l.end, len(runes))
			}
		}
	}
	return weight + x.weight(runes[at:])
}

func (x *X) weight(text []rune) int {
	weight := 0
	for at := 0; at < len(text); {
		if n := x.emojis.length(text[at:]); n > 0 {
			weight += 2
			at += n
			continue
		}
		weight += weightOf(text[at])
		at++
	}
	return weight
}

// weightOf is one for scripts that need many letters and for most punctuation.
// Vietnamese letters with two marks (U+1EA0 and up) count two.
func weightOf(r rune) int {
	switch {
	case r <= 4351, r >= 8192 && r <= 8205, r >= 8208 && r <= 8223, r >= 8242 && r <= 8247:
		return 1
	default:
		return 2
	}
}

// cashtags counts cashtags such as $NYSE (js/src/regexp/validCashtag.js).
func cashtags(text string) int {
	runes, count := []rune(text), 0
	for i, r := range runes {
		if r == '$' && (i == 0 || space(runes[i-1])) && cashtagLength(runes[i+1:]) > 0 {
			count++
		}
	}
	return count
}

// cashtagLength returns the length of a cashtag: one to six letters, optionally
// one or two more after a dot or underscore, followed by a space, punctuation or
// the end; 0: none.
func cashtagLength(text []rune) int {
	n := letters(text)
	if n == 0 || n > 6 {
		return 0
	}
	if n < len(text) && (text[n] == '.' || text[n] == '_') {
		if more := letters(text[n+1:]); (more == 1 || more == 2) && endsCashtag(text, n+1+more) {
			return n + 1 + more
		}
	}
	if endsCashtag(text, n) {
		return n
	}
	return 0
}

func letters(text []rune) int {
	n := 0
	for n < len(text) && asciiAlnum(text[n]) && text[n] > '9' {
		n++
	}
	return n
}

func endsCashtag(text []rune, n int) bool {
	if n == len(text) || text[n] == '\uFEFF' {
		return true
	}
	if text[n] < unicode.MaxASCII {
		return !inDomain(text[n])
	}
	return space(text[n]) && text[n] != '\u0085' && text[n] != '\u180E'
}
