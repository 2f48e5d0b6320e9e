package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Text is a tokenized document that queries are matched against.
type Text struct {
	doc   Document
	words map[string][]int // forms of words to their positions, in ascending order
	bare  []string         // sorted, for prefixes
}

// fieldGap is the distance between fields, so that phrases don't match across them.
const fieldGap = 10

// NewText tokenizes a document.
func NewText(d Document) *Text {
	t := &Text{doc: d, words: map[string][]int{}}
	at := 0
	for _, f := range append(append([]string{d.Title, d.Lead}, append(slices.Clone(d.Tags), d.Authors...)...), d.Body) {
		for _, token := range Tokens(f) {
			at++
			for _, form := range token.Forms() {
				t.words[form] = append(t.words[form], at)
			}
			t.bare = append(t.bare, token.Bare)
		}
		at += fieldGap
	}
	slices.Sort(t.bare)
	t.bare = slices.Compact(t.bare)
	return t
}

// Forms returns the forms by which a word can be found.
func (t Token) Forms() []string {
	forms := make([]string, 1, 3)
	forms[0] = t.Word
	if t.Bare != t.Word {
		forms = append(forms, t.Bare)
	}
	if t.HasMarks() {
		forms = append(forms, t.Marked)
	}
	return forms
}

// Strict returns the form of a query word for exact matching: with diacritics if it was
// typed with them.
func (t Token) Strict() string {
	if t.HasMarks() {
		return t.Marked
	}
	return t.Word
}

// places returns the positions of a word, in either of its spellings.
func (t *Text) places(w Token) []int {
	at := t.words[w.Strict()]
	if !w.HasMarks() || w.Variant == "" || len(t.words[w.Variant]) == 0 {
		return at
	}
	return slices.Sorted(slices.Values(slices.Concat(at, t.words[w.Variant])))
}

// Matches reports whether a text matches the query exactly.
func (q Query) Matches(t *Text) bool {
	for _, term := range q.Terms {
		if !term.StopWord && t.hasExact(term) == term.Excluded {
			return false
		}
	}
	return true
}

// HasPrefixes reports whether a text matches the prefixes of the query, included and
// excluded.
func (q Query) HasPrefixes(t *Text) bool {
	for _, term := range q.Terms {
		if term.Prefix && t.hasExact(term) == term.Excluded {
			return false
		}
	}
	return true
}

// Has reports whether a text contains a term, ignoring diacritics and, in words without
// diacritics, typos.
func (t *Text) Has(term Term) bool {
	if t.hasExact(term) {
		return true
	}
	if term.Quoted || term.Prefix {
		return false
	}
	for _, w := range term.Words {
		if len(t.words[w.Word]) == 0 && !slices.ContainsFunc(t.bare, w.isTypoOf) {
			return false
		}
	}
	return true
}

func (t *Text) hasExact(term Term) bool {
	last := len(term.Words) - 1
	if term.Prefix {
		if last > 0 {
			return t.hasPhrase(term.Words[:last]) && t.hasPrefix(term.Words[last].Bare)
		}
		return t.hasPrefix(term.Words[0].Bare)
	}
	return t.hasPhrase(term.Words)
}

func (t *Text) hasPrefix(prefix string) bool {
	i, _ := slices.BinarySearch(t.bare, prefix)
	return i < len(t.bare) && strings.HasPrefix(t.bare[i], prefix)
}

func (t *Text) hasPhrase(words []Token) bool {
	for _, at := range t.places(words[0]) {
		if t.wordsFollow(words[1:], at) {
			return true
		}
	}
	return false
}

func (t *Text) wordsFollow(words []Token, at int) bool {
	for i, w := range words {
		if _, found := slices.BinarySearch(t.places(w), at+i+1); !found {
			return false
		}
	}
	return true
}

// Matches reports whether a document passes the filters.
func (f Filters) Matches(d Document) bool {
	return (f.VisibleDomains == nil || slices.Contains(f.VisibleDomains, d.Domain)) &&
		(len(f.Domains) == 0 || slices.Contains(f.Domains, d.Domain)) &&
		(len(f.Languages) == 0 || slices.Contains(f.Languages, d.Language)) &&
		(len(f.Sections) == 0 || matchesAnyKey(f.Sections, d.Section)) &&
		(len(f.Tags) == 0 || matchesAnyKey(f.Tags, d.Tags...)) &&
		(len(f.Authors) == 0 || matchesAnyKey(f.Authors, d.Authors...)) &&
		(f.From.IsZero() || !d.Published.Before(f.From)) &&
		(f.To.IsZero() || d.Published.Before(f.To))
}

// matchesAnyKey reports whether have contains a wanted value. Values without letters or
// digits have no key and match nothing.
func matchesAnyKey(wanted []string, have ...string) bool {
	return slices.ContainsFunc(wanted, func(w string) bool {
		key := Key(w)
		return key != "" && slices.ContainsFunc(have, func(h string) bool { return Key(h) == key })
	})
}

// Word lengths from which one and two typos are tolerated.
const (
	minLengthOneTypo  = 4
	minLengthTwoTypos = 8
)

// TyposAllowed returns the number of typos that are tolerated in a word.
func TyposAllowed(word string) int {
	switch {
	case len(word) >= minLengthTwoTypos:
		return 2
	case len(word) >= minLengthOneTypo:
		return 1
	default:
		return 0
	}
}

// isTypoOf reports whether the token may be a misspelling of word.
func (t Token) isTypoOf(word string) bool {
	allowed := TyposAllowed(t.Word)
	return allowed > 0 && !t.HasMarks() && isASCII(t.Word) && len(word)-len(t.Word) <= allowed &&
		len(t.Word)-len(word) <= allowed && word[0] == t.Word[0] && Distance(t.Word, word) <= allowed
}

// Distance returns the optimal string alignment distance of two ASCII words: insertions,
// deletions, substitutions and transpositions. Other words are always distant.
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
