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

// statement collects the parameters of a statement.
type statement struct {
	args []any
}

func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args))
}

// unprepared has values planned with: what is prepared once is planned for any value.
func (s *statement) unprepared() []any {
	return append([]any{pgx.QueryExecModeExec}, s.args...)
}

// where writes the filters.
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

// maxRecentCandidates is how many of the newest are looked at where nothing else bounds a search.
const maxRecentCandidates = 3000

// candidates writes what is looked at, the newest first, with the number of all
// that match.
func (l searcher) candidates(s *statement, x expression, since *timeWindow, ranks bool) string {
	filters := s.where(l.r)
	if l.recentOnly {
		return "select d.ctid as tid, count(*) over () as n from (select d.ctid, d.* from search_documents d where " + filters + " order by d.published_at desc limit " + strconv.Itoa(maxRecentCandidates) + ") d where " + s.matchSQL("words", x.plain)
	}
	words := x.match
	if !l.current {
		words = x.plain
	}
	stretches := since != nil && l.current && words != "" && !x.hasShortPrefix
	if stretches {
		words = "(" + words + ") & " + since.buckets
	}
	found := "(select m.tid, m.n from (select d.ctid as tid, d.published_at, count(*) over () as n from search_documents d where " + s.matchSQL("words", words) + " and " + filters
	if since != nil && !stretches {
		found += " and d.published_at >= " + s.arg(since.all)
	}
	found += ") m order by m.published_at desc limit " + strconv.Itoa(l.candidateLimit(x)) + ")"
	if since != nil && ranks && !x.isRelaxed {
		// Ranked behind the limit: most of these never are. All of them are found
		// first ("offset 0"): where heads with these words are rare, the newest rows
		// would be gone through one by one until there are enough.
		found += " union all (select h.tid, 0 as n from (select d.ctid as tid, d.published_at from search_documents d where " + s.matchSQL("head", x.plain) + " and " + filters +
			" and d.published_at >= " + s.arg(since.titles) + " offset 0) h order by h.published_at desc limit " + strconv.Itoa(maxTitleCandidates) + ")"
	}
	return found
}

// verifiesPhrases says that each text which is looked at is read, to see whether the
// phrases are there.
func (l searcher) verifiesPhrases(x expression) bool {
	return l.current && !l.recentOnly && x.match != x.plain
}

// candidateLimit is how many are looked at.
func (l searcher) candidateLimit(x expression) int {
	if l.verifiesPhrases(x) {
		return max(maxPhraseCandidates, l.r.Offset+l.r.Limit)
	}
	return maxCandidates
}

// estimate asks Postgres' planner how many articles match: it knows how frequent
// words are, and takes less than a millisecond.
func (l searcher) estimate(ctx context.Context, x expression) (int, error) {
	var s statement
	words := x.count
	if !l.current {
		words = x.plain
	}
	sql := "explain (format json) select 1 from search_documents d where " + s.matchSQL("words", words) + " and " + s.where(l.r)
	var raw []byte
	if err := l.tx.QueryRow(ctx, sql, s.unprepared()...).Scan(&raw); err != nil {
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

// timeWindow is from when on articles are looked at: at all, which within says in the
// names of stretches, and when they have the words in their head.
type timeWindow struct {
	all, titles time.Time
	buckets     string
}

// timeWindow gives the times from which there are about as many articles as can be
// looked at, of so many that match; nil: Postgres has not counted yet.
func (l searcher) timeWindow(ctx context.Context, estimate int) (*timeWindow, error) {
	bounds, rows, err := l.timeHistogram(ctx)
	if err != nil || len(bounds) < 2 {
		return nil, err
	}
	// So large a part of all rows has them, if they are spread evenly.
	part := float64(maxCandidates) / float64(estimate)
	w := timeWindow{all: quantile(bounds, 1-part), titles: quantile(bounds, 1-min(part*titleWindowFactor, maxTitleRows/max(rows, 1)))}
	// Some say that they come out tomorrow.
	w.buckets = bucketsBetween(w.all, latest(l.r.Now, bounds[len(bounds)-1]).Add(24*time.Hour))
	return &w, nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// timeHistogram gives the times that divide all articles into parts of the same size,
// which Postgres keeps for its plans, and how many articles there are.
func (l searcher) timeHistogram(ctx context.Context) (bounds []time.Time, rows float64, err error) {
	const sql = `select coalesce(s.histogram_bounds::text::timestamptz[], '{}'), c.reltuples::float8
		from pg_class c join pg_namespace n on n.oid = c.relnamespace
		left join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = 'published_at'
		where c.oid = 'search_documents'::regclass`
	err = l.tx.QueryRow(ctx, sql).Scan(&bounds, &rows)
	return bounds, rows, err
}

// quantile gives the time before which that part of all rows is, which bounds
// divide evenly.
func quantile(bounds []time.Time, part float64) time.Time {
	if part <= 0 {
		return time.Time{}
	}
	at := part * float64(len(bounds)-1)
	i := min(int(at), len(bounds)-2)
	return bounds[i].Add(time.Duration((at - float64(i)) * float64(bounds[i+1].Sub(bounds[i]))))
}
