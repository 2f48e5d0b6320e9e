package search

import "unicode/utf8"

// The letters of a word from which one typo is forgiven, and two.
const (
	oneTypo  = 4
	twoTypos = 8
)

// TyposAllowed is how many typos are forgiven in a word.
func TyposAllowed(word string) int {
	switch {
	case len(word) >= twoTypos:
		return 2
	case len(word) >= oneTypo:
		return 1
	default:
		return 0
	}
}

// isTypoOf reports whether a word of a text may have been meant.
func (t Token) isTypoOf(word string) bool {
	allowed := TyposAllowed(t.Word)
	return allowed > 0 && !t.HasMarks() && ascii(t.Word) && len(word)-len(t.Word) <= allowed && len(t.Word)-len(word) <= allowed && word[0] == t.Word[0] && Distance(t.Word, word) <= allowed
}

// Distance counts the letters to insert, drop, change or swap with the next
// (optimal string alignment). Its words are ASCII;
// others are far from all.
func Distance(a, b string) int {
	if utf8.RuneCountInString(a) != len(a) {
		return len(a) + len(b)
	}
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
