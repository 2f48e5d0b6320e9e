package pgsearch

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"dateline/internal/news/search"
)

// Lengths of words that are corrected. Words with digits are not: another digit makes
// another number.
const (
	minCorrectedLength = 4
	maxCorrectedLength = 30
)

func isCorrectable(word string) bool {
	n := len(word)
	if n < minCorrectedLength || n > maxCorrectedLength {
		return false
	}
	for i := range n {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}

// trigrams returns the trigrams of a word, including its start and end.
func trigrams(word string) []string {
	padded := "_" + word + "_"
	out := make([]string, 0, len(word))
	for i := 0; i+3 <= len(padded); i++ {
		out = append(out, padded[i:i+3])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func joinedTrigrams(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.Join(trigrams(w), " ")
	}
	return out
}

// maxKnownWords limits the cache of words that are already stored.
const maxKnownWords = 300_000

// newWords returns the words that may not be stored yet, sorted.
func (e *Engine) newWords(words map[string]struct{}) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	fresh := slices.Sorted(maps.Keys(words))
	return slices.DeleteFunc(fresh, func(w string) bool { _, ok := e.knownWords[w]; return ok })
}

func (e *Engine) rememberWords(words []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.knownWords)+len(words) > maxKnownWords {
		clear(e.knownWords)
	}
	for _, w := range words {
		e.knownWords[w] = struct{}{}
	}
}

const maxCorrections = 3

// corrections returns similar indexed words for words that no article contains, and the
// words that have none.
func corrections(
	ctx context.Context, tx pgx.Tx, words []string,
) (similar map[string][]string, missing map[string]bool, err error) {
	words = slices.DeleteFunc(words, func(w string) bool { return !isCorrectable(w) })
	if len(words) == 0 {
		return nil, nil, nil
	}
	rows, err := tx.Query(ctx, "select word from search_words where word = any($1::text[])", words)
	if err != nil {
		return nil, nil, err
	}
	known, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, nil, err
	}
	similar, missing = map[string][]string{}, map[string]bool{}
	for _, w := range words {
		if slices.Contains(known, w) || similar[w] != nil {
			continue
		}
		near, err := similarWords(ctx, tx, w)
		if err != nil {
			return nil, nil, err
		}
		if len(near) > 0 {
			similar[w] = near
		} else {
			missing[w] = true
		}
	}
	return similar, missing, nil
}

// maxComparedWords limits the words that are compared letter by letter.
const maxComparedWords = 50_000

// similarWords returns indexed words within the number of typos allowed for a word.
func similarWords(ctx context.Context, tx pgx.Tx, word string) ([]string, error) {
	maxTypos := search.TyposAllowed(word)
	parts := trigrams(word)
	// A typo changes up to three trigrams, so a similar word shares all the others.
	// The index lookup can therefore omit shared-1 trigrams. It omits those at the ends
	// of the word, which are the most frequent.
	shared := max(len(parts)-3*maxTypos-1, 1)
	lookup := slices.Clone(parts)
	slices.SortStableFunc(lookup, func(a, b string) int { return strings.Count(a, "_") - strings.Count(b, "_") })
	lookup = lookup[:len(lookup)-shared+1]
	// Comparing here is faster than counting trigrams of each word in Postgres.
	rows, err := tx.Query(ctx, "select word from search_words where grams && $1::text[] and length(word) between $2 "+
		"and $3 limit $4",
		lookup, len(word)-maxTypos, len(word)+maxTypos, maxComparedWords)
	if err != nil {
		return nil, err
	}
	type similar struct {
		word          string
		typos, shared int // letters that differ, and trigrams in common
	}
	var near []similar
	var w string
	if _, err = pgx.ForEachRow(rows, []any{&w}, func() error {
		if d := search.Distance(word, w); d <= maxTypos {
			n := 0
			for _, g := range trigrams(w) {
				if slices.Contains(parts, g) {
					n++
				}
			}
			near = append(near, similar{w, d, n})
		}
		return nil
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(near, func(a, b similar) int {
		return cmp.Or(cmp.Compare(a.typos, b.typos), cmp.Compare(b.shared, a.shared), strings.Compare(a.word, b.word))
	})
	var found []string
	for _, s := range near[:min(len(near), maxCorrections)] {
		found = append(found, s.word)
	}
	return found, nil
}
