package x

import (
	"unicode"

	"dateline/platforms/network"
)

const (
	maxUserName = 20 // characters
	maxListName = 25 // of a list's name
)

// tag is a mention, hashtag or cashtag, as character positions of the text.
type tag struct {
	start, end int
	kind       network.SpanKind
}

// tags returns the mentions, hashtags and cashtags of the whole text, including
// those inside links: the character before one decides whether it counts, and may
// belong to a link.
func tags(text []rune) []tag {
	var found []tag
	for i := 0; i < len(text); i++ {
		n, kind := 0, network.SpanTag
		switch text[i] {
		case '@', '＠':
			if mayPrecedeMention(text[:i]) {
				n, kind = mentionLength(text[i+1:]), network.SpanMention
			}
		case '#', '＃':
			if mayPrecedeHashtag(text[:i]) {
				n = hashtagLength(text[i+1:])
			}
		case '$':
			if i == 0 || space(text[i-1]) {
				n = cashtagLength(text[i+1:])
			}
		}
		if n > 0 {
			found = append(found, tag{start: i, end: i + 1 + n, kind: kind})
			i += n
		}
	}
	return found
}

// mayPrecedeMention reports whether a mention may follow text: after a word or
// one of !#$%&*@ only when the word is RT (js/src/regexp/validMentionPrecedingChars.js).
func mayPrecedeMention(text []rune) bool {
	if len(text) == 0 {
		return true
	}
	switch last := text[len(text)-1]; last {
	case '_', '!', '#', '$', '%', '&', '*', '@', '＠':
		return false
	default:
		return !asciiAlnum(last) || endsWithRT(text)
	}
}

func endsWithRT(text []rune) bool {
	n := len(text) - 2
	if n < 0 || text[n] != 'R' && text[n] != 'r' || text[n+1] != 'T' && text[n+1] != 't' {
		return false
	}
	if n == 0 {
		return true
	}
	switch before := text[n-1]; before {
	case '_', '+', '~', '.', '-':
		return false
	default:
		return !asciiAlnum(before)
	}
}

// mentionLength returns the length of a user name, or of a user name and a list;
// 0: none (js/src/regexp/validMentionOrList.js, endMentionMatch.js).
func mentionLength(text []rune) int {
	n := 0
	for n < len(text) && n < maxUserName && (asciiAlnum(text[n]) || text[n] == '_') {
		n++
	}
	if n == 0 {
		return 0
	}
	n += listLength(text[n:])
	if n < len(text) && (text[n] == '@' || text[n] == '＠' || latinAccent(text[n])) || startsWithAuthority(text[n:]) {
		return 0
	}
	return n
}

// listLength returns the length of a slash and the name of a list.
func listLength(text []rune) int {
	if len(text) < 2 || text[0] != '/' || letters(text[1:]) == 0 {
		return 0
	}
	n := 1
	for n < len(text) && n <= maxListName && (asciiAlnum(text[n]) || text[n] == '_' || text[n] == '-') {
		n++
	}
	return n
}

// mayPrecedeHashtag reports whether a hashtag may follow text: not after a
// character of a hashtag, unless that is a variation selector
// (js/src/regexp/hashtagBoundary.js).
func mayPrecedeHashtag(text []rune) bool {
	if len(text) == 0 {
		return true
	}
	switch last := text[len(text)-1]; last {
	case '\uFE0E', emojiPresentation:
		return true
	default:
		return last != '&' && !inHashtag(last)
	}
}

// hashtagLength returns the length of a hashtag, which contains at least one
// letter or mark; 0: none (js/src/regexp/validHashtag.js, endHashtagMatch.js).
func hashtagLength(text []rune) int {
	if len(text) > 0 && (text[0] == emojiPresentation || text[0] == keycap) {
		return 0 // the emoji #️⃣
	}
	n, letter := 0, false
	for n < len(text) && inHashtag(text[n]) {
		letter = letter || unicode.IsLetter(text[n]) || unicode.IsMark(text[n])
		n++
	}
	if !letter || n < len(text) && (text[n] == '#' || text[n] == '＃') || startsWithAuthority(text[n:]) {
		return 0
	}
	return n
}

// startsWithAuthority reports whether the text before was the scheme of a URL
// (RFC 3986 §3).
func startsWithAuthority(text []rune) bool {
	return len(text) >= 3 && text[0] == ':' && text[1] == '/' && text[2] == '/'
}

// inHashtag reports whether r may be part of a hashtag: letters, marks, digits
// and the characters that some scripts use inside words
// (js/src/regexp/hashtagSpecialChars.js).
func inHashtag(r rune) bool {
	switch r {
	case '_', '·', '\u200C', '\u200D', '\uA67E', '\u05BE', '\u05F3', '\u05F4', '～', '〜', '゛', '゜', '゠', '・', '〃',
		'\u0F0B', '\u0F0C':
		return true
	default:
		return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
	}
}
