package x

import (
	"strings"
	"unicode"
)

// The character classes of twitter-text 3.1 (js/src/regexp), which ignore case.

// mayPrecedeLink reports whether a link may start right after r.
func mayPrecedeLink(r rune) bool {
	switch r {
	case '@', '＠', '$', '#', '＃', '\uFFFE', '\uFEFF', '\uFFFF':
		return false
	default:
		return !asciiAlnum(r)
	}
}

// inDomain reports whether r may be at the edge of a label: everything except
// ASCII punctuation, spaces, invalid characters and directional marks.
func inDomain(r rune) bool {
	switch {
	case r < unicode.MaxASCII:
		return asciiAlnum(r) || strings.ContainsRune("\"`", r) || r < '\t' || r > '\r' && r < ' '
	case r == '\u061C', r >= '\u200E' && r <= '\u200F', r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069':
		return false
	default:
		return !space(r) && !invalidChar(r)
	}
}

// space reports whether twitter-text treats r as a space.
func space(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == '\u0085', r == '\u00A0', r == '\u1680', r == '\u180E', r >= '\u2000' &&
		r <= '\u200A',
		r == '\u2028', r == '\u2029', r == '\u202F', r == '\u205F', r == '\u3000':
		return true
	default:
		return false
	}
}

// invalidChar reports whether X refuses posts with r.
func invalidChar(r rune) bool { return r == '\uFFFE' || r == '\uFEFF' || r == '\uFFFF' }

// latinAccent reports whether r is an accented Latin letter or a combining mark.
func latinAccent(r rune) bool { return latinRange(r) || latinRange(unicode.ToUpper(r)) }

func latinRange(r rune) bool {
	switch {
	case r >= '\u00C0' && r <= '\u024F' && r != '×' && r != '÷', r >= '\u0300' && r <= '\u036F', r >= '\u1E00' &&
		r <= '\u1EFF', r == '\u02BB':
		return true
	default:
		return strings.ContainsRune("\u0253\u0254\u0256\u0257\u0259\u025B\u0263\u0268\u026F\u0272\u0289\u028B", r)
	}
}

// pathChar reports whether r may be in a path, and pathEnd whether it may be at
// its end.
func pathChar(r rune) bool {
	switch r {
	case '!', '*', '\'', ';', ':', ',', '.', '$', '%', '[', ']', '–', '~', '@', '|', '&':
		return true
	default:
		return pathEnd(r)
	}
}

func pathEnd(r rune) bool {
	switch r {
	case '+', '-', '=', '_', '#', '/':
		return true
	default:
		return asciiAlnum(r) || latinAccent(r) || r >= '\u0400' && r <= '\u04FF'
	}
}

func queryChar(r rune) bool {
	switch r {
	case '!', '?', '*', '\'', '@', '(', ')', ';', ':', '+', '$', '%', '[', ']', '.', ',', '~', '|':
		return true
	default:
		return queryEnd(r)
	}
}

func queryEnd(r rune) bool {
	switch r {
	case '-', '_', '&', '=', '#', '/':
		return true
	default:
		return asciiAlnum(r)
	}
}
