package pgsearch

import (
	"context"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/news/search"
)

const (
	// maxCandidates is the number of newest matches that are ranked, or more for deep
	// pages. In addition, about maxTitleCandidates older ones are ranked that match in
	// their title fields; they come from a time window that is at most
	// titleWindowFactor times as long, and contains at most maxTitleRows articles.
	maxCandidates      = 500
	maxFacetCandidates = 1000 // replaces maxCandidates when facets are counted, among them
	maxTitleCandidates = 300
	titleWindowFactor  = 12
	maxTitleRows       = 20_000
	// countLimit is the estimated number of matches up to which all of them are counted.
	// Above it, the search is limited to a time window.
	countLimit = 1000
	// prefixFactor is the number of matches of a prefix for each estimated one: the
	// planner only knows the commonest terms.
	prefixFactor = 4
	// rerankLimit is the number of candidates that are ranked by their whole text.
	rerankLimit = 100
	// relaxBelow is the number of matches below which words become optional.
	relaxBelow = 5
)

// Search finds articles. If a search times out, it runs again on the newest articles
// only, and the response is marked as partial.
func (e *Engine) Search(ctx context.Context, r search.Request) (a search.Response, err error) {
	r = r.WithDefaults()
	q := search.Parse(r.Text)
	vector, err := e.embedQuery(ctx, r, q)
	if err != nil {
		return a, err
	}
	release, err := e.acquireSlot(ctx)
	if err != nil {
		return a, err
	}
	defer release()
	if vector != nil {
		e.signs.ensure(ctx, e.pool, len(vector.vector), e.opts.Log)
	}
	err = e.inReadTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		a, err = e.respond(ctx, searcher{e: e, tx: tx, r: r}, q, vector)
		return err
	})
	if !isTimeout(ctx, err) {
		return a, err
	}
	if vector != nil && r.Mode == search.Semantic {
		return search.Response{}, search.ErrBusy
	}
	e.opts.Log.Warn("search timed out; searching only the newest articles")
	err = e.inReadTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		a, err = e.respond(ctx, searcher{e: e, tx: tx, r: r, recentOnly: true}, q, nil)
		return err
	})
	if isTimeout(ctx, err) {
		return search.Response{}, search.ErrBusy
	}
	return a, err
}

// respond searches by keywords, by meaning or by both, and loads a page of hits.
func (e *Engine) respond(
	ctx context.Context, l searcher, q search.Query, vector *queryVector,
) (a search.Response, err error) {
	found := ranking{highlighter: search.NewHighlighter(q)}
	l.isFused = vector != nil
	if vector == nil || l.r.Mode == search.Hybrid {
		if found, err = e.findWords(ctx, l, q); err != nil {
			return a, err
		}
	}
	if vector != nil {
		if found, err = l.addSemantic(ctx, found, *vector); err != nil {
			return a, err
		}
	}
	a = found.response
	a.Hits, err = l.load(ctx, found.page(l.r), found.highlighter)
	return a, err
}

// ranked is an article with its score.
type ranked struct {
	id    uuid.UUID
	score float64
}

// ranking is the result of a search before its hits are loaded.
type ranking struct {
	response    search.Response
	order       []ranked
	highlighter search.Highlighter
}

func (f ranking) page(r search.Request) []ranked {
	return f.order[min(r.Offset, len(f.order)):min(r.Offset+r.Limit, len(f.order))]
}

func (e *Engine) findWords(ctx context.Context, l searcher, q search.Query) (found ranking, err error) {
	strict := l.r.Sort == search.ByTime
	var corrected map[string][]string
	var missing map[string]bool
	if !strict && !l.recentOnly {
		var words []string
		for _, t := range q.Included() {
			if !t.Quoted && !t.Prefix {
				for _, w := range t.Words {
					words = append(words, w.Word)
				}
			}
		}
		if corrected, missing, err = corrections(ctx, l.tx, words); err != nil {
			return found, err
		}
	}
	x := compile(q, strict, corrected)
	found.highlighter = search.NewHighlighter(q, x.extraWords...)
	found.response, found.order, err = l.run(ctx, x)
	if err == nil && found.response.Total < relaxBelow && !l.recentOnly && !strict {
		err = l.addRelaxed(ctx, x, missing, &found)
	}
	found.response.Corrected = corrected
	return found, err
}

// addRelaxed finds articles that contain only some of the words, if there are more of
// them.
func (l searcher) addRelaxed(ctx context.Context, x expression, missing map[string]bool, found *ranking) error {
	free, err := l.relaxable(ctx, x, missing)
	if err != nil || len(free) == 0 {
		return err
	}
	all := found.response.Total
	for _, need := range relaxedCounts(len(free), len(x.optional)) {
		if found.response, found.order, err = l.run(ctx, x.relax(free, need)); err != nil ||
			found.response.Total >= relaxBelow {
			break
		}
	}
	found.response.Relaxed = found.response.Total > all
	return err
}

// searcher runs one request in a read-only transaction.
type searcher struct {
	e          *Engine
	tx         pgx.Tx
	r          search.Request
	recentOnly bool // search only the newest articles, which bounds the cost of any query
	isFused    bool // the ranking is merged with another one, for which more hits are needed
}

// run searches all matches, or a time window if there are too many.
func (l searcher) run(ctx context.Context, x expression) (search.Response, []ranked, error) {
	if l.recentOnly {
		a, order, err := l.runOnce(ctx, x, nil)
		a.Estimated, a.Partial = true, true
		return a, order, err
	}
	estimate, inTitles, err := l.estimate(ctx, x)
	if err != nil {
		return search.Response{}, nil, err
	}
	var since *timeWindow
	if estimate > countLimit {
		if since, err = l.timeWindow(ctx, estimate, inTitles); err != nil {
			return search.Response{}, nil, err
		}
	}
	a, order, err := l.runOnce(ctx, x, since)
	if err != nil || since == nil {
		return a, order, err
	}
	if a.Total < max(l.r.Offset+l.r.Limit, rerankLimit/2) {
		// The matches are not spread evenly over time.
		return l.runOnce(ctx, x, nil)
	}
	a.Total, a.Estimated = max(estimate, a.Total), true
	return a, order, nil
}

// runOnce finds, ranks and counts in one statement. since limits the candidates; nil
// means no limit.
func (l searcher) runOnce(
	ctx context.Context, x expression, since *timeWindow,
) (a search.Response, order []ranked, err error) {
	var s statement
	facets := ", null::text as domain, null::text as language, null::text as section, null::text[] as tags, " +
		"null::text[] as authors"
	if l.r.Facets {
		facets = ", d.domain, d.language, d.section, d.tags, d.authors"
	}
	ranks := l.r.Sort == search.ByRelevance && !x.isEmpty
	rank := "0::real"
	switch {
	case ranks && !x.isRelaxed():
		rank = "ts_rank('{0,0.1,0.3,1}', d.title_words, " + s.arg(x.any) + "::text::tsquery)"
	case ranks:
		rank = coverageSQL(&s, x.coverage, "d.title_words", func(f feature) string { return f.title })
	}
	exact := "true"
	if x.exact.plain != "" && ranks {
		exact = "(" + s.matchSQL("title_words", x.exact.plain) + ")"
	}
	found, read := l.candidates(&s, x, since, ranks), "true"
	if l.verifiesPhrases(x) {
		read = s.matchSQL("words", x.plain)
	}
	hits := "select d.ctid as tid, d.id, d.published_at, " + exact + " as exact, " + rank + " as title_rank" + facets +
		" from (select distinct f.tid from found f) f join search_documents d on d.ctid = f.tid where " + read
	top := "select h.id, h.published_at, true as exact, 0::float8 as score from hits h order by h.published_at desc, " +
		"h.id limit " + strconv.Itoa(l.r.Offset+l.r.Limit)
	if ranks {
		top = l.rankingSQL(&s, x)
	}
	// Rows are fetched by ctid, which is stable within one statement.
	sql := "with found as materialized (" + found + "), hits as materialized (" + hits + "), top as materialized (" +
		top + `)
		select coalesce((select max(f.n) from found f), 0)::int as total, (select count(*) from hits)::int as hit_count,
			coalesce((select array_agg(t.id order by t.exact desc, t.score desc, t.published_at desc, t.id) from top t),
				'{}')::uuid[],
			coalesce((select array_agg(t.score order by t.exact desc, t.score desc, t.published_at desc, t.id)
				from top t), '{}')::float8[]` + facetsSQL(l.r.Facets)
	var ids []uuid.UUID
	var scores []float64
	var raw []byte
	var hitCount int
	if err := l.tx.QueryRow(ctx, sql, s.unprepared()...).Scan(&a.Total, &hitCount, &ids, &scores, &raw); err != nil {
		return a, nil, err
	}
	if a.Estimated = a.Total > l.candidateLimit(); !a.Estimated || a.Total < hitCount {
		a.Total = hitCount
	}
	if a.Facets, err = parseFacets(raw); err != nil {
		return a, nil, err
	}
	order = make([]ranked, len(ids))
	for i := range ids {
		order[i] = ranked{ids[i], scores[i]}
	}
	return a, order, nil
}
