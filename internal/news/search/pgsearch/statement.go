package pgsearch

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/news/search"
)

// statement collects the arguments of an SQL statement.
type statement struct {
	args []any
}

func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args))
}

// unprepared returns the arguments for execution without a prepared statement, so
// that Postgres plans with the actual values.
func (s *statement) unprepared() []any {
	return append([]any{pgx.QueryExecModeExec}, s.args...)
}

// where returns the SQL condition for the filters of a request.
func (s *statement) where(r search.Request) string {
	f := r.Filters
	parts := []string{"true"}
	if f.VisibleDomains != nil {
		parts = append(parts, "d.domain = any("+s.arg(f.VisibleDomains)+"::text[])")
	}
	for column, values := range map[string][]string{"domain": f.Domains, "language": f.Languages} {
		if len(values) > 0 {
			parts = append(parts, "d."+column+" = any("+s.arg(values)+"::text[])")
		}
	}
	for kind, values := range map[string][]string{sectionKey: f.Sections, tagKey: f.Tags, authorKey: f.Authors} {
		if len(values) > 0 {
			wanted := make([]string, len(values))
			for i, v := range values {
				wanted[i] = kind + search.Key(v)
			}
			parts = append(parts, "d.keys && "+s.arg(wanted)+"::text[]")
		}
	}
	if !f.From.IsZero() {
		parts = append(parts, "d.published_at >= "+s.arg(f.From))
	}
	if !f.To.IsZero() {
		parts = append(parts, "d.published_at < "+s.arg(f.To))
	}
	return strings.Join(parts, " and ")
}

func (s *statement) matchSQL(column, expression string) string {
	if expression == "" {
		return "true"
	}
	return "d." + column + " @@ " + s.arg(expression) + "::text::tsquery"
}

// maxRecentCandidates is the number of newest articles that a recent-only search scans.
const maxRecentCandidates = 3000

// candidates returns the SQL that selects the rows to rank, the newest first, with
// the total number of matches.
func (l searcher) candidates(s *statement, x expression, since *timeWindow, ranks bool) string {
	filters := s.where(l.r)
	if l.recentOnly {
		return "select d.ctid as tid, count(*) over () as n from (select d.ctid, d.* from search_documents d where " +
			filters + " order by d.published_at desc limit " + strconv.Itoa(maxRecentCandidates) + ") d where " +
			s.matchSQL("words", x.plain)
	}
	words := x.match
	if since != nil && x.hasShortPrefix {
		// Almost every article matches: Postgres reads the newest one by one.
		return "select d.ctid as tid, 0 as n from search_documents d where " + s.matchSQL("words", words) + " and " +
			filters +
			" and d.published_at >= " + s.arg(since.all) + " order by d.published_at desc limit " +
			strconv.Itoa(l.candidateLimit())
	}
	useBuckets := since != nil && words != ""
	if useBuckets {
		words = "(" + words + ") & " + since.buckets
	}
	found := "(select m.tid, m.n from (select d.ctid as tid, d.published_at, count(*) over () as n from " +
		"search_documents d where " + s.matchSQL("words", words) + " and " + filters
	if since != nil && !useBuckets {
		found += " and d.published_at >= " + s.arg(since.all)
	}
	found += ") m order by m.published_at desc limit " + strconv.Itoa(l.candidateLimit()) + ")"
	if since != nil && ranks && !x.isRelaxed() {
		// Older articles with the words in their title fields. "offset 0" makes
		// Postgres find all matches before sorting: where they are rare, it would
		// otherwise scan the newest rows one by one until there are enough.
		found += " union all (select h.tid, 0 as n from (select d.ctid as tid, d.published_at from " +
			"search_documents d where search_titles(d.title_words, d.published_at) @@ " +
			s.arg("("+x.inTitles+")"+since.titles) + "::text::tsquery and " + filters
		if x.inTitles != x.plain {
			found += " and " + s.matchSQL("title_words", x.plain)
		}
		found += " offset 0) h order by h.published_at desc limit " +
			strconv.Itoa(maxTitleCandidates) + ")"
	}
	return found
}

// verifiesPhrases reports whether each candidate's text is checked for the phrases,
// because the index only finds their word pairs.
func (l searcher) verifiesPhrases(x expression) bool {
	return !l.recentOnly && x.match != x.plain
}

// candidateLimit is the maximum number of rows to rank.
func (l searcher) candidateLimit() int {
	if l.r.Facets {
		return max(maxFacetCandidates, l.r.Offset+l.r.Limit)
	}
	return max(maxCandidates, l.r.Offset+l.r.Limit)
}

// estimate returns the planner's estimates of the number of matches, and of those in title
// fields. They are based on word frequencies and take less than a millisecond.
func (l searcher) estimate(ctx context.Context, x expression) (all, inTitles int, err error) {
	var s statement
	filters := s.where(l.r)
	rows, err := l.plannedRows(ctx, &s, "search_documents d where "+s.matchSQL("words", x.count)+" and "+filters,
		"search_documents d where "+s.matchSQL("title_words", x.plain)+" and "+filters)
	if err != nil {
		return 0, 0, err
	}
	if x.hasPrefix {
		_, articles, err := l.timeHistogram(ctx)
		if err != nil {
			return 0, 0, err
		}
		rows[0] = max(rows[0], min(prefixFactor*rows[0], articles))
	}
	return int(rows[0]), int(rows[1]), nil
}

// plannedRows returns the number of rows that the planner expects from each clause.
func (l searcher) plannedRows(ctx context.Context, s *statement, from ...string) ([]float64, error) {
	parts := make([]string, len(from), len(from)+1)
	for i, f := range from {
		parts[i] = "(select 1 from " + f + ")"
	}
	parts = append(parts, "(select 1)") // so that Append remains the root of the plan
	var raw []byte
	if err := l.tx.QueryRow(ctx, "explain (format json) "+strings.Join(parts, " union all "), s.unprepared()...).
		Scan(&raw); err != nil {
		return nil, err
	}
	var plans []struct {
		Plan struct {
			Plans []struct {
				Rows float64 `json:"Plan Rows"`
			}
		}
	}
	if err := json.Unmarshal(raw, &plans); err != nil || len(plans) == 0 || len(plans[0].Plan.Plans) != len(parts) {
		return nil, fmt.Errorf("unexpected output of explain: %s", raw)
	}
	out := make([]float64, len(from))
	for i := range from {
		out[i] = plans[0].Plan.Plans[i].Rows
	}
	return out, nil
}

// timeWindow limits a search to recent articles: those published since all, which
// buckets expresses as time buckets, and those that have the words in their title fields
// and also match titles: time buckets, or nothing.
type timeWindow struct {
	all             time.Time
	buckets, titles string
}

// timeWindow returns the window that contains about as many of the estimated
// matches as are ranked, or nil if Postgres has no statistics yet.
func (l searcher) timeWindow(ctx context.Context, estimate, inTitles int) (*timeWindow, error) {
	bounds, rows, err := l.timeHistogram(ctx)
	if err != nil || len(bounds) < 2 {
		return nil, err
	}
	// Assumes that matches are spread evenly over time.
	part := float64(l.candidateLimit()) / float64(estimate)
	if part >= 1 { // all of them, which need no window
		return nil, nil //nolint:nilnil // none
	}
	titles := min(part*titleWindowFactor, maxTitleRows/max(rows, 1),
		max(part, 1.5*maxTitleCandidates/float64(max(inTitles, 1))))
	// Some pages state a publication date in the future.
	all, end := quantile(bounds, 1-part), latest(l.r.Now, bounds[len(bounds)-1]).Add(24*time.Hour)
	w := &timeWindow{all: all, buckets: bucketsBetween(all, end)}
	if titles < 1 {
		w.titles = " & " + bucketsBetween(quantile(bounds, 1-titles), end)
	}
	return w, nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// timeStatistics are the planner's histogram of publication times, whose buckets contain
// the same number of articles, and the estimated number of articles.
type timeStatistics struct {
	bounds []time.Time
	rows   float64
	readAt time.Time
}

// maxStatisticsAge is how long statistics are cached. They change when Postgres analyzes
// the table.
const maxStatisticsAge = 30 * time.Second

// timeHistogram returns the statistics of publication times. Without a histogram they are
// not cached, because the first one makes a large difference.
func (l searcher) timeHistogram(ctx context.Context) (bounds []time.Time, rows float64, err error) {
	l.e.mu.Lock()
	cached := l.e.times
	l.e.mu.Unlock()
	if len(cached.bounds) > 1 && time.Since(cached.readAt) < maxStatisticsAge {
		return cached.bounds, cached.rows, nil
	}
	const sql = `select coalesce(s.histogram_bounds::text::timestamptz[], '{}'), c.reltuples::float8
		from pg_class c join pg_namespace n on n.oid = c.relnamespace
		left join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'published_at'
		where c.oid = 'search_documents'::regclass`
	if err = l.tx.QueryRow(ctx, sql).Scan(&bounds, &rows); err == nil {
		l.e.mu.Lock()
		l.e.times = timeStatistics{bounds: bounds, rows: rows, readAt: time.Now()}
		l.e.mu.Unlock()
	}
	return bounds, rows, err
}

// quantile interpolates the time before which the given part of all rows was published.
func quantile(bounds []time.Time, part float64) time.Time {
	if part <= 0 {
		return time.Time{}
	}
	at := part * float64(len(bounds)-1)
	i := min(int(at), len(bounds)-2)
	return bounds[i].Add(time.Duration((at - float64(i)) * float64(bounds[i+1].Sub(bounds[i]))))
}
