package pgsearch

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/search"
)

const (
	// broad is how many articles are looked at one by one. Where more match, the
	// newest are, and of some more those that have the words in their head.
	broad     = 1500
	broadHead = 400
	further   = 6
	// deep is how many are ranked by their whole text.
	deep = 200
	// few is how many must have all words, lest those follow that lack one.
	few = 5
)

// Search finds articles.
func (e *Engine) Search(ctx context.Context, r search.Request) (search.Answer, error) {
	r = r.Bounded()
	q := search.Parse(r.Text)
	if r.Mode == search.Keyword || e.o.Embedder == nil || r.Sort == search.ByTime || len(q.Wanted()) == 0 {
		return e.byWords(ctx, r, q)
	}
	return e.byMeaning(ctx, r, q)
}

// byWords finds by words, and a page of that.
func (e *Engine) byWords(ctx context.Context, r search.Request, q search.Query) (a search.Answer, err error) {
	found, err := e.find(ctx, r, q)
	if err != nil {
		return a, err
	}
	a = found.answer
	a.Hits, err = e.load(ctx, found.page(r), found.marker)
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

func (e *Engine) find(ctx context.Context, r search.Request, q search.Query) (found result, err error) {
	strict := r.Sort == search.ByTime
	var corrected map[string][]string
	if !strict {
		var words []string
		for _, t := range q.Wanted() {
			if !t.Quoted && !t.Prefix {
				for _, w := range t.Words {
					words = append(words, w.Word)
				}
			}
		}
		if corrected, err = e.corrections(ctx, words); err != nil {
			return found, err
		}
	}
	x := write(q, strict, corrected)
	found.marker = search.NewMarker(q, x.also...)
	found.answer, found.order, err = e.run(ctx, r, x)
	if err == nil && found.answer.Total < few && x.relaxed != "" {
		x.match, x.exact = x.relaxed, x.match
		all := found.answer.Total
		found.answer, found.order, err = e.run(ctx, r, x)
		found.answer.Relaxed = found.answer.Total > all
	}
	found.answer.Corrected = corrected
	return found, err
}

// run looks at all that match, or at the newest where that are too many.
func (e *Engine) run(ctx context.Context, r search.Request, x expression) (search.Answer, []ranked, error) {
	estimate, err := e.estimate(ctx, r, x)
	if err != nil {
		return search.Answer{}, nil, err
	}
	if estimate <= broad {
		return e.look(ctx, r, x, nil)
	}
	since, err := e.since(ctx, estimate)
	if err != nil {
		return search.Answer{}, nil, err
	}
	a, order, err := e.look(ctx, r, x, since)
	if err == nil && a.Total < max(r.Offset+r.Limit, deep/2) {
		// They are not spread over time as was thought.
		return e.look(ctx, r, x, nil)
	}
	a.Total, a.Estimated = max(estimate, a.Total), true
	return a, order, err
}

// statement collects the parameters of a statement.
type statement struct {
	args []any
}

func (s *statement) put(v any) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args))
}

// where writes the filters.
func (s *statement) where(r search.Request) string {
	f := r.Filters
	parts := []string{"true"}
	if f.Within != nil {
		parts = append(parts, "d.domain = any("+s.put(f.Within)+"::text[])")
	}
	for column, values := range map[string][]string{"domain": f.Domains, "language": f.Languages} {
		if len(values) > 0 {
			parts = append(parts, "d."+column+" = any("+s.put(values)+"::text[])")
		}
	}
	for kind, values := range map[string][]string{sectionKey: f.Sections, tagKey: f.Tags, authorKey: f.Authors} {
		if len(values) > 0 {
			wanted := make([]string, len(values))
			for i, v := range values {
				wanted[i] = kind + search.Key(v)
			}
			parts = append(parts, "d.keys && "+s.put(wanted)+"::text[]")
		}
	}
	if !f.From.IsZero() {
		parts = append(parts, "d.published_at >= "+s.put(f.From))
	}
	if !f.To.IsZero() {
		parts = append(parts, "d.published_at < "+s.put(f.To))
	}
	return strings.Join(parts, " and ")
}

func (s *statement) words(column, expression string) string {
	if expression == "" {
		return "true"
	}
	return "d." + column + " @@ " + s.put(expression) + "::text::tsquery"
}

// estimate asks Postgres' planner how many articles match: it knows how frequent
// words are, and takes less than a millisecond.
func (e *Engine) estimate(ctx context.Context, r search.Request, x expression) (int, error) {
	var s statement
	sql := "explain (format json) select 1 from search_documents d where " + s.words("words", x.match) + " and " + s.where(r)
	var raw []byte
	if err := e.pool.QueryRow(ctx, sql, s.simple()...).Scan(&raw); err != nil {
		return 0, err
	}
	var plans []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(raw, &plans); err != nil || len(plans) == 0 {
		return 0, fmt.Errorf("the planner's answer cannot be read: %w", err)
	}
	return int(plans[0].Plan.Rows), nil
}

// simple has values planned with: what is prepared once is planned for any value.
func (s *statement) simple() []any {
	return append([]any{pgx.QueryExecModeExec}, s.args...)
}

// window is from when on articles are looked at: at all, and when they have the
// words in their head.
type window struct{ all, head time.Time }

// since gives the times from which there are about as many articles as can be
// looked at, of so many that match.
func (e *Engine) since(ctx context.Context, estimate int) (*window, error) {
	const from = `coalesce((select published_at from search_documents order by published_at desc
		offset (select (greatest(reltuples, 0) * $1::float8 * %d)::bigint from pg_class where oid = 'search_documents'::regclass) limit 1), '0001-01-01'::timestamptz)`
	var w window
	err := e.pool.QueryRow(ctx, "select "+fmt.Sprintf(from, 1)+", "+fmt.Sprintf(from, further), float64(broad)/float64(estimate)).Scan(&w.all, &w.head)
	return &w, err
}

// Weights of D, C, B and A: the body, who wrote it, the lead, the title.
const weights = "'{0.03,0.2,0.4,1.0}'"

// look finds, ranks and counts in one statement. since bounds what is looked at.
func (e *Engine) look(ctx context.Context, r search.Request, x expression, since *window) (a search.Answer, order []ranked, err error) {
	var s statement
	facets := ", null::text as domain, null::text as language, null::text as section, null::text[] as tags, null::text[] as authors"
	if r.Facets {
		facets = ", d.domain, d.language, d.section, d.tags, d.authors"
	}
	rank := "0::real"
	if r.Sort == search.ByRelevance && !x.empty {
		rank = "ts_rank('{0,0.1,0.3,1}', d.head, " + s.put(x.any) + "::text::tsquery)"
	}
	columns := "select d.id, d.published_at, " + rank + " as head" + facets + " from "
	filters, recent := s.where(r), "true"
	if since != nil {
		recent = "d.published_at >= " + s.put(since.all)
	}
	hits := columns + "search_documents d where " + s.words("words", x.match) + " and " + filters + " and " + recent
	if since != nil && r.Sort == search.ByRelevance && !x.empty {
		// Ranked behind the limit: most of these never are.
		hits += " union " + columns + "(select d.* from search_documents d where " + s.words("head", x.match) + " and " + filters +
			" and d.published_at >= " + s.put(since.head) + " order by d.published_at desc limit " + strconv.Itoa(broadHead) + ") d"
	}
	exact := "select null::uuid as id where false"
	if x.exact != "" && r.Sort == search.ByRelevance {
		exact = "select d.id from search_documents d where " + s.words("words", x.exact) + " and " + filters + " and " + recent
		if since != nil {
			exact += " union (select d.id from search_documents d where " + s.words("head", x.exact) + " and " + filters + " and d.published_at >= " + s.put(since.head) +
				" order by d.published_at desc limit " + strconv.Itoa(broadHead) + ")"
		}
	}
	top := "select h.id, h.published_at, true as exact, 0::float8 as score from hits h order by h.published_at desc, h.id limit " + strconv.Itoa(r.Offset+r.Limit)
	if r.Sort == search.ByRelevance && !x.empty {
		top = e.ranking(&s, r, x)
	}
	sql := "with hits as materialized (" + hits + "), exact as materialized (" + exact + "), top as materialized (" + top + `)
		select (select count(*) from hits)::int as total,
			coalesce((select array_agg(t.id order by t.exact desc, t.score desc, t.published_at desc, t.id) from top t), '{}')::uuid[],
			coalesce((select array_agg(t.score order by t.exact desc, t.score desc, t.published_at desc, t.id) from top t), '{}')::float8[]` + counting(r.Facets)
	var ids []uuid.UUID
	var scores []float64
	var raw []byte
	if err := e.pool.QueryRow(ctx, sql, s.simple()...).Scan(&a.Total, &ids, &scores, &raw); err != nil {
		return a, nil, err
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
func (e *Engine) ranking(s *statement, r search.Request, x expression) string {
	rank := "ts_rank_cd(" + weights + ", d.words, " + s.put(x.match) + "::text::tsquery, 1) + ts_rank(" + weights + ", d.words, " + s.put(x.any) + "::text::tsquery, 1)"
	if x.phrase != "" {
		phrase := s.put(x.phrase) + "::text::tsquery"
		rank += " + ts_rank_cd(" + weights + ", d.words, " + phrase + ", 1) + case when d.head @@ " + phrase + " then 0.5 else 0 end"
	}
	exact := "true"
	if x.exact != "" {
		exact = "(e.id is not null)"
	}
	fresh := "(1 + 0.33 / (1 + greatest(extract(epoch from " + s.put(r.Now) + "::timestamptz - c.published_at), 0) / 604800))::float8"
	best := "from (select h.id, h.published_at, h.head, " + exact + " as exact from hits h left join exact e on e.id = h.id) b order by b.exact desc, b.head desc, b.published_at desc, b.id"
	return "select c.id, c.published_at, c.exact, ((" + rank + ") * " + fresh + ")::float8 as score from (select b.* " + best + " limit " + strconv.Itoa(deep) + `) c
		join search_documents d on d.id = c.id
		union all
		select r.id, r.published_at, r.exact, r.head * 0.0001 - 1 as score from (select b.* ` + best + " offset " + strconv.Itoa(deep) + " limit " + strconv.Itoa(search.MaxOffset+search.MaxLimit) + ") r"
}
