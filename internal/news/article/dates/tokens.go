package dates

import (
	"strings"
	"unicode"
)

// token is a number, a word in small letters, or a sign.
type token struct {
	text   string
	number int // of a number, else -1
	digits int
	spaced bool // white space stands before it
}

// maxTokens bounds the work on one text.
const maxTokens = 60

func tokenize(s string) []token {
	var out []token
	runes := []rune(strings.ToLower(s))
	spaced := false
	for i := 0; i < len(runes) && len(out) < maxTokens; {
		r := runes[i]
		k := i
		switch {
		case unicode.IsSpace(r):
			spaced = true
			i++
			continue
		case r >= '0' && r <= '9':
			n := 0
			for k < len(runes) && runes[k] >= '0' && runes[k] <= '9' {
				if n < 1e8 {
					n = n*10 + int(runes[k]-'0')
				}
				k++
			}
			out = append(out, token{text: string(runes[i:k]), number: n, digits: k - i, spaced: spaced})
		case unicode.IsLetter(r):
			for k < len(runes) && (unicode.IsLetter(runes[k]) || unicode.IsMark(runes[k])) {
				k++
			}
			out = append(out, token{text: string(runes[i:k]), number: -1, spaced: spaced})
		default:
			k++
			out = append(out, token{text: string(r), number: -1, spaced: spaced})
		}
		spaced = false
		i = k
	}
	return out
}
