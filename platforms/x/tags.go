package x

import (
	"unicode"
	"unicode/utf8"

	"dateline/platforms/network"
)

// tags finds the mentions, hashtags and cashtags of a stretch without links that
// begins at byte offset of the whole text, after the character last.
func tags(text string, offset int, last rune) []network.Span {
	var found []network.Span
	for i, r := range text {
		rest := text[i+utf8.RuneLen(r):]
		n, kind := 0, network.SpanTag
		switch r {
		case '@', '＠':
			n, kind = mentionBytes(rest, last), network.SpanMention
		case '#', '＃':
			n = hashtagBytes(rest, last)
		case '$':
			if space(last) {
				n = cashtagLength([]rune(rest)) // of ASCII: as many bytes
			}
		}
		if n > 0 {
			found = append(found, network.Span{Start: offset + i, End: offset + len(text) - len(rest) + n, Kind: kind, Target: rest[:n]})
		}
		last = r
	}
	return found
}

// mentionBytes is the length of a user name: one to twenty letters, digits or
// underscores (js/src/regexp/validMentionOrList.js).
func mentionBytes(text string, last rune) int {
	if asciiAlnum(last) || last == '_' || last == '!' || last == '#' || last == '$' || last == '%' || last == '&' || last == '*' || last == '@' {
		return 0
	}
	n := 0
	for n < len(text) && n < 20 && (asciiAlnum(rune(text[n])) || text[n] == '_') {
		n++
	}
	if after, _ := utf8.DecodeRuneInString(text[n:]); n < len(text) && (after == '@' || latinAccent(after)) {
		return 0
	}
	return n
}

// hashtagBytes is the length of a hashtag: letters, marks, digits and
// underscores, of which one is no digit (js/src/regexp/validHashtag.js).
func hashtagBytes(text string, last rune) int {
	if inHashtag(last) || last == '&' {
		return 0
	}
	n, letter := 0, false
	for i, r := range text {
		if !inHashtag(r) {
			break
		}
		letter = letter || unicode.IsLetter(r) || unicode.IsMark(r)
		n = i + utf8.RuneLen(r)
	}
	if !letter {
		return 0
	}
	return n
}

func inHashtag(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '·' || r == '\u200C' || r == '\u200D'
}
