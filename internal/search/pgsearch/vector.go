package pgsearch

import (
	"strconv"
	"strings"

	"dateline/internal/search"
)

// A tsvector's bounds, see "Limitations" in PostgreSQL's manual, 12.11: places
// up to 16,383 and 256 of them for each word. What stands further back of a very
// long article is not indexed.
const (
	lastPlace  = 16383
	mostPlaces = 256
)

// fieldGap lies between fields, so that no phrase reaches over their border.
const fieldGap = 10

// builder makes the text of a tsvector.
type builder struct {
	places map[string][]string
	order  []string
	at     int
}

func newBuilder(words int) *builder {
	return &builder{places: make(map[string][]string, words), order: make([]string, 0, words)}
}

// add puts a field's words behind what is there.
func (b *builder) add(text, weight string) {
	for _, t := range search.Tokens(text) {
		if b.at >= lastPlace {
			return
		}
		b.at++
		for _, form := range t.Forms() {
			places, known := b.places[form]
			if !known {
				b.order = append(b.order, form)
			}
			if len(places) < mostPlaces {
				b.places[form] = append(places, strconv.Itoa(b.at)+weight)
			}
		}
	}
	b.at += fieldGap
}

func (b *builder) String() string {
	var out strings.Builder
	out.Grow(len(b.order) * 16)
	for i, form := range b.order {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(quote(form))
		out.WriteByte(':')
		for j, place := range b.places[form] {
			if j > 0 {
				out.WriteByte(',')
			}
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
	short := newBuilder(64)
	fillHead(short, d)
	long := newBuilder(512)
	fillHead(long, d)
	long.add(d.Body, "")
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
