package pgsearch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Relaxed queries select articles by the maxRelaxedTerms rarest terms and rank them by
// at most maxRankedTerms. Queries with at least minQuestionTerms are treated as
// questions, of which articles rarely contain most words.
const (
	maxRelaxedTerms  = 6
	maxRankedTerms   = 12
	minRelaxedTerms  = 3
	minQuestionTerms = 5
)

// feature is a term or a pair of words that a hit may have.
type feature struct {
	title, words string // as a tsquery for either column
	weight       float64
}

// relaxable returns the terms that may be missing, the rarest first, or nil if all terms
// are required. missing are words that no article contains.
func (l searcher) relaxable(ctx context.Context, x expression, missing map[string]bool) ([]unit, error) {
	var free []unit
	for _, u := range x.optional {
		if !missing[u.word] {
			free = append(free, u)
		}
	}
	if len(x.optional) < 2 || len(x.optional) < minRelaxedTerms && len(x.required) == 0 || len(free) == 0 {
		return nil, nil
	}
	queries := make([]string, len(free))
	for i, u := range free {
		queries[i] = u.loose.count
	}
	found, total, err := l.frequencies(ctx, queries)
	if err != nil {
		return nil, err
	}
	for i := range free {
		free[i].rarity = math.Log(1 + total/(1+found[i]))
	}
	slices.SortStableFunc(free, func(a, b unit) int { return cmp.Compare(b.rarity, a.rarity) })
	return free[:min(len(free), maxRankedTerms)], nil
}

// relaxedCounts returns how many of the n terms that articles contain must match in each
// attempt, in a query of asked terms.
func relaxedCounts(n, asked int) []int {
	switch {
	case asked >= minQuestionTerms && n > minQuestionTerms:
		return []int{3, 2}
	case asked >= minQuestionTerms:
		return []int{min(n, 2)}
	case n < asked: // the others are in no article
		return []int{max(n-1, 1)}
	case n > minRelaxedTerms:
		return []int{n - 1, n / 2}
	}
	return []int{n - 1}
}

// relax returns the variant in which need of the rarest terms suffice. In questions, two
// adjacent words suffice too.
func (x expression) relax(free []unit, need int) expression {
	if !x.isRelaxed() {
		x.exact = x.tsquery
	}
	ways := []tsquery{atLeast(need, free[:min(len(free), maxRelaxedTerms)])}
	isQuestion := len(x.optional) >= minQuestionTerms
	x.coverage = nil
	rarity := map[string]float64{}
	for _, u := range free {
		x.coverage = append(x.coverage, feature{u.loose.plain, u.loose.plain, u.rarity})
		if u.hasSpellings {
			x.coverage = append(x.coverage, feature{u.strict.plain, u.strict.plain, spellingShare * u.rarity})
		}
		rarity[u.word] = u.rarity
	}
	for _, u := range free {
		for _, p := range u.pairs {
			if rarity[p.first] == 0 || rarity[p.second] == 0 {
				continue
			}
			name := quote(pairName(p.first, p.second))
			x.coverage = append(x.coverage, feature{
				quote(p.first) + " <-> " + quote(p.second), name, pairShare * (rarity[p.first] + rarity[p.second]),
			})
			if isQuestion {
				ways = append(ways, tsquery{name, name, name})
			}
		}
	}
	x.tsquery = join(" & ", slices.Concat([]tsquery{join(" | ", ways...).wrap("(")}, x.required)...)
	return x
}

const (
	// spellingShare is the weight of the typed spelling of a Vietnamese syllable, relative to
	// that of the word.
	spellingShare = 0.1
	// bodyShare is the weight of a word that occurs only in the body.
	bodyShare = 0.4
	// pairShare is the weight of adjacent words in addition to that of both words.
	pairShare = 0.5
)

// coverageSQL returns the sum of the weights of the features that a column has.
func coverageSQL(s *statement, all []feature, column string, query func(feature) string) string {
	parts := make([]string, len(all))
	for i, f := range all {
		parts[i] = fmt.Sprintf("case when %s @@ %s::text::tsquery then %s else 0 end", column, s.arg(query(f)),
			strconv.FormatFloat(f.weight, 'f', 3, 64))
	}
	return "(" + strings.Join(parts, " + ") + ")::real"
}

// maxCountedRows is the number of articles up to which words are counted. Above it, the
// planner's statistics are used.
const maxCountedRows = 10_000

// frequencies returns the number of articles that match each query, and of all articles.
func (l searcher) frequencies(ctx context.Context, queries []string) (found []float64, total float64, err error) {
	_, total, err = l.timeHistogram(ctx)
	if err != nil {
		return nil, 0, err
	}
	var s statement
	parts := make([]string, len(queries))
	if total > maxCountedRows {
		for i, q := range queries {
			parts[i] = "search_documents d where " + s.matchSQL("words", q)
		}
		found, err = l.plannedRows(ctx, &s, parts...)
		return found, total, err
	}
	for i, q := range queries {
		parts[i] = "(select count(*) from search_documents d where " + s.matchSQL("words", q) + ")::float8"
	}
	err = l.tx.QueryRow(ctx, "select array["+strings.Join(parts, ", ")+
		"], (select count(*) from search_documents)::float8", s.unprepared()...).Scan(&found, &total)
	return found, total, err
}
