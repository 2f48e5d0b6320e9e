package meili

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/meilisearch/meilisearch-go"

	"dateline/internal/news/search"
)

// Relaxed queries use the maxRelaxedTerms rarest words. One of them may be missing, or
// two if there are at least dropTwoFrom.
const (
	maxRelaxedTerms = 12
	dropTwoFrom     = 5
)

// candidate is an article that contains some of the words.
type candidate struct {
	id        uuid.UUID
	published int64
	words     int
	score     float64
}

// addRelaxed appends articles in which one or two words are missing, or half of the
// words if these are few. Meilisearch's matching strategies don't support that: "last"
// requires the first word, "frequency" the rarest. So each word is searched separately,
// and articles are counted here.
func (e *Engine) addRelaxed(
	ctx context.Context, q search.Query, r search.Request, all search.Response,
) (search.Response, error) {
	perWord, dropped, err := e.searchWords(ctx, q, r)
	if err != nil {
		return all, err
	}
	found := candidates(perWord)
	have := map[uuid.UUID]bool{}
	for _, h := range all.Hits {
		have[h.ID] = true
	}
	found = slices.DeleteFunc(found, func(c candidate) bool { return have[c.id] })
	var some []candidate
	for _, need := range requiredWordCounts(len(perWord), dropped || len(q.Included()) > maxRelaxedTerms) {
		some = slices.DeleteFunc(slices.Clone(found), func(c candidate) bool { return c.words < need })
		if len(some)+all.Total >= relaxBelow {
			break
		}
	}
	if len(some) == 0 {
		return all, nil
	}
	some = some[:min(len(some), countLimit)]
	all.Total, all.Relaxed = all.Total+len(some), true
	ids := make([]uuid.UUID, len(some), len(some)+len(have))
	for i, c := range some {
		ids[i] = c.id
	}
	if r.Facets {
		of := slices.AppendSeq(slices.Clone(ids), maps.Keys(have))
		counted, err := e.query(ctx, &meilisearch.SearchRequest{Limit: 1, Filter: byID(of), Facets: facetAttributes()},
			q, "")
		if err != nil {
			return all, err
		}
		all.Facets = counted.Facets
	}
	ids = ids[:min(len(ids), max(r.Offset+r.Limit, search.MaxLimit))]
	docs, err := e.query(ctx, &meilisearch.SearchRequest{Limit: int64(len(ids)), Filter: byID(ids)}, q, "")
	if err != nil {
		return all, err
	}
	slices.SortFunc(docs.Hits, func(a, b search.Hit) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	rankByCoverage(docs.Hits[:min(len(docs.Hits), search.MaxLimit)], q)
	all.Hits = append(all.Hits, docs.Hits...)
	return all, nil
}

// searchWords returns the newest articles of each word, the rarest words first. dropped
// reports that some words occur in no article.
func (e *Engine) searchWords(
	ctx context.Context, q search.Query, r search.Request,
) (perWord [][]document, dropped bool, err error) {
	var queries []*meilisearch.SearchRequest
	queried := map[string]bool{}
	for _, t := range q.Included() {
		if queried[termText(q, t)] {
			continue
		}
		queried[termText(q, t)] = true
		one := &meilisearch.SearchRequest{
			IndexUID: e.opts.Index, Limit: search.MaxOffset,
			AttributesToRetrieve: []string{"id", "published"}, Sort: []string{"published:desc"},
			Query: termText(q, t), MatchingStrategy: meilisearch.All,
		}
		if f := filter(r.Filters); len(f) > 0 {
			one.Filter = f
		}
		queries = append(queries, one)
	}
	res, err := e.client.MultiSearchWithContext(ctx, &meilisearch.MultiSearchRequest{Queries: queries})
	if err != nil {
		return nil, false, redact("searching", err)
	}
	type result struct {
		docs  []document
		count int64
	}
	var results []result
	for _, one := range res.Results {
		var docs []document
		if err := one.Hits.DecodeInto(&docs); err != nil {
			return nil, false, redact("reading the results", err)
		}
		if len(docs) == 0 {
			dropped = true
			continue
		}
		results = append(results, result{docs, one.EstimatedTotalHits})
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(a.count, b.count) })
	for _, one := range results[:min(len(results), maxRelaxedTerms)] {
		perWord = append(perWord, one.docs)
	}
	return perWord, dropped, nil
}

// termText writes one term with all excluded terms. Words with diacritics must match
// exactly; others tolerate typos. The trailing space prevents prefix matching.
func termText(q search.Query, t search.Term) string {
	t.Quoted = t.Quoted || slices.ContainsFunc(t.Words, search.Token.HasMarks)
	return queryText(search.Query{Text: q.Text, Terms: append(q.Excluded(), t)}, separate) + " "
}

// candidates scores articles by the rarity of their words and returns the best first.
func candidates(perWord [][]document) []candidate {
	byID := map[uuid.UUID]*candidate{}
	for _, docs := range perWord {
		for _, d := range docs {
			c := byID[d.ID]
			if c == nil {
				c = &candidate{id: d.ID, published: d.Published}
				byID[d.ID] = c
			}
			c.words++
			c.score += math.Log(1 + float64(search.MaxOffset)/float64(1+len(docs)))
		}
	}
	out := make([]candidate, 0, len(byID))
	for _, c := range byID {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.published, a.published),
			bytes.Compare(a.id[:], b.id[:]))
	})
	return out
}

// requiredWordCounts returns how many of n words an article must contain in each
// attempt, the most first. truncated reports that the query has more words.
func requiredWordCounts(n int, truncated bool) (out []int) {
	if truncated {
		out = append(out, n)
	}
	switch {
	case n >= dropTwoFrom:
		out = append(out, n-2)
	case n > 2:
		out = append(out, n-1)
	}
	if n > 3 {
		out = append(out, n/2)
	}
	return out
}

func byID(ids []uuid.UUID) []string {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = quote(id.String())
	}
	return []string{"id IN [" + strings.Join(quoted, ", ") + "]"}
}

// bodyShare is the weight of a word that occurs only in the body.
const bodyShare = 0.4

// rankByCoverage sorts hits by the words they contain, weighted by inverse document
// frequency among the hits, and less in the body than in the title, lead and tags.
func rankByCoverage(hits []search.Hit, q search.Query) {
	wanted := q.Included()
	has := make([][]float64, len(hits))
	with := make([]float64, len(wanted))
	for i, h := range hits {
		titleFields := h.Document
		titleFields.Body = ""
		titles, all := search.NewText(titleFields), search.NewText(h.Document)
		has[i] = make([]float64, len(wanted))
		for j, t := range wanted {
			switch {
			case titles.Has(t):
				has[i][j] = 1
			case all.Has(t):
				has[i][j] = bodyShare
			}
			if has[i][j] > 0 {
				with[j]++
			}
		}
	}
	maxScore := 0.0
	for i := range hits {
		score := 0.0
		for j, share := range has[i] {
			score += share * math.Log(1+float64(len(hits))/(1+with[j]))
		}
		hits[i].Score = score
		maxScore = max(maxScore, score)
	}
	if maxScore == 0 {
		return
	}
	for i := range hits {
		hits[i].Score /= maxScore
	}
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return cmp.Compare(b.Score, a.Score) })
}
