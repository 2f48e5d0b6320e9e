package mastodon

import (
	"strings"
	"unicode"

	"dateline/platforms/toplevel"
)

// entity is a link or a mention, as byte offsets of a text.
type entity struct {
	start, end int
	url        bool
	local      int // mentions: end of the user name
}

// entities returns the links and mentions that Mastodon finds
// (app/lib/extractor.rb, config/initializers/twitter_regex.rb), because only
// those are counted at a reduced length. Ruby's regular expressions use
// lookbehind and backtracking that Go does not have, so this is a scanner. Of two
// that overlap, the earlier one is kept.
func entities(text string) []entity {
	var found []entity
	before := rune(-1) // the character before position i
	for i := 0; i < len(text); {
		r, size := decode(text[i:])
		var e entity
		switch {
		case r == '@':
			e = mentionAt(text, i, before)
		case before < 0 || mayPrecedeURL(before):
			e = urlAt(text, i)
		}
		if e.end > i {
			found = append(found, e)
			before, _ = decodeLast(text[:e.end])
			i = e.end
			continue
		}
		before = r
		i += size
	}
	return found
}

// urlAt implements valid_url, with the schemes that it allows.
func urlAt(text string, i int) entity {
	rest := text[i:]
	at := -1
	for _, scheme := range []string{
		"https://", "http://", "dat://", "dweb://", "ipfs://", "ipns://", "ssb://",
		"gopher://", "gemini://",
	} {
		if len(rest) > len(scheme) && strings.EqualFold(rest[:len(scheme)], scheme) {
			at = len(scheme)
			break
		}
	}
	if at < 0 {
		return entity{}
	}
	domain := domainLength(rest[at:])
	if domain == 0 {
		return entity{}
	}
	at += domain
	if port := digits(rest[at:]); port > 0 {
		at += port
	}
	at += pathLength(rest[at:])
	at += queryLength(rest[at:])
	return entity{start: i, end: i + at, url: true}
}

// domainLength returns the length of a domain with a known top-level domain at
// the start of text; 0: none.
func domainLength(text string) int {
	best, label, dots := 0, 0, 0
	for i := 0; ; {
		r, size := decode(text[i:])
		if size > 0 && inDomain(r) {
			i += size
			continue
		}
		if i == label || edge(text[label]) || edge(text[i-1]) {
			return best
		}
		if dots > 0 && (size == 0 || r != '@' && r != '+') && knownTopLevel(text[label:i]) {
			best = i
		}
		if r != '.' || size == 0 {
			return best
		}
		dots++
		i += size
		label = i
	}
}

func edge(b byte) bool { return b == '-' || b == '_' }

// knownTopLevel implements valid_gTLD, valid_ccTLD and valid_punycode.
func knownTopLevel(label string) bool {
	const punycode = "xn--"
	if len(label) > len(punycode) && strings.EqualFold(label[:len(punycode)], punycode) {
		return true
	}
	return toplevel.InTwitterText(toplevel.ASCII(label))
}

// inDomain implements valid_subdomain: everything except punctuation, spaces and
// control characters.
func inDomain(r rune) bool {
	if r < 0x80 {
		return r == '-' || r == '_' || isAlnum(r)
	}
	return !unicode.IsSpace(r) && !invalid(r)
}

func digits(text string) int {
	if len(text) < 2 || text[0] != ':' {
		return 0
	}
	n := 1
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n == 1 {
		return 0
	}
	return n
}

// pathLength implements valid_url_path after its slash: balanced brackets are
// part of it, trailing punctuation is not.
func pathLength(text string) int {
	if text == "" || text[0] != '/' {
		return 0
	}
	end := 1
	for i := 1; i < len(text); {
		r, size := decode(text[i:])
		if r == '(' {
			group := bracketLength(text[i:], 1)
			if group == 0 {
				break
			}
			i += group
			end = i
			continue
		}
		if !inPath(r) {
			break
		}
		i += size
		if !strings.ContainsRune(`!*"'「」;:=,.$%[]~&|@`, r) {
			end = i
		}
	}
	return end
}

func inPath(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune("<>()?", r) }

// bracketLength returns the length of a balanced, non-empty group of brackets
// with at most one nested level; 0: none.
func bracketLength(text string, inside int) int {
	content := false
	for i := 1; i < len(text); {
		r, size := decode(text[i:])
		switch {
		case r == ')' && content:
			return i + size
		case r == '(' && inside > 0:
			group := bracketLength(text[i:], inside-1)
			if group == 0 {
				return 0
			}
			i += group
			content = true
			continue
		case !inPath(r):
			return 0
		}
		content = true
		i += size
	}
	return 0
}

func queryLength(text string) int {
	if text == "" || text[0] != '?' {
		return 0
	}
	end := 0
	for i := 1; i < len(text); {
		r, size := decode(text[i:])
		ends := isAlnum(r) || r >= 0xA0 && !unicode.IsSpace(r) || strings.ContainsRune("_&=#/-", r)
		if !ends && !strings.ContainsRune(`!?*'();:+$%[].,~|@^`, r) {
			break
		}
		i += size
		if ends {
			end = i
		}
	}
	return end
}

// mayPrecedeURL implements valid_url_preceding_chars.
func mayPrecedeURL(r rune) bool {
	return !isAlnum(r) && !strings.ContainsRune("@＠$#＃", r) && !invalid(r)
}

// invalid reports whether r is one of twitter-text's INVALID_CHARACTERS.
func invalid(r rune) bool {
	return r == 0xFFFE || r == 0xFEFF || r == 0xFFFF || r >= 0x202A && r <= 0x202E
}

// mentionAt implements Account::MENTION_RE (app/models/account.rb).
func mentionAt(text string, i int, before rune) entity {
	if before == '=' || before == '/' || before >= 0 && isWord(before) {
		return entity{}
	}
	name := userLength(text[i+1:])
	if name == 0 {
		return entity{}
	}
	local := i + 1 + name
	end := local
	if strings.HasPrefix(text[end:], "@") {
		end += hostLength(text[end:])
	}
	// end_mention_match: a mention must not be followed by more of a name.
	after := text[end:]
	if r, size := decode(after); size > 0 && (r == '@' || r == '＠' || latinAccent(r)) ||
		strings.HasPrefix(after, "://") {
		return entity{}
	}
	return entity{start: i, end: end, local: local}
}

func userLength(text string) int {
	end := 0
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '_' || isAlnum(rune(b)):
			end = i + 1
		case (b == '.' || b == '-') && end > 0:
		default:
			return end
		}
	}
	return end
}

// hostLength returns the length of "@domain", which ends in a letter or digit and
// has at least two characters; 0: none.
func hostLength(text string) int {
	end, count := 0, 0
	for i := 1; i < len(text); {
		r, size := decode(text[i:])
		if r != '.' && r != '-' && !isWord(r) {
			break
		}
		i += size
		count++
		if isWord(r) && count > 1 {
			end = i
		}
	}
	return end
}

func isAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// isWord implements Ruby's [[:word:]].
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc)
}

// latinAccent reports whether r is one of twitter-text's LATIN_ACCENTS, which
// include Vietnamese letters.
func latinAccent(r rune) bool {
	return r >= 0xC0 && r <= 0x24F && r != 0xD7 && r != 0xF7 ||
		strings.ContainsRune("ɓɔɖɗəɛɣɨɯɲʉʋʻ", r) || r >= 0x300 && r <= 0x36F || r >= 0x1E00 && r <= 0x1EFF
}
