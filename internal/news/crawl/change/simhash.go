package change

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// MaxNearDistance is the highest distance of two versions of the same story.
// The smallest distance seen between different articles of a site was 21.
const MaxNearDistance = 3

// shingleSize is how many words make up a feature. With single words, 67% of
// pairs of different articles of a site were equal; with three, none.
const shingleSize = 3

// MinWords is how many words a text needs for a meaningful SimHash.
const MinWords = 20

// SimHash is a fingerprint that differs in few bits between similar texts
// (Charikar, "Similarity estimation techniques from rounding algorithms",
// 2002). Zero means that the text is too short.
type SimHash uint64

// Distance counts the bits that differ.
func (s SimHash) Distance(other SimHash) int { return bits.OnesCount64(uint64(s ^ other)) }

// IsNear reports whether two texts are the same story.
func (s SimHash) IsNear(other SimHash) bool {
	return s != 0 && other != 0 && s.Distance(other) <= MaxNearDistance
}

// SimHashOf computes the fingerprint of an article's text (never of its HTML)
// over all sequences of three words.
func SimHashOf(text string) SimHash { return simHash(NormalizeText(text)) }

// simHash is SimHashOf of normalized text.
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

// words returns the words of a text in lower case: letters, digits and marks.
func words(text string) (all []string) {
	lowered := make([]byte, 0, len(text)+16)
	ends := make([]int, 0, len(text)/4) // start and end
	inside := false
	for _, r := range text {
		if word := r != ' ' && (isCommonLetter(r) || unicode.IsLetter(r) || unicode.IsDigit(r) ||
			unicode.IsMark(r)); word != inside {
			inside = word
			ends = append(ends, len(lowered))
		}
		if inside {
			lowered = utf8.AppendRune(lowered, toLower(r))
		}
	}
	if inside {
		ends = append(ends, len(lowered))
	}
	text = string(lowered)
	for i := 0; i+1 < len(ends); i += 2 {
		all = append(all, text[ends[i]:ends[i+1]])
	}
	return all
}

// toLower is unicode.ToLower with a fast path for Vietnamese.
func toLower(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9', 0xE0 <= r && r <= 0xFE:
		return r
	case 0x1EA0 <= r && r <= 0x1EF9:
		return r | 1
	}
	return unicode.ToLower(r)
}

// bitCounter counts how often each bit is set in a series of numbers. It counts
// eight bits at a time, in the bytes of a word: lane k has bit k of every byte.
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

// fingerprint is FNV-1a with a final mix, because the plain hash of short texts
// changes its high bits too little. It is stored, so it must not change.
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

// Blocks returns the four 16-bit parts of a SimHash. Two hashes that differ in
// at most three bits have at least one equal part at the same position, so an
// index on each part finds all of them (Manku, Jain, Das Sarma, "Detecting
// near-duplicates for web crawling", 2007).
func (s SimHash) Blocks() [4]uint16 {
	return [4]uint16{uint16(s & 0xFFFF), uint16(s >> 16 & 0xFFFF), uint16(s >> 32 & 0xFFFF), uint16(s >> 48)}
}
