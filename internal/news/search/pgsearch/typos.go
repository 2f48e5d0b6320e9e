package pgsearch

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"dateline/internal/news/search"
)

// Words of four letters and more are corrected, and of those only what has no digit:
// one letter more or less makes another number.
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

// trigrams are the parts of three letters of a word, with its ends.
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

// maxKnownWords bounds the words that are remembered as stored.
const maxKnownWords = 300_000

// newWords gives the words that may not be stored yet, sorted.
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

// corrections gives, for words that no article has, those that are near.
func corrections(ctx context.Context, tx pgx.Tx, words []string) (map[string][]string, error) {
	words = slices.DeleteFunc(words, func(w string) bool { return !isCorrectable(w) })
	if len(words) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, "select word from search_words where word = any($1::text[])", words)
	if err != nil {
		return nil, err
	}
	known, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, w := range words {
		if slices.Contains(known, w) || out[w] != nil {
			continue
		}
		near, err := similarWords(ctx, tx, w)
		if err != nil {
			return nil, err
		}
		if len(near) > 0 {
			out[w] = near
		}
	}
	return out, nil
}

// similarWords gives the stored words that differ from one by a typo, or by two when it
// is long.
func similarWords(ctx context.Context, tx pgx.Tx, word string) ([]string, error) {
	most := search.TyposAllowed(word)
	parts := trigrams(word)
	// A typo spoils three parts, so a near word shares all others. Whichever of
	// those are left out when the index is asked, one less than are shared, it has
	// one of the rest: the ends are left out first, which most other words have too.
	shared := max(len(parts)-3*most-1, 1)
	asked := slices.Clone(parts)
	slices.SortStableFunc(asked, func(a, b string) int { return strings.Count(a, "_") - strings.Count(b, "_") })
	asked = asked[:len(asked)-shared+1]
	rows, err := tx.Query(ctx, `select word from (
			select word, (select count(*) from unnest(grams) g where g = any($1::text[])) as shared from search_words
			where grams && $5::text[] and length(word) between $2 and $3) w
		where shared >= $4 order by shared desc, word limit 50`,
		parts, len(word)-most, len(word)+most, shared, asked)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(w string) bool { return search.Distance(word, w) > most })
	slices.SortStableFunc(found, func(a, b string) int { return search.Distance(word, a) - search.Distance(word, b) })
	return found[:min(len(found), maxCorrections)], nil
}
