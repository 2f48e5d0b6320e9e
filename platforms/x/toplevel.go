package x

import (
	"strings"
	"unicode"

	"dateline/platforms/toplevel"
)

// maxTopLevelLength is the length of the longest non-ASCII top-level domain
// (vermögensberatung).
const maxTopLevelLength = 17

// topLevel returns the length of a top-level domain that twitter-text knows, at
// the start of text, which follows a dot; 0: none. A top-level domain in letters
// must end there: the next character is no ASCII letter or digit, @, + or -.
func topLevel(text []rune) int {
	run := 0
	for run < len(text) && asciiAlnum(text[run]) {
		run++
	}
	if run > 1 && endsTopLevel(text, run) && toplevel.InTwitterText(toplevel.ASCII(string(text[:run]))) {
		return run
	}
	if n := internationalTopLevel(text, run); n > 0 {
		return n
	}
	if len(text) > 4 && strings.EqualFold(string(text[:4]), "xn--") {
		end := 4
		for end < len(text) && (text[end] == '-' || asciiAlnum(text[end])) {
			end++
		}
		if end > 4 {
			return end
		}
	}
	return 0
}

// internationalTopLevel returns the longest one with non-ASCII letters. The first
// run characters of text are ASCII.
func internationalTopLevel(text []rune, run int) int {
	limit := run
	for limit < len(text) && limit < maxTopLevelLength && inDomain(text[limit]) {
		limit++
	}
	for n := limit; n > run; n-- {
		if !endsTopLevel(text, n) {
			continue
		}
		if toplevel.InTwitterText(toplevel.ASCII(string(text[:n]))) {
			return n
		}
	}
	return 0
}

func endsTopLevel(text []rune, n int) bool {
	return n == len(text) || !asciiAlnum(text[n]) && text[n] != '@' && text[n] != '+' && text[n] != '-'
}

func asciiAlnum(r rune) bool {
	return r < unicode.MaxASCII && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
}
