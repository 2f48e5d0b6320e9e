package change

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// MaxNearDistance is the distance up to which two articles are the same story. Between
// different articles of one site the smallest seen was 21.
const MaxNearDistance = 3

// shingleSize is how many words make one feature. With single words two articles of
// one site were equal in 67 % of pairs, with three in none.
const shingleSize = 3

// MinWords is how many words an article needs for its SimHash to mean something.
const MinWords = 20

// SimHash is a fingerprint of which similar texts differ in few bits (Charikar,
// "Similarity estimation techniques from rounding algorithms", 2002). Zero means
// that the text is too short to have one.
type SimHash uint64

// Distance counts the bits that differ.
func (s SimHash) Distance(other SimHash) int { return bits.OnesCount64(uint64(s ^ other)) }

// IsNear says whether two texts are the same story.
func (s SimHash) IsNear(other SimHash) bool {
	return s != 0 && other != 0 && s.Distance(other) <= MaxNearDistance
}

// SimHashOf computes the fingerprint of an article's text (never of its HTML)
// over every three words that follow each other.
func SimHashOf(text string) SimHash { return simHash(NormalizeText(text)) }

// simHash is SimHashOf of text in normal form.
func simHash(text string) SimHash {
	words := words(text)
	if len(words) < MinWords {
		return 0
	}
	var ones bitCounter
	for i := 0; i+shingleSize <= len(words); i++ {
		ones.add(fingerprint(words[i : i+shingleSize]))
	}
	counts, features := ones.counts(), len(words)-shingleSize+1
	var s SimHash
	for bit, count := range counts {
		if 2*count > features {
			s |= 1 << bit
		}
	}
	return s
}

// words are the words of a text in small letters: letters, digits and marks.
func words(text string) (all []string) {
	small := make([]byte, 0, len(text)+16)
	ends := make([]int, 0, len(text)/4) // begin and end of each word
	inside := false
	for _, r := range text {
		if word := r != ' ' && (isCommonLetter(r) || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)); word != inside {
			inside = word
			ends = append(ends, len(small))
		}
		if inside {
			small = utf8.AppendRune(small, toLower(r))
		}
	}
	if inside {
		ends = append(ends, len(small))
	}
	lowered := string(small)
	for i := 0; i+1 < len(ends); i += 2 {
		all = append(all, lowered[ends[i]:ends[i+1]])
	}
	return all
}

// toLower is unicode.ToLower, with a short way for Vietnamese.
func toLower(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9', 0xE0 <= r && r <= 0xFE:
		return r
	case 0x1EA0 <= r && r <= 0x1EF9:
		return r | 1
	}
	return unicode.ToLower(r)
}

// bitCounter counts, of many numbers, how often each bit is set. It counts eight bits
// at a time, in the bytes of a word: lane k has bit k of every byte.
type bitCounter struct {
	lanes [8]uint64
	added int // to the lanes; a byte holds up to 255
	total [64]int
}

const everyByte = 0x0101010101010101

func (t *bitCounter) add(h uint64) {
	if t.added == 255 {
		t.flush()
	}
	t.added++
	for k := range t.lanes {
		t.lanes[k] += h >> k & everyByte
	}
}

func (t *bitCounter) flush() {
	for k, lane := range t.lanes {
		for b := range 8 {
			t.total[8*b+k] += int(lane >> (8 * b) & 0xFF) //nolint:gosec // a byte
		}
	}
	t.lanes, t.added = [8]uint64{}, 0
}

func (t *bitCounter) counts() [64]int {
	t.flush()
	return t.total
}

// fingerprint is FNV-1a with a final mix: the plain hash of short texts moves
// its high bits too little. It is stored, so it must not change.
func fingerprint(words []string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, word := range words {
		for i := range len(word) {
			h = (h ^ uint64(word[i])) * prime
		}
		h = (h ^ ' ') * prime
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Blocks are the four 16-bit parts of a SimHash. Of two that differ in at most
// three bits, at least one part is equal, at the same place: an index on each
// part finds all of them (Manku, Jain, Das Sarma, "Detecting near-duplicates for
// web crawling", 2007).
func (s SimHash) Blocks() [4]uint16 {
	return [4]uint16{uint16(s & 0xFFFF), uint16(s >> 16 & 0xFFFF), uint16(s >> 32 & 0xFFFF), uint16(s >> 48)}
}
