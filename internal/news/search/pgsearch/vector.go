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
	lastPlace  = 16383
	mostPlaces = 256
)

// mostBytes bounds the words of a tsvector, which may have a megabyte of them.
const mostBytes = 900_000

// fieldGap lies between fields, so that no phrase reaches over their border.
const fieldGap = 10

// builder makes the text of a tsvector.
type builder struct {
	places map[string][]string
	order  []string
	at     int
	bytes  int
	paired bool // note which words stand next to each other
}

func newBuilder(words int, paired bool) *builder {
	return &builder{places: make(map[string][]string, words), order: make([]string, 0, words), paired: paired}
}

// add puts a field's words behind what is there.
func (b *builder) add(text, weight string) {
	before := ""
	for _, t := range search.Tokens(text) {
		if b.at >= lastPlace || b.bytes >= mostBytes {
			return
		}
		b.at++
		for _, form := range t.Forms() {
			if places := b.know(form); len(places) < mostPlaces {
				b.places[form] = append(places, strconv.Itoa(b.at)+weight)
			}
		}
		if b.paired && before != "" {
			b.know(pair(before, t.Word))
		}
		before = t.Word
	}
	b.at += fieldGap
}

// know gives where a form stands so far. Postgres aligns forms that have places.
func (b *builder) know(form string) []string {
	places, known := b.places[form]
	if !known {
		b.places[form] = nil
		b.order = append(b.order, form)
		b.bytes += len(form) + 2
	}
	b.bytes += 4
	return places
}

// pairNames is how many names there are for pairs of words. Two pairs that share
// one cost a look at a text that has not the phrase; a name of its own for each of
// the tens of millions of pairs would cost an index many times as large.
const pairNames = 1 << 20

// pair names two words that stand next to each other (FNV-1a, which has to stay:
// the names are stored). No word begins with a sign.
func pair(first, second string) string {
	h := uint64(14695981039346656037)
	for _, word := range [2]string{first, second} {
		for i := range len(word) {
			h = (h ^ uint64(word[i])) * 1099511628211
		}
		h = (h ^ ' ') * 1099511628211
	}
	return "+" + strconv.FormatUint((h^h>>32)%pairNames, 32)
}

func (b *builder) String() string {
	var out strings.Builder
	out.Grow(len(b.order) * 16)
	for i, form := range b.order {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(quote(form))
		for j, place := range b.places[form] {
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

// vectors gives the two tsvectors of a document.
func vectors(d search.Document) (head, words string, lexemes []string) {
	short := newBuilder(64, false)
	fillHead(short, d)
	long := newBuilder(1024, true)
	fillHead(long, d)
	long.add(d.Body, "")
	for _, name := range stretchesOf(d.Published) {
		long.know(name)
	}
	return short.String(), long.String(), long.order
}

func fillHead(b *builder, d search.Document) {
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

// keys are the values that a document is filtered by.
func keys(d search.Document) []string {
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
