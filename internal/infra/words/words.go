// Package words compares words that are written in several ways.
package words

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// tones are the Vietnamese tone marks. Writers place them on either vowel of a pair (hòa,
// hoà).
const tones = "\u0300\u0301\u0303\u0309\u0323"

// Key returns a text in the form in which two spellings of it are equal: without case,
// composed or decomposed (UAX #15), with any spaces, with the tone on either vowel, with i
// or y in open Vietnamese syllables, and with Đ for Ð. Other marks distinguish words.
func Key(text string) string {
	folded := norm.NFKD.String(cases.Fold().String(text))
	folded = strings.Map(func(r rune) rune {
		switch {
		case r == 'ð' || r == 'ɖ': // capital Ð and Ɖ look like Đ, and are typed for it
			return 'đ'
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cf, r): // zero-width spaces, byte order marks
			return -1
		}
		return r
	}, folded)
	fields := strings.Fields(folded)
	for i, field := range fields {
		fields[i] = syllables(field)
	}
	return strings.Join(fields, " ")
}

// syllables moves tones to the end of each run of letters, and writes i for the y of open
// syllables.
func syllables(field string) string {
	var out, letters, tone strings.Builder
	flush := func() {
		base := letters.String()
		if last := len(base) - 1; last > 0 && base[last] == 'y' && IsOpenOnset(base[:last]) {
			base = base[:last] + "i"
		}
		out.WriteString(base + tone.String())
		letters.Reset()
		tone.Reset()
	}
	for _, r := range field {
		switch {
		case strings.ContainsRune(tones, r):
			tone.WriteRune(r)
		case unicode.IsLetter(r) || unicode.Is(unicode.Mn, r):
			letters.WriteRune(r)
		default:
			flush()
			out.WriteRune(r)
		}
	}
	flush()
	return out.String()
}

// OpenOnsets returns the consonants after which the vowel i of an open Vietnamese syllable
// is also spelled y. Both are official: i by the decision 240/QĐ of the Ministry of
// Education (1984), y by usage and in names (kĩ thuật, kỹ thuật). In tay and tai, thúy and
// thúi, or y and i they are different words: there the vowel has another before it, or no
// consonant.
func OpenOnsets() []string { return []string{"h", "k", "l", "m", "s", "t", "qu"} }

// IsOpenOnset reports whether a syllable that begins so has two spellings.
func IsOpenOnset(onset string) bool { return slices.Contains(OpenOnsets(), onset) }
