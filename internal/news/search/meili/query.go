package meili

import (
	"strings"

	"dateline/internal/news/search"
)

// queryStyle is how a query is written for Meilisearch.
type queryStyle int

const (
	// loose tolerates typos, and replaces long synonyms by short ones.
	loose queryStyle = iota
	// separate is loose with independent words, so that some may be missing.
	separate
	// strict writes each word as a phrase, for which Meilisearch tolerates no typos.
	strict
)

// maxSynonymWords is the length up to which Meilisearch recognizes synonyms in a query
// (milli, query_graph.rs: n-grams of up to three words).
const maxSynonymWords = 3

// queryText writes a query in the syntax of Meilisearch, which has the same "phrases"
// and -words. Only its last word is a prefix: of several prefixes the last is sent, and
// hits are verified against all.
func queryText(q search.Query, how queryStyle) string {
	var parts []string
	var prefix string
	for i := 0; i < len(q.Terms); {
		t := q.Terms[i]
		if t.StopWord {
			i++
			continue
		}
		if short, n := shorterSynonym(q.Terms[i:]); n > 0 && how == loose {
			parts = append(parts, short)
			i += n
			continue
		}
		i++
		words := make([]string, len(t.Words))
		for i, w := range t.Words {
			words[i] = q.Text[w.Start:w.End]
		}
		if t.Prefix && !t.Excluded {
			if prefix = words[len(words)-1]; len(words) == 1 {
				continue
			}
			words = words[:len(words)-1]
		}
		part := strings.Join(words, " ")
		// Meilisearch replaces no synonyms in phrases, so a word with two spellings is none. It
		// is too short for typos.
		if t.Quoted || len(words) > 1 || how == strict && t.Words[0].Variant == "" {
			part = `"` + part + `"`
		}
		if t.Excluded {
			part = "-" + part
		}
		parts = append(parts, part)
	}
	if prefix != "" {
		parts = append(parts, prefix)
	}
	return strings.Join(parts, " ")
}

// shorterSynonym returns a synonym of the first n terms that is short enough for
// Meilisearch, if they form a synonym that is too long.
func shorterSynonym(terms []search.Term) (name string, n int) {
	others, n := search.SynonymsOf(terms)
	if n <= maxSynonymWords {
		return "", 0
	}
	for _, other := range others {
		if len(strings.Fields(other)) <= maxSynonymWords {
			return other, n
		}
	}
	return "", 0
}
