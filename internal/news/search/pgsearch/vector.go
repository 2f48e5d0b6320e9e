package pgsearch

import (
	"strconv"
	"strings"

	"dateline/internal/news/search"
)

// A tsvector's bounds, see "Limitations" in PostgreSQL's manual, 12.11: places
// up to 16,383 and 256 of them for each word. What stands further back of a very
// long article is not indexed.
const (
	maxPosition         = 16383
	maxPositionsPerWord = 256
)

// maxVectorBytes bounds the words of a tsvector, which may have a megabyte of them.
const maxVectorBytes = 900_000

// fieldGap lies between fields, so that no phrase reaches over their border.
const fieldGap = 10

// tsvectorBuilder makes the text of a tsvector.
type tsvectorBuilder struct {
	positions map[string][]string
	order     []string
	position  int
	bytes     int
	withPairs bool // note which words stand next to each other
}

func newTSVectorBuilder(words int, paired bool) *tsvectorBuilder {
	return &tsvectorBuilder{positions: make(map[string][]string, words), order: make([]string, 0, words), withPairs: paired}
}

// add puts a field's words behind what is there.
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

// addForm gives where a form stands so far. Postgres aligns forms that have places.
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

// pairNameCount is how many names there are for pairs of words. Two pairs that share
// one cost a look at a text that has not the phrase; a name of its own for each of
// the tens of millions of pairs would cost an index many times as large.
const pairNameCount = 1 << 20

// pairName names two words that stand next to each other (FNV-1a, which has to stay:
// the names are stored). No word begins with a sign.
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

// quote makes a lexeme of a word for a tsvector or tsquery.
func quote(word string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(word) + "'"
}

// tsvectors gives the two tsvectors of a document.
func tsvectors(d search.Document) (head, words string, lexemes []string) {
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

// filterKeys are the values that a document is filtered by.
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
