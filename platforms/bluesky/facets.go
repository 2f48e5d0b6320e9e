package bluesky

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"dateline/platforms/network"
	"dateline/platforms/toplevel"
)

// entity is a clickable part of a text, in bytes.
type entity struct {
	start, end int
	kind       network.SpanKind
	target     string // the address, the name without @, the tag without #
}

// entities returns what Bluesky's own apps detect when a post is written
// (packages/api/src/rich-text/detection.ts): the server detects nothing. Of two
// that overlap, the earlier one is kept.
func entities(text string) []entity {
	var found []entity
	before := rune(' ') // the character before position i; the start of the text counts as a space
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		var e entity
		if isSpace(before) || before == '(' {
			e = entityAt(text, i, before)
		}
		if e.end > i {
			found = append(found, e)
			before, _ = utf8.DecodeLastRuneInString(text[:e.end])
			i = e.end
			continue
		}
		before = r
		i += size
	}
	return found
}

func entityAt(text string, i int, before rune) entity {
	switch r, _ := utf8.DecodeRuneInString(text[i:]); {
	case r == '@':
		return mentionAt(text, i)
	case (r == '#' || r == '＃') && before != '(':
		return tagAt(text, i)
	case r == '$':
		return cashtagAt(text, i)
	case isLetter(r):
		return linkAt(text, i)
	default:
		return entity{}
	}
}

// mentionAt matches a handle of letters, digits, dots and hyphens that ends at
// the end of a word and in a known top-level domain, or .test.
func mentionAt(text string, i int) entity {
	end := i + 1
	for end < len(text) && (isAlnum(rune(text[end])) || text[end] == '.' || text[end] == '-') {
		end++
	}
	if end < len(text) && text[end] == '_' {
		return entity{} // the word continues
	}
	name := strings.TrimRight(text[i+1:end], ".-")
	if !isHandle(name) || !knownTopLevel(name) && !strings.HasSuffix(name, ".test") {
		return entity{}
	}
	return entity{start: i, end: i + 1 + len(name), kind: network.SpanMention, target: name}
}

// linkAt matches everything up to the next space that begins with http:// or
// https:// or with a domain in a known top-level domain, without one trailing
// punctuation mark and an unopened closing bracket.
func linkAt(text string, i int) entity {
	rest := text[i:]
	if end := strings.IndexFunc(rest, isSpace); end >= 0 {
		rest = rest[:end]
	}
	uri, added := rest, ""
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") {
		if domain := domainLength(rest); domain == 0 || !knownTopLevel(rest[:domain]) {
			return entity{}
		}
		added = "https://"
	}
	if strings.IndexByte(".,;:!?", uri[len(uri)-1]) >= 0 {
		uri = uri[:len(uri)-1]
	}
	if strings.HasSuffix(uri, ")") && !strings.Contains(uri, "(") {
		uri = uri[:len(uri)-1]
	}
	if !isURI(added+uri) || len(uri) > 8000 {
		return entity{}
	}
	return entity{start: i, end: i + len(uri), kind: network.SpanLink, target: added + uri}
}

// isURI implements isValidUri of @atproto/syntax 0.7, which takes a percent sign that begins
// no escape. The server would refuse the whole post because of one invalid address. uri
// begins with http:// or https:// and has no spaces.
func isURI(uri string) bool {
	_, rest, _ := strings.Cut(uri, "://")
	return rest != "" && rest[0] != '/'
}

// domainLength returns the length of letters and digits with dots between them
// that begin with a letter; 0: not a domain.
func domainLength(text string) int {
	end, label := 0, 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isAlnum(rune(text[i])) {
			continue
		}
		if i == label {
			break
		}
		if label > 0 {
			end = i
		}
		if i == len(text) || text[i] != '.' {
			break
		}
		label = i + 1
	}
	return end
}

// The limits of a tag (lexicon app.bsky.richtext.facet#tag). Apps check only the first; the
// server would refuse the post because of the second.
const (
	maxTagGraphemes = 64
	maxTagBytes     = 640
)

// tagAt matches what follows a number sign up to a space or an invisible
// character, if it contains more than digits and punctuation.
func tagAt(text string, i int) entity {
	_, sign := utf8.DecodeRuneInString(text[i:])
	rest := text[i+sign:]
	if strings.HasPrefix(rest, "\ufe0f") { // the keycap emoji
		return entity{}
	}
	if end := strings.IndexFunc(rest, endsTag); end >= 0 {
		rest = rest[:end]
	}
	tag := strings.TrimRightFunc(rest, unicode.IsPunct)
	if !strings.ContainsFunc(tag, func(r rune) bool { return !unicode.IsPunct(r) && (r < '0' || r > '9') }) {
		return entity{}
	}
	if uniseg.GraphemeClusterCount(tag) > maxTagGraphemes || len(tag) > maxTagBytes {
		return entity{}
	}
	return entity{start: i, end: i + sign + len(tag), kind: network.SpanTag, target: tag}
}

// cashtagAt matches a dollar sign with one to five letters and digits.
func cashtagAt(text string, i int) entity {
	end := i + 1
	for end < len(text) && isAlnum(rune(text[end])) {
		end++
	}
	after, _ := utf8.DecodeRuneInString(text[end:])
	if n := end - i - 1; n < 1 || n > 5 || !isLetter(rune(text[i+1])) ||
		end < len(text) && !isSpace(after) && !strings.ContainsRune(".,;:!?)\"'’", after) {
		return entity{}
	}
	return entity{start: i, end: end, kind: network.SpanTag, target: strings.ToUpper(text[i:end])}
}

func endsTag(r rune) bool {
	return isSpace(r) || strings.ContainsRune("\u00ad\u2060\u200b\u200c\u200d\u20e2", r)
}

// isSpace is whitespace as in JavaScript's regular expressions, in which the
// rules are written.
func isSpace(r rune) bool {
	return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r)
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
func isAlnum(r rune) bool  { return isLetter(r) || r >= '0' && r <= '9' }

// knownTopLevel implements isValidDomain of detection.ts, which compares the end of a domain
// with a list in lower case: TS.BS (a doctor's title) is no domain.
func knownTopLevel(domain string) bool {
	return toplevel.Listed(domain[strings.LastIndexByte(domain, '.')+1:])
}

// isHandle reports whether a name is a valid handle.
// https://atproto.com/specs/handle
func isHandle(name string) bool {
	labels := strings.Split(name, ".")
	if len(labels) < 2 || len(name) > 253 {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool { return !isAlnum(r) && r != '-' }) {
			return false
		}
	}
	return isLetter(rune(labels[len(labels)-1][0]))
}
