package pgsearch

import (
	"context"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/news/search"
)

const (
	// broad is how many articles are looked at one by one, the newest of all that
	// match, and of some more those that have the words in their head.
	broad     = 1500
	broadHead = 400
	further   = 6
	mostHeads = 20_000 // of the newest articles, in which the heads are looked at
	// broadPhrase is the same where each text has to be read.
	broadPhrase = 500
	// wide is how many may match and still be counted. Where more do, only what is
	// new enough is looked for.
	wide = 2 * broad
	// deep is how many are ranked by their whole text.
	deep = 200
	// few is how many must have all words, lest those follow that lack one.
	few = 5
)

// Search finds articles. What would take too long is looked for among the newest
// only, and the answer says so.
func (e *Engine) Search(ctx context.Context, r search.Request) (a search.Answer, err error) {
	r = r.Bounded()
	q := search.Parse(r.Text)
	meant, err := e.meant(ctx, r, q)
	if err != nil {
		return a, err
	}
	leave, err := e.enter(ctx)
	if err != nil {
		return a, err
	}
	defer leave()
	err = e.session(ctx, func(ctx context.Context, tx pgx.Tx) error {
		a, err = e.answer(ctx, look{tx: tx, r: r}, q, meant)
		return err
	})
	if !tookTooLong(ctx, err) {
		return a, err
	}
	if meant != nil && r.Mode == search.Semantic {
		return search.Answer{}, search.ErrBusy
	}
	e.o.Log.Warn("a search took too long and goes on among the newest articles only")
	err = e.session(ctx, func(ctx context.Context, tx pgx.Tx) error {
		a, err = e.answer(ctx, look{tx: tx, r: r, lately: true}, q, nil)
		return err
	})
	if tookTooLong(ctx, err) {
		return search.Answer{}, search.ErrBusy
	}
	return a, err
}

// answer finds by words, by meaning or by both, and reads a page of that.
func (e *Engine) answer(ctx context.Context, l look, q search.Query, meant *meaning) (a search.Answer, err error) {
	found := result{marker: search.NewMarker(q)}
	if meant == nil || l.r.Mode == search.Hybrid {
		if found, err = e.find(ctx, l, q); err != nil {
			return a, err
		}
	}
	if meant != nil {
		if found, err = l.byMeaning(ctx, found, *meant); err != nil {
			return a, err
		}
	}
	a = found.answer
	a.Hits, err = l.load(ctx, found.page(l.r), found.marker)
	return a, err
}

// ranked is an article with its rank.
type ranked struct {
	id    uuid.UUID
	score float64
}

// result is what was found, not loaded yet.
type result struct {
	answer search.Answer
	order  []ranked
	marker search.Marker
}

func (f result) page(r search.Request) []ranked {
	return f.order[min(r.Offset, len(f.order)):min(r.Offset+r.Limit, len(f.order))]
}

func (e *Engine) find(ctx context.Context, l look, q search.Query) (found result, err error) {
	strict := l.r.Sort == search.ByTime
	var corrected map[string][]string
	if !strict && !l.lately {
		var words []string
		for _, t := range q.Wanted() {
			if !t.Quoted && !t.Prefix {
				for _, w := range t.Words {
					words = append(words, w.Word)
				}
			}
		}
		if corrected, err = corrections(ctx, l.tx, words); err != nil {
			return found, err
		}
	}
	x := write(q, strict, corrected)
	if l.current, err = e.everyRowIsCurrent(ctx, l.tx); err != nil {
		return found, err
	}
	found.marker = search.NewMarker(q, x.also...)
	found.answer, found.order, err = l.run(ctx, x)
	all := found.answer.Total
	for i, fewer := range []written{x.relaxed, x.half} {
		if err != nil || found.answer.Total >= few || fewer.match == "" || l.lately {
			break
		}
		if !x.lacks {
			x.exact = x.written
		}
		x.written, x.lacks, x.covers = fewer, true, i > 0
		found.answer, found.order, err = l.run(ctx, x)
		found.answer.Relaxed = found.answer.Total > all
	}
	found.answer.Corrected = corrected
	return found, err
}

// look is one search's look at the database.
type look struct {
	tx      pgx.Tx
	r       search.Request
	current bool // every row has the pairs of its words and the stretches of its time
	lately  bool // among the newest only: what may be looked at is bounded, whatever is looked for
}

// run looks at all that match, or at the newest where that are too many.
func (l look) run(ctx context.Context, x expression) (search.Answer, []ranked, error) {
	if l.lately {
		a, order, err := l.at(ctx, x, nil)
		a.Estimated, a.Partial = true, true
		return a, order, err
	}
	estimate, err := l.estimate(ctx, x)
	if err != nil {
		return search.Answer{}, nil, err
	}
	var since *window
	if estimate > wide {
		if since, err = l.since(ctx, estimate); err != nil {
			return search.Answer{}, nil, err
		}
	}
	a, order, err := l.at(ctx, x, since)
	if err != nil || since == nil {
		return a, order, err
	}
	if a.Total < max(l.r.Offset+l.r.Limit, deep/2) {
		// They are not spread over time as was thought.
		return l.at(ctx, x, nil)
	}
	a.Total, a.Estimated = max(estimate, a.Total), true
	return a, order, nil
}

// Weights of D, C, B and A: the body, who wrote it, the lead, the title.
const weights = "'{0.03,0.2,0.4,1.0}'"

// at finds, ranks and counts in one statement. since bounds what is looked at.
func (l look) at(ctx context.Context, x expression, since *window) (a search.Answer, order []ranked, err error) {
	var s statement
	facets := ", null::text as domain, null::text as language, null::text as section, null::text[] as tags, null::text[] as authors"
	if l.r.Facets {
		facets = ", d.domain, d.language, d.section, d.tags, d.authors"
	}
	ranks := l.r.Sort == search.ByRelevance && !x.empty
	rank := "0::real"
	if ranks {
		rank = "ts_rank('{0,0.1,0.3,1}', d.head, " + s.put(x.any) + "::text::tsquery)"
	}
	exact := "true"
	if x.exact.plain != "" && ranks {
		exact = "(" + s.words("head", x.exact.plain) + ")"
	}
	found, read := l.matching(&s, x, since, ranks), "true"
	if l.verifies(x) {
		read = s.words("words", x.plain)
	}
	var c coverage
	if x.covers && ranks {
		c = cover(&s, x.asked)
	}
	hits := "select d.id, d.published_at, " + exact + " as exact, " + rank + " as head" + facets + c.columns + " from (select distinct f.tid from found f) f join search_documents d on d.ctid = f.tid where " + read
	if x.covers && ranks {
		hits = c.hits(hits)
	}
	top := "select h.id, h.published_at, true as exact, 0::float8 as score from hits h order by h.published_at desc, h.id limit " + strconv.Itoa(l.r.Offset+l.r.Limit)
	if ranks {
		top = ranking(&s, l.r, x)
	}
	// Rows are fetched where they lie, which within one statement nobody moves.
	sql := "with found as materialized (" + found + "), hits as materialized (" + hits + "), top as materialized (" + top + `)
		select coalesce((select max(f.n) from found f), 0)::int as total, (select count(*) from hits)::int as looked,
			coalesce((select array_agg(t.id order by t.exact desc, t.score desc, t.published_at desc, t.id) from top t), '{}')::uuid[],
			coalesce((select array_agg(t.score order by t.exact desc, t.score desc, t.published_at desc, t.id) from top t), '{}')::float8[]` + counting(l.r.Facets)
	var ids []uuid.UUID
	var scores []float64
	var raw []byte
	var looked int
	if err := l.tx.QueryRow(ctx, sql, s.simple()...).Scan(&a.Total, &looked, &ids, &scores, &raw); err != nil {
		return a, nil, err
	}
	if a.Estimated = a.Total > l.most(x); !a.Estimated || a.Total < looked {
		a.Total = looked
	}
	if a.Facets, err = facetsOf(raw); err != nil {
		return a, nil, err
	}
	order = make([]ranked, len(ids))
	for i := range ids {
		order[i] = ranked{ids[i], scores[i]}
	}
	return a, order, nil
}

// ranking ranks the best of all hits by their whole text, and puts the rest
// behind them. What has the words as they are written stands before what has
// them without their diacritics. What is fresh gains up to a third.
func ranking(s *statement, r search.Request, x expression) string {
	rank := "ts_rank(" + weights + ", d.words, " + s.put(x.any) + "::text::tsquery, 1)"
	if !x.lacks {
		// How close all words are. Of the many ways in which some may lack, that
		// would take longer than everything else.
		rank += " + ts_rank_cd(" + weights + ", d.words, " + s.put(x.plain) + "::text::tsquery, 1)"
	}
	if x.phrase != "" {
		phrase := s.put(x.phrase) + "::text::tsquery"
		rank += " + ts_rank_cd(" + weights + ", d.words, " + phrase + ", 1) + case when d.head @@ " + phrase + " then 0.5 else 0 end"
	}
	if x.covers {
		rank += " + c.head"
	}
	exact := "c.exact"
	if x.exact.plain != "" {
		exact = "(" + s.words("words", x.exact.plain) + ")"
	}
	fresh := "(1 + 0.33 / (1 + greatest(extract(epoch from " + s.put(r.Now) + "::timestamptz - c.published_at), 0) / 604800))::float8"
	const best = "from hits h order by h.exact desc, h.head desc, h.published_at desc, h.id"
	return "select c.id, c.published_at, " + exact + " as exact, ((" + rank + ") * " + fresh + ")::float8 as score from (select h.id, h.published_at, h.exact, h.head " + best + " limit " + strconv.Itoa(deep) + `) c
		join search_documents d on d.id = c.id
		union all
		select r.id, r.published_at, false as exact, r.head * 0.0001 - 1 as score from (select h.* ` + best + " offset " + strconv.Itoa(deep) + " limit " + strconv.Itoa(search.MaxOffset+search.MaxLimit) + ") r"
}
