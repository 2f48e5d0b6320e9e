package pgsearch

import (
	"strconv"
	"strings"

	"dateline/internal/news/search"
)

// Limits of a tsvector (PostgreSQL manual, 12.11 "Limitations"): positions up to
// 16,383, and 256 of them for each word. The rest of a longer article is not indexed.
const (
	maxPosition         = 16383
	maxPositionsPerWord = 256
)

// maxVectorBytes limits the lexemes of a tsvector, which may have up to 1 MB of them.
const maxVectorBytes = 900_000

// fieldGap is the distance between fields, so that phrases don't match across them.
const fieldGap = 10

// tsvectorBuilder writes the text representation of a tsvector.
type tsvectorBuilder struct {
	positions map[string][]string
	order     []string
	position  int
	bytes     int
	withPairs bool // also index pairs of adjacent words
}

func newTSVectorBuilder(words int, paired bool) *tsvectorBuilder {
	return &tsvectorBuilder{
		positions: make(map[string][]string, words), order: make([]string, 0, words), withPairs: paired,
	}
}

// add appends the words of a field with a weight.
func (b *tsvectorBuilder) add(text, weight string) {
	before := ""
	for _, t := range search.Tokens(text) {
		if b.position >= maxPosition || b.bytes >= maxVectorBytes {
			return
		}
		b.position++
		for _, form := range t.Forms() {
			if places := b.addForm(form); len(places) < maxPositionsPerWord {
				b.positions[form] = append(places, strconv.Itoa(b.position)+weight)
			}
		}
		if b.withPairs && before != "" {
			b.addForm(pairName(before, t.Word))
		}
		before = t.Word
	}
	b.position += fieldGap
}

// addForm registers a form and returns its positions. Postgres aligns lexemes that
// have positions, which the byte count allows for.
func (b *tsvectorBuilder) addForm(form string) []string {
	places, known := b.positions[form]
	if !known {
		b.positions[form] = nil
		b.order = append(b.order, form)
		b.bytes += len(form) + 2
	}
	b.bytes += 4
	return places
}

// pairNameCount is the number of distinct names for word pairs. Pairs are hashed to
// keep the index small; a collision only costs reading a text without the phrase.
const pairNameCount = 1 << 20

// pairName returns the lexeme of two adjacent words: a plus sign, which no word starts
// with, and their FNV-1a hash. Names are stored, so the hash must not change.
func pairName(first, second string) string {
	h := uint64(14695981039346656037)
	for _, word := range [2]string{first, second} {
		for i := range len(word) {
			h = (h ^ uint64(word[i])) * 1099511628211
		}
		h = (h ^ ' ') * 1099511628211
	}
	return "+" + strconv.FormatUint((h^h>>32)%pairNameCount, 32)
}

func (b *tsvectorBuilder) String() string {
	var out strings.Builder
	out.Grow(len(b.order) * 16)
	for i, form := range b.order {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(quote(form))
		for j, place := range b.positions[form] {
			out.WriteByte(":,"[min(j, 1)])
			out.WriteString(place)
		}
	}
	return out.String()
}

// quote quotes a word for a tsvector or tsquery.
func quote(word string) string {
	if strings.ContainsAny(word, `'\`) { // in no token
		word = strings.ReplaceAll(strings.ReplaceAll(word, "'", "''"), `\`, `\\`)
	}
	return "'" + word + "'"
}

// tsvectors returns the values of title_words and words, and all lexemes.
func tsvectors(d search.Document) (titles, words string, lexemes []string) {
	short := newTSVectorBuilder(64, false)
	addTitleFields(short, d)
	long := newTSVectorBuilder(1024, true)
	addTitleFields(long, d)
	long.add(d.Body, "")
	for _, name := range timeBuckets(d.Published) {
		long.addForm(name)
	}
	return short.String(), long.String(), long.order
}

func addTitleFields(b *tsvectorBuilder, d search.Document) {
	b.add(d.Title, "A")
	b.add(d.Lead, "B")
	for _, tag := range d.Tags {
		b.add(tag, "B")
	}
	for _, author := range d.Authors {
		b.add(author, "C")
	}
	b.add(d.Section, "C")
}

// filterKeys returns the folded section, tags and authors for filters.
func filterKeys(d search.Document) []string {
	out := []string{}
	put := func(kind, value string) {
		if key := search.Key(value); key != "" {
			out = append(out, kind+key)
		}
	}
	put(sectionKey, d.Section)
	for _, t := range d.Tags {
		put(tagKey, t)
	}
	for _, a := range d.Authors {
		put(authorKey, a)
	}
	return out
}

const (
	sectionKey = "s:"
	tagKey     = "t:"
	authorKey  = "a:"
)
