package pgsearch

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// Words of four letters and more are corrected, and of those only what has no digit:
// one letter more or less makes another number.
const (
	shortestCorrected = 4
	longestCorrected  = 30
	twoTypos          = 8 // letters from which two are forgiven
)

func correctable(word string) bool {
	n := len(word)
	if n < shortestCorrected || n > longestCorrected {
		return false
	}
	for i := range n {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}

// grams are the parts of three letters of a word, with its ends.
func grams(word string) []string {
	padded := "_" + word + "_"
	out := make([]string, 0, len(word))
	for i := 0; i+3 <= len(padded); i++ {
		out = append(out, padded[i:i+3])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func joinedGrams(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.Join(grams(w), " ")
	}
	return out
}

// mostKnown bounds the words that are remembered as stored.
const mostKnown = 300_000

// unknown gives the words that may not be stored yet, sorted.
func (e *Engine) unknown(words map[string]struct{}) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	fresh := slices.Sorted(maps.Keys(words))
	return slices.DeleteFunc(fresh, func(w string) bool { _, ok := e.known[w]; return ok })
}

func (e *Engine) learn(words []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.known)+len(words) > mostKnown {
		clear(e.known)
	}
	for _, w := range words {
		e.known[w] = struct{}{}
	}
}

const mostCorrections = 3

// corrections gives, for words that no article has, those that are near.
func corrections(ctx context.Context, tx pgx.Tx, words []string) (map[string][]string, error) {
	words = slices.DeleteFunc(words, func(w string) bool { return !correctable(w) })
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
		near, err := nearWords(ctx, tx, w)
		if err != nil {
			return nil, err
		}
		if len(near) > 0 {
			out[w] = near
		}
	}
	return out, nil
}

// nearWords gives the stored words that differ from one by a typo, or by two when it
// is long.
func nearWords(ctx context.Context, tx pgx.Tx, word string) ([]string, error) {
	most := 1
	if len(word) >= twoTypos {
		most = 2
	}
	parts := grams(word)
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
	found = slices.DeleteFunc(found, func(w string) bool { return distance(word, w) > most })
	slices.SortStableFunc(found, func(a, b string) int { return distance(word, a) - distance(word, b) })
	return found[:min(len(found), mostCorrections)], nil
}

// distance counts the letters to insert, drop, change or swap with the next
// (optimal string alignment). Its words are ASCII.
func distance(a, b string) int {
	if utf8.RuneCountInString(a) != len(a) {
		return longestCorrected
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
