package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"dateline/platforms/network"
)

// Spans returns what most networks make clickable: addresses that begin with
// http:// or https://, and hashtags, in order and not overlapping.
func Spans(text string) []network.Span {
	links := Links(text)
	spans := slices.Concat(links, hashtags(text, links))
	slices.SortFunc(spans, func(a, b network.Span) int { return a.Start - b.Start })
	return spans
}

// Links returns the addresses in a text, without trailing punctuation and without
// a closing bracket that was opened before the address.
func Links(text string) []network.Span {
	var found []network.Span
	for at := 0; ; {
		i := strings.Index(text[at:], "://")
		if i < 0 {
			return found
		}
		i += at
		at = i + len("://")
		start := schemeStart(text, i)
		if start < 0 {
			continue
		}
		end := at
		for end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if unicode.IsSpace(r) || strings.ContainsRune("<>\"`", r) {
				break
			}
			end += n
		}
		if end = trimEnd(text, start, end); end > at {
			found = append(found, network.Span{Start: start, End: end, Kind: network.SpanLink, Target: text[start:end]})
			at = end
		}
	}
}

// schemeStart returns the start of the http or https that ends at i; -1 if there
// is none, or if it is part of a longer word.
func schemeStart(text string, i int) int {
	for _, scheme := range []string{"https", "http"} {
		start := i - len(scheme)
		if start < 0 || !strings.EqualFold(text[start:i], scheme) {
			continue
		}
		if before, _ := utf8.DecodeLastRuneInString(text[:start]); start > 0 &&
			(unicode.IsLetter(before) || unicode.IsDigit(before)) {
			return -1
		}
		return start
	}
	return -1
}

func trimEnd(text string, start, end int) int {
	for end > start {
		r, n := utf8.DecodeLastRuneInString(text[start:end])
		switch {
		case strings.ContainsRune(".,;:!?'…”’»", r):
		case r == ')' && strings.Count(text[start:end], "(") < strings.Count(text[start:end], ")"):
		case r == ']' && strings.Count(text[start:end], "[") < strings.Count(text[start:end], "]"):
		default:
			return end
		}
		end -= n
	}
	return end
}

// hashtags returns the hashtags outside of links: a # that does not follow a
// word, then letters, digits and underscores with at least one letter.
func hashtags(text string, links []network.Span) []network.Span {
	var found []network.Span
	for i := 0; i < len(text); i++ {
		if text[i] != '#' || slices.ContainsFunc(links,
			func(l network.Span) bool { return i >= l.Start && i < l.End }) {
			continue
		}
		if before, _ := utf8.DecodeLastRuneInString(text[:i]); i > 0 &&
			(IsWordRune(before) || strings.ContainsRune("#&/", before)) {
			continue
		}
		end, letter := i+1, false
		for end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if !IsWordRune(r) {
				break
			}
			letter = letter || unicode.IsLetter(r)
			end += n
		}
		if letter {
			found = append(found, network.Span{Start: i, End: end, Kind: network.SpanTag, Target: text[i+1 : end]})
			i = end - 1
		}
	}
	return found
}

// IsWordRune reports whether r can be part of a word: a letter, mark, digit or
// underscore.
func IsWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// FoldOffset returns the byte after which a network hides the rest of a text:
// after the given number of characters (grapheme clusters) or lines, whichever
// comes first. 0: all is shown.
func FoldOffset(text string, characters, lines int) int {
	seen, breaks, state := 0, 0, -1
	for at := 0; at < len(text); {
		if characters > 0 && seen == characters {
			return at
		}
		var cluster string
		cluster, _, _, state = uniseg.FirstGraphemeClusterInString(text[at:], state)
		if strings.Contains(cluster, "\n") {
			if breaks++; lines > 0 && breaks == lines && strings.TrimSpace(text[at:]) != "" {
				return at
			}
		}
		seen++
		at += len(cluster)
	}
	return 0
}
