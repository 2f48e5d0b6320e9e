package meili

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/meilisearch/meilisearch-go"

	"dateline/internal/news/search"
)

// countLimit is the number up to which Meilisearch counts matches.
const countLimit = search.MaxOffset + search.MaxLimit

// relaxBelow is the number of matches below which words become optional.
const relaxBelow = 5

// maxQueryWords is the number of query words that Meilisearch uses; it ignores the rest
// (https://www.meilisearch.com/docs/resources/help/known_limitations).
const maxQueryWords = 10

// searchTimeout limits a whole search.
const searchTimeout = 5 * time.Second

// Search searches articles.
func (e *Engine) Search(ctx context.Context, r search.Request) (search.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	r = r.WithDefaults()
	q := search.Parse(r.Text)
	request := &meilisearch.SearchRequest{
		Offset: int64(r.Offset), Limit: int64(r.Limit), ShowMatchesPosition: true,
		ShowRankingScore: true, MatchingStrategy: meilisearch.All,
	}
	if f := filter(r.Filters); len(f) > 0 {
		request.Filter = f
	}
	if r.Facets {
		request.Facets = facetAttributes()
	}
	if r.Sort == search.ByTime || len(q.Included()) == 0 {
		request.Sort = []string{"published:desc"}
		return e.searchVerified(ctx, request, q, r, queryText(q, strict), q.Matches)
	}
	if q.HasPrefixTerm() {
		return e.searchVerified(ctx, request, q, r, queryText(q, loose), q.HasPrefixes)
	}
	if err := e.addSemantic(ctx, request, q, r); err != nil {
		return search.Response{}, err
	}
	marked := slices.ContainsFunc(q.Included(), func(t search.Term) bool {
		return slices.ContainsFunc(t.Words, search.Token.HasMarks)
	})
	if marked = marked && r.Offset+r.Limit <= search.MaxLimit; marked {
		request.Offset, request.Limit = 0, search.MaxLimit
	}
	long := len(q.Included()) > maxQueryWords && request.Hybrid == nil
	var a search.Response
	var err error
	if !long {
		a, err = e.query(ctx, request, q, queryText(q, loose))
	}
	if err == nil && a.Total < relaxBelow && len(q.Included()) > 2 && request.Hybrid == nil {
		if request.Offset > 0 && !long { // complete matches come first
			request.Offset, request.Limit = 0, relaxBelow
			a, err = e.query(ctx, request, q, queryText(q, loose))
		}
		if err == nil {
			a, err = e.addRelaxed(ctx, q, r, a)
			marked = true
		}
	}
	if marked {
		a.Hits = exactFirst(a.Hits, q)
		a.Hits = a.Hits[min(r.Offset, len(a.Hits)):min(r.Offset+r.Limit, len(a.Hits))]
	}
	return a, err
}

// addSemantic adds semantic search to a request, weighted by the kind of query.
func (e *Engine) addSemantic(
	ctx context.Context, request *meilisearch.SearchRequest, q search.Query, r search.Request,
) error {
	if r.Mode == search.Keyword || e.opts.Embedder == nil && e.opts.ServerEmbedder == nil {
		return nil
	}
	ratio := 1.0
	if r.Mode == search.Hybrid {
		ratio = q.SemanticRatio()
	}
	if ratio == 0 {
		return nil // zero is omitted, and Meilisearch would use 0.5
	}
	if e.opts.Embedder != nil {
		vectors, err := e.opts.Embedder.Embed(ctx, []string{q.Text})
		if err != nil && r.Mode == search.Hybrid {
			e.opts.Log.Warn("embedder failed; searching by keywords only", "error", err)
			return nil
		}
		if err != nil {
			return err
		}
		request.Vector = vectors[0]
	}
	request.Hybrid = &meilisearch.SearchRequestHybrid{SemanticRatio: ratio, Embedder: embedderName}
	return nil
}

// searchVerified reads page by page and drops hits that keep rejects: Meilisearch
// ignores diacritics, and tolerates typos in prefixes.
func (e *Engine) searchVerified(ctx context.Context, request *meilisearch.SearchRequest, q search.Query,
	r search.Request, words string, keep func(*search.Text) bool,
) (a search.Response, err error) {
	var hits []search.Hit
	request.Limit = search.MaxLimit
	for request.Offset = 0; ; request.Offset += search.MaxLimit {
		page, err := e.query(ctx, request, q, words)
		if err != nil {
			return a, err
		}
		if request.Offset == 0 {
			a = page
		}
		for _, h := range page.Hits {
			if keep(search.NewText(h.Document)) {
				hits = append(hits, h)
			} else {
				a.Total--
			}
		}
		request.Facets = nil
		if len(page.Hits) < search.MaxLimit || len(hits) >= r.Offset+r.Limit || request.Offset >= search.MaxOffset {
			break
		}
	}
	a.Hits = hits[min(r.Offset, len(hits)):min(r.Offset+r.Limit, len(hits))]
	return a, nil
}

// exactFirst moves exact matches before the others, and those as typed before those in the
// other spelling of a Vietnamese syllable.
func exactFirst(hits []search.Hit, q search.Query) []search.Hit {
	typed := q.AsTyped()
	rank := make(map[uuid.UUID]int, len(hits))
	for _, h := range hits {
		text := search.NewText(h.Document)
		switch {
		case typed.Matches(text):
			rank[h.ID] = 0
		case q.Matches(text):
			rank[h.ID] = 1
		default:
			rank[h.ID] = 2
		}
	}
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return rank[a.ID] - rank[b.ID] })
	return hits
}

func (e *Engine) query(
	ctx context.Context, request *meilisearch.SearchRequest, q search.Query, words string,
) (a search.Response, err error) {
	res, err := e.client.Index(e.opts.Index).SearchWithContext(ctx, words, request)
	if request.Hybrid != nil && request.Hybrid.SemanticRatio < 1 && errorCode(err) == "invalid_search_embedder" {
		// The index must be rebuilt with its embedder first; see updateEmbedders.
		request.Hybrid, request.Vector = nil, nil
		res, err = e.client.Index(e.opts.Index).SearchWithContext(ctx, words, request)
	}
	if err != nil {
		return a, redact("searching", err)
	}
	var found []document
	if err := res.Hits.DecodeInto(&found); err != nil {
		return a, redact("reading the results", err)
	}
	a.Total = int(res.EstimatedTotalHits)
	a.Estimated = a.Total >= countLimit
	for _, d := range found {
		m := search.NewHighlighter(q, d.matched()...)
		a.Hits = append(a.Hits, search.Hit{
			Document: d.article(), Score: d.Score, Heading: m.Highlight(d.Title), Snippet: m.Snippet(d.Lead, d.Body),
		})
	}
	if len(request.Facets) > 0 {
		a.Facets, err = facets(res.FacetDistribution)
	}
	return a, err
}

// matched returns the words that Meilisearch matched, including their typos.
func (d document) matched() (words []string) {
	for field, text := range map[string]string{"title": d.Title, "lead": d.Lead, "body": d.Body} {
		for _, p := range d.Matches[field] {
			if p.Start >= 0 && p.Length > 0 && p.Start+p.Length <= len(text) && len(words) < 50 {
				words = append(words, text[p.Start:p.Start+p.Length])
			}
		}
	}
	return words
}

func facetAttributes() []string { return []string{"domain", "language", "section", "tags", "authors"} }

func facets(raw json.RawMessage) ([]search.Facet, error) {
	var counts map[string]map[string]int
	if err := json.Unmarshal(raw, &counts); err != nil {
		return nil, err
	}
	var out []search.Facet
	for _, f := range []struct{ field, attribute string }{
		{search.FieldDomain, "domain"},
		{search.FieldLanguage, "language"},
		{search.FieldSection, "section"},
		{search.FieldTag, "tags"},
		{search.FieldAuthor, "authors"},
	} {
		facet := search.Facet{Field: f.field}
		for value, n := range counts[f.attribute] {
			if value != "" {
				facet.Values = append(facet.Values, search.FacetValue{Value: value, Count: n})
			}
		}
		slices.SortFunc(facet.Values, func(a, b search.FacetValue) int {
			if a.Count != b.Count {
				return b.Count - a.Count
			}
			return strings.Compare(a.Value, b.Value)
		})
		out = append(out, facet)
	}
	return out, nil
}
