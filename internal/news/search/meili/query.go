package meili

import (
	"strings"

	"dateline/internal/news/search"
)

// queryStyle is how a query is written for Meilisearch.
type queryStyle int

const (
	// loose forgives typos, and shortens the names of synonyms.
	loose queryStyle = iota
	// separate is loose with every word for itself, so that some may lack.
	separate
	// strict makes each word a phrase, for which Meilisearch forgives no typo.
	strict
)

// maxSynonymWords is how many words of a query Meilisearch compares with its
// synonyms at most (milli, query_graph.rs: n-grams of up to three words).
const maxSynonymWords = 3

// queryText writes a query as Meilisearch reads it: "phrases" and -words are the same.
// There the last word is a prefix, and no other: of several prefixes the last is
// sent, and the hits are verified for all.
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
		if t.Quoted || len(words) > 1 || how == strict {
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

// shorterSynonym gives a synonym of the words with which terms begin that Meilisearch
// knows as such, where they are too many for it, and of how many terms these are.
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
