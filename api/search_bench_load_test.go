package api_test

import (
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/news/search"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/searchtest"
	"dateline/internal/testing/storetest"
)

// fillIndex indexes the articles that are not yet there, and returns the rate with all
// indexes in place, measured on the last of them. The others are loaded without GIN
// indexes: building one is many times as fast as updating it.
func fillIndex(t *testing.T, e *pgsearch.Engine, pool *pgxpool.Pool, load *searchtest.Load, n int) float64 {
	have := countDocuments(t, pool)
	if target := n - n/50; have < target {
		began := time.Now()
		definitions := dropGINIndexes(t, pool)
		var loaders sync.WaitGroup
		for k := range 2 {
			loaders.Go(func() { indexLoad(t, e, have+(target-have)*k/2, load, have+(target-have)*(k+1)/2, n) })
		}
		loaders.Wait()
		t.Logf("%d articles loaded in %s", target-have, time.Since(began).Round(time.Second))
		createIndexes(t, pool, definitions)
		t.Logf("indexes built after %s", time.Since(began).Round(time.Second))
		have = target
	}
	return indexLoad(t, e, have, load, n, n)
}

func dropGINIndexes(t *testing.T, pool *pgxpool.Pool) (definitions []string) {
	rows, err := pool.Query(t.Context(),
		"select indexname, indexdef from pg_indexes where schemaname = 'public' and tablename in "+
			"('search_documents', 'search_words') and indexdef ilike '%using gin%'")
	if err != nil {
		t.Fatal(err)
	}
	var name, definition string
	var names []string
	if _, err = pgx.ForEachRow(rows, []any{&name, &definition}, func() error {
		names, definitions = append(names, name), append(definitions, definition)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), "drop index "+strings.Join(names, ", ")); err != nil {
		t.Fatal(err)
	}
	return definitions
}

func createIndexes(t *testing.T, pool *pgxpool.Pool, definitions []string) {
	c, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	for _, sql := range append([]string{"set maintenance_work_mem = '512MB'"}, definitions...) {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// indexLoad indexes the articles from number have up to end of n, and returns the rate.
func indexLoad(t *testing.T, e search.Engine, have int, load *searchtest.Load, end, n int) float64 {
	began := time.Now()
	for i := have; i < end; {
		var batch []search.Document
		for ; i < end && len(batch) < 500; i++ {
			batch = append(batch, load.Article(i, n))
		}
		if err := e.Index(t.Context(), batch); err != nil {
			t.Error(err)
			return 0
		}
	}
	return float64(max(end-have, 0)) / time.Since(began).Seconds()
}

func countDocuments(t *testing.T, pool *pgxpool.Pool) (n int) {
	if err := pool.QueryRow(t.Context(), "select count(*) from search_documents").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func vacuum(t *testing.T, pool *pgxpool.Pool, tables ...string) {
	if _, err := pool.Exec(t.Context(), "vacuum analyze "+strings.Join(tables, ", ")); err != nil {
		t.Fatal(err)
	}
}

// searchBenchPool returns a new database, or the reusable one in SEARCH_BENCH_URL.
func searchBenchPool(t *testing.T) *pgxpool.Pool {
	address := os.Getenv("SEARCH_BENCH_URL")
	if address == "" {
		return storetest.Open(t).Pool()
	}
	s, err := postgres.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Migrate(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return s.Pool()
}
