package flush_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/storetest"
)

// TestMain also runs the flush that a test kills; see crash_test.go.
func TestMain(m *testing.M) {
	if at := os.Getenv(crashAt); at != "" {
		os.Exit(crash(at))
	}
	enginetest.Main(m)
}

const shards = 2

// fixture is a flusher with its engines, and the expected views.
type fixture struct {
	*flush.Flusher
	t           testing.TB
	store       *postgres.Store
	databaseURL string
	redisURL    string
	redis       *redis.Client
	counter     *counter.Counter
	site        counter.Site
	want        map[string]int64 // views by page
	visitors    *atomic.Uint64
}

func open(t testing.TB, redisURL string) *fixture {
	t.Helper()
	r := &fixture{
		t: t, redisURL: redisURL, redis: enginetest.RedisClient(t, redisURL), want: map[string]int64{},
		visitors: &atomic.Uint64{},
		site: counter.Site{
			ID: uuid.New(), Workspace: uuid.New(), Zone: time.UTC, Window: 30 * time.Minute,
			UniqueMethod: counter.HyperLogLog,
		},
	}
	r.store, r.databaseURL = storetest.OpenWithURL(t)
	r.counter = counter.New(r.redis, counter.Options{Shards: shards})
	r.Flusher = &flush.Flusher{Counter: r.counter, Store: r.store.Audience.Views, Log: slog.New(slog.DiscardHandler)}
	return r
}

func (r *fixture) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// view counts views by new readers, each with a heartbeat.
func (r *fixture) view(page string, n int) {
	r.t.Helper()
	hits, beats := make([]counter.Hit, n), make([]counter.Heartbeat, n)
	for i := range hits {
		reader := r.visitors.Add(1)
		view := fmt.Sprint("view ", reader)
		hits[i] = counter.Hit{
			Site: r.site, Page: page, Kind: counter.View,
			Visitor: counter.Visitor{Hash: reader * 0x9e3779b97f4a7c15}, At: time.Now(), Country: "VN", View: view,
		}
		beats[i] = counter.Heartbeat{
			Site: r.site, Page: page, View: view, Engaged: time.Second, Scroll: 50, At: time.Now(),
		}
	}
	_, err := r.counter.Count(r.t.Context(), hits)
	r.must(err)
	known, err := r.counter.Heartbeats(r.t.Context(), beats)
	if r.must(err); known != n {
		r.t.Errorf("%d views have a heartbeat, want %d", known, n)
	}
	r.want[page] += int64(n)
}

// readAll counts views of some pages.
func (r *fixture) viewPages(pages, n int) {
	r.t.Helper()
	for i := range pages {
		r.view(fmt.Sprintf("post %d", i), n+i)
	}
}

func (r *fixture) flush() flush.Result {
	r.t.Helper()
	done, err := r.Flush(r.t.Context(), func() {})
	r.must(err)
	return done
}

// shown is the number of views that readers see for a page.
func (r *fixture) shown(page string) counter.Stats {
	r.t.Helper()
	s, err := r.counter.Stats(r.t.Context(), r.site, page)
	r.must(err)
	return s
}

func (r *fixture) stored(page string) int64 {
	r.t.Helper()
	all, err := r.store.Audience.Views.ViewTotals(r.t.Context(), []counter.PageID{{Site: r.site.ID, Page: page}})
	r.must(err)
	return all[counter.PageID{Site: r.site.ID, Page: page}].Views
}

// number returns the result of a query.
func (r *fixture) number(sql string, args ...any) (n int64) {
	r.t.Helper()
	c, err := pgx.Connect(r.t.Context(), r.databaseURL)
	r.must(err)
	defer func() { _ = c.Close(context.WithoutCancel(r.t.Context())) }()
	r.must(c.QueryRow(r.t.Context(), sql, args...).Scan(&n))
	return n
}

func (r *fixture) exec(sql string, args ...any) {
	r.t.Helper()
	c, err := pgx.Connect(r.t.Context(), r.databaseURL)
	r.must(err)
	defer func() { _ = c.Close(context.WithoutCancel(r.t.Context())) }()
	_, err = c.Exec(r.t.Context(), sql, args...)
	r.must(err)
}

// expectConsistent flushes and compares everything with the expected views: the totals
// on both sides, the hours, the countries and the comparison itself.
func (r *fixture) expectConsistent(when string) {
	r.t.Helper()
	for r.flush().Busy { // the database has not detected yet that a process is dead
		time.Sleep(10 * time.Millisecond)
	}
	var sum int64
	for page, want := range r.want {
		sum += want
		if shown, stored := r.shown(page).Views, r.stored(page); shown != want || stored != want {
			r.t.Errorf("%s: %s was read %d times; readers see %d, stored are %d", when, page, want, shown, stored)
		}
	}
	for _, sql := range []string{
		"select coalesce(sum(count), 0) from view_hours where kind = 'view'",
		"select coalesce(sum(count), 0) from view_dimensions where dimension = 'country'",
		"select coalesce(sum(funnel), 0) from view_hours", "select coalesce(sum(engaged[1]), 0) from view_engagement",
		"select coalesce(sum(engaged[1]), 0) from site_engagement",
		"select coalesce(sum(scrolled[2]), 0) from site_engagement",
		"select coalesce(sum(counts), 0) from view_batches",
	} {
		if got := r.number(sql); got != sum {
			r.t.Errorf("%s: %s: %d, want %d", when, sql, got, sum)
		}
	}
	c, done, err := r.Check(r.t.Context(), func() {})
	if r.must(err); !done || c.Differing != 0 || c.Compared != int64(3*len(r.want)) {
		r.t.Errorf("%s: comparison: got %+v, want no differences", when, c)
	}
}
