package search

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"dateline/internal/infra/words"
)

// Token is a word of a text.
type Token struct {
	Word     string // lower case, without diacritics and English plural s, with i for the y of a Vietnamese syllable
	Bare     string // the same with plural s and y; compared with prefixes
	Marked   string // with normalized diacritics; equal to Bare if it has none
	Variant  string // Marked in the other spelling of a Vietnamese syllable: kĩ for kỹ; empty: there is none
	Start    int    // byte offsets
	End      int
	Attached bool // no white space between this token and the previous one: 30/4, covid-19
}

// HasMarks reports whether the word is written with diacritics.
func (t Token) HasMarks() bool { return t.Marked != t.Bare }

// maxWordBytes is the length above which a token is ignored.
const maxWordBytes = 64

// Tokens splits a text into words of letters and digits, for all scripts that separate
// words.
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
	t := Token{Word: stem(bare), Bare: bare, Marked: marked, Start: start, End: end, Attached: joined && len(out) > 0}
	if i, y, ok := spellings(bare, marked); ok {
		t.Word, t.Variant = bare[:len(bare)-1]+"i", i
		if marked == i {
			t.Variant = y
		}
	}
	return append(out, t)
}

// spellings returns the two spellings of an open Vietnamese syllable, with i and with y; see
// words.OpenOnsets.
func spellings(bare, marked string) (i, y string, ok bool) {
	last := len(bare) - 1
	if last < 1 || bare[last] != 'i' && bare[last] != 'y' {
		return "", "", false
	}
	if !words.IsOpenOnset(bare[:last]) {
		return "", "", false
	}
	tone, found := strings.CutPrefix(marked, bare) // the vowel has no mark but its tone
	if !found {
		return "", "", false
	}
	return bare[:last] + "i" + tone, bare[:last] + "y" + tone, true
}

// SpellingPairs returns the syllables with two spellings, without tones: with i and with y.
func SpellingPairs() map[string]string {
	pairs := make(map[string]string, len(words.OpenOnsets()))
	for _, onset := range words.OpenOnsets() {
		pairs[onset+"i"] = onset + "y"
	}
	return pairs
}

// Vietnamese tone marks. Writers place them on either vowel of a pair (hòa, hoà), so
// normalized words have their tone at the end.
const tones = "\u0300\u0301\u0303\u0309\u0323"

// fold returns a word without case and diacritics, and with normalized diacritics.
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

// foldUnicode folds any word.
func foldUnicode(word string) (bare, marked string) {
	var plain, quality, tone strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(word)) {
		switch {
		case strings.ContainsRune(tones, r):
			tone.WriteRune(r)
		case unicode.Is(unicode.Mn, r):
			quality.WriteRune(r)
		case r == 'ð' || r == 'ɖ': // capital Ð and Ɖ look like Đ, and are typed for it
			quality.WriteRune('đ')
			plain.WriteRune('d')
		default:
			quality.WriteRune(r)
			plain.WriteString(baseLetters(r))
		}
	}
	return plain.String(), norm.NFC.String(quality.String()) + tone.String()
}

// latinTable is a lookup table of folded Latin letters, which most words consist of:
// highlighting tokenizes thousands of words per search.
var latinTable = sync.OnceValue(func() *[latinLimit]foldedLetter { //nolint:gochecknoglobals // a constant table, computed once
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

const latinLimit = 0x1F00 // end of Latin Extended Additional, which contains Vietnamese

// foldedLetter is a letter without marks, with its marks except the tone, and the tone.
type foldedLetter struct{ plain, quality, tone string }

// foldLatin folds a word of precomposed Latin letters. ok is false for other words.
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

// baseLetters returns the base letters of a character that Unicode does not decompose.
func baseLetters(r rune) string {
	switch r {
	case 'đ':
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

// stem removes the s of English plurals with the rules of D. Harman, How Effective Is
// Suffixing? (JASIS 42, 1991). No Vietnamese syllable ends with s.
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

// Key folds the value of a field (tag, section, author) for comparison.
func Key(value string) string {
	tokens := Tokens(value)
	parts := make([]string, len(tokens))
	for i, w := range tokens {
		if parts[i] = w.Bare; w.Variant != "" {
			parts[i] = w.Word
		}
	}
	return strings.Join(parts, " ")
}
