package search

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Token is one word of a text.
type Token struct {
	Word     string // in lower case, without diacritics, without the s of an English plural
	Bare     string // the same with its s; what a prefix is compared with
	Marked   string // with its diacritics, in one spelling of them; equal to Bare where it has none
	Start    int    // bytes in the text
	End      int
	Attached bool // no white space lies between this and the token before: 30/4, covid-19
}

// HasMarks says whether the word is written with diacritics.
func (t Token) HasMarks() bool { return t.Marked != t.Bare }

// maxWordBytes is how many bytes of a word count: what is longer is no word.
const maxWordBytes = 64

// Tokens reads the words of a text: letters and digits, in any script that puts
// something between words.
func Tokens(text string) []Token {
	out := make([]Token, 0, len(text)/6+1)
	start, joined := -1, false
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case isWord(r):
			if start < 0 {
				start = i
			}
		default:
			if start >= 0 {
				out = appendToken(out, text, start, i, joined)
				start, joined = -1, true
			}
			if unicode.IsSpace(r) {
				joined = false
			}
		}
		i += size
	}
	if start >= 0 {
		out = appendToken(out, text, start, len(text), joined)
	}
	return out
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

func appendToken(out []Token, text string, start, end int, joined bool) []Token {
	bare, marked := fold(text[start:end])
	if bare == "" || len(bare) > maxWordBytes || len(marked) > 2*maxWordBytes {
		return out
	}
	return append(out, Token{Word: stem(bare), Bare: bare, Marked: marked, Start: start, End: end, Attached: joined && len(out) > 0})
}

// The tones of Vietnamese. Writers put one on either vowel of a pair (hòa, hoà),
// so a marked word has its tone at the end.
const tones = "\u0300\u0301\u0303\u0309\u0323"

// fold gives a word without case and diacritics, and one with its diacritics in
// one spelling.
func fold(word string) (bare, marked string) {
	if isASCII(word) {
		bare = strings.ToLower(word)
		return bare, bare
	}
	if bare, marked, ok := foldLatin(word); ok {
		return bare, marked
	}
	return foldUnicode(word)
}

// foldUnicode folds what is written in any way.
func foldUnicode(word string) (bare, marked string) {
	var plain, quality, tone strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(word)) {
		switch {
		case strings.ContainsRune(tones, r):
			tone.WriteRune(r)
		case unicode.Is(unicode.Mn, r):
			quality.WriteRune(r)
		default:
			quality.WriteRune(r)
			plain.WriteString(baseLetters(r))
		}
	}
	return plain.String(), norm.NFC.String(quality.String()) + tone.String()
}

// latinTable holds what foldAny makes of each letter of the Latin blocks, which is all
// that most words are written with: a search takes thousands of words apart to
// show what it found.
var latinTable = sync.OnceValue(func() *[latinLimit]foldedLetter { //nolint:gochecknoglobals // a table of Unicode's, made once
	var table [latinLimit]foldedLetter
	for r := range rune(latinLimit) {
		if unicode.Is(unicode.Latin, r) || r < utf8.RuneSelf && isWord(r) {
			bare, marked := foldUnicode(string(r))
			quality := strings.TrimRight(marked, tones)
			table[r] = foldedLetter{bare, quality, marked[len(quality):]}
		}
	}
	return &table
})

const latinLimit = 0x1F00 // behind Latin Extended Additional, which has Vietnamese

// foldedLetter is a letter without anything, with its marks but the tone, and the tone.
type foldedLetter struct{ plain, quality, tone string }

// foldLatin folds a word of single Latin letters; ok is false where another sign
// stands among them, such as a mark of its own.
func foldLatin(word string) (bare, marked string, ok bool) {
	table := latinTable()
	var plain, quality, tone [maxWordBytes]byte
	p, q, t := plain[:0], quality[:0], tone[:0]
	for _, r := range word {
		if r >= latinLimit || table[r].plain == "" {
			return "", "", false
		}
		letter := &table[r]
		p, q, t = append(p, letter.plain...), append(q, letter.quality...), append(t, letter.tone...)
	}
	return string(p), string(append(q, t...)), true
}

// baseLetters gives the letters for one that Unicode does not take apart.
func baseLetters(r rune) string {
	switch r {
	case 'đ', 'ð':
		return "d"
	case 'ø':
		return "o"
	case 'ł':
		return "l"
	case 'ı':
		return "i"
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'þ':
		return "th"
	}
	return string(r)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// stem takes off the s of English plurals by the three rules of D. Harman, How
// Effective Is Suffixing? (JASIS 42, 1991). No Vietnamese syllable ends with s.
func stem(word string) string {
	n := len(word)
	if n < 4 || word[n-1] != 's' || !isASCII(word) {
		return word
	}
	switch {
	case strings.HasSuffix(word, "ies"):
		if c := word[n-4]; c != 'e' && c != 'a' {
			return word[:n-3] + "y"
		}
	case strings.HasSuffix(word, "es"):
		if c := word[n-3]; c != 'a' && c != 'e' && c != 'o' {
			return word[:n-1]
		}
	case word[n-2] != 'u' && word[n-2] != 's':
		return word[:n-1]
	}
	return word
}

// Key is how values of fields are compared: tags, sections, authors.
func Key(value string) string {
	words := Tokens(value)
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.Bare
	}
	return strings.Join(parts, " ")
}
