package pgsearch_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"dateline/internal/news/search"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/testing/searchtest"
	"dateline/internal/testing/storetest"
)

func exec(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// lock locks a table until the returned function is called.
func lock(t *testing.T, pool *pgxpool.Pool, table string) (unlock func()) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "lock table "+pgx.Identifier{table}.Sanitize()+
		" in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	return func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }
}

func bounded(t *testing.T, o pgsearch.Options) (*pgsearch.Engine, *pgxpool.Pool) {
	pool := storetest.Open(t).Pool()
	o.Log = slog.New(slog.DiscardHandler)
	e := pgsearch.New(pool, o)
	searchtest.IndexArticles(t, e, 0)
	return e, pool
}

func ask(t *testing.T, e *pgsearch.Engine, text string) (search.Response, error) {
	t.Helper()
	return e.Search(t.Context(), search.Request{Text: text, Now: searchtest.Now()})
}

// A blocked search ends with a partial result or ErrBusy.
func TestSearch_TimesOut(t *testing.T) {
	e, pool := bounded(t, pgsearch.Options{StatementTimeout: 100 * time.Millisecond})
	unlock := lock(t, pool, "search_words") // whose typos are corrected
	a, err := ask(t, e, "giá vàng")
	require.NoError(t, err)
	require.True(t, a.Partial)
	require.True(t, a.Estimated)
	require.NotEmpty(t, a.Hits)
	require.True(t, strings.HasPrefix(a.Hits[0].Title, "Giá vàng"))
	unlock()
	if a, err := ask(t, e, "giá vàng"); err != nil || a.Partial {
		t.Errorf("with it: %v, partial %v", err, a.Partial)
	}
	unlock = lock(t, pool, "search_documents")
	if _, err := ask(t, e, "giá vàng"); !errors.Is(err, search.ErrBusy) {
		t.Errorf("without all: %v", err)
	}
	unlock()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Search(canceled, search.Request{Text: "giá vàng"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled search returned %v", err)
	}
}

func TestSearch_LimitsConcurrency(t *testing.T) {
	e, pool := bounded(t, pgsearch.Options{MaxConcurrent: 1, MaxWait: time.Millisecond, StatementTimeout: time.Minute})
	unlock := lock(t, pool, "search_documents")
	first := make(chan error)
	go func() {
		_, err := e.Search(t.Context(), search.Request{Text: "giá vàng"})
		first <- err
	}()
	for waits := false; !waits; { // until it has the only slot
		if err := pool.QueryRow(t.Context(), "select exists (select from pg_locks where not granted)").
			Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ask(t, e, "giá vàng"); !errors.Is(err, search.ErrBusy) {
		t.Errorf("the second: %v", err)
	}
	unlock()
	if err := <-first; err != nil {
		t.Errorf("the first: %v", err)
	}
	if _, err := ask(t, e, "giá vàng"); err != nil {
		t.Errorf("the third: %v", err)
	}
}

// Queries with very many matches search a time window that is chosen from the
// planner's statistics.
func TestSearch_ManyMatchesAreLimitedToATimeWindow(t *testing.T) {
	e, pool := bounded(t, pgsearch.Options{})
	exec(t, pool,
		`insert into search_documents (id, version, published_at, domain, language, section, tags, authors, keys, title_words, words)
		select md5('many' || i)::uuid, 1, $1::timestamptz - make_interval(mins => i), 'many.example', '', '', '{}', '{}', '{}', '''common'':1A', 
			((case when i > 12000 then '''former'':2 ' else '' end) || '''common'':1A')::tsvector from generate_series(1, 20000) i`, searchtest.Now())
	exec(t, pool,
		`insert into search_texts (id, url, title, lead, body, image_url, group_id) select id, 'https://many.example/x', 'Common', '', '', '', id from search_documents where domain = 'many.example'`)
	// The time buckets, as Index adds them.
	exec(t, pool, `update search_documents set words = words || array_to_tsvector(array(
		select '@' || l || (floor(extract(epoch from published_at) / 3600)::bigint >> (3 * l)) from generate_series(0, 5) l)) where domain = 'many.example'`)
	exec(t, pool, "analyze search_documents")
	for _, c := range []struct {
		text string
		sort search.Sort
	}{
		{"common", search.ByRelevance},
		{"common", search.ByTime},
		{"comm*", search.ByRelevance},
		{"comm*", search.ByTime},
		{"co*", search.ByRelevance},
		{"co*", search.ByTime},
	} {
		t.Run(c.text+" "+string(c.sort), func(t *testing.T) {
			a, err := e.Search(t.Context(), search.Request{
				Text: c.text, Sort: c.sort, Now: searchtest.Now(), Facets: true, Offset: 30,
			})
			require.NoError(t, err)
			require.True(t, a.Estimated)
			require.False(t, a.Partial)
			require.InDelta(t, 20_000, a.Total, 4000)
			require.Len(t, a.Hits, 20)
			if c.sort == search.ByTime {
				require.Equal(t, searchtest.Now().Add(-31*time.Minute), a.Hits[0].Published)
			}
			require.Greater(t, a.Facets[0].Values[0].Count, 900, "facets count more candidates than are ranked")
		})
	}
	// None of the newest matches: the window is dropped.
	a, err := e.Search(t.Context(), search.Request{Text: "former", Sort: search.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	if a.Total != 8000 || !a.Estimated || len(a.Hits) != 20 {
		t.Fatalf("got %d matches, estimated %v, %d hits, want 8000, true, 20", a.Total, a.Estimated, len(a.Hits))
	}
	if want := searchtest.Now().Add(-12_001 * time.Minute); !a.Hits[0].Published.Equal(want) {
		t.Errorf("got first hit of %v, want %v", a.Hits[0].Published, want)
	}
}

// A page may contain more words than Postgres can index.
func TestIndex_TruncatesVeryLongTexts(t *testing.T) {
	e, _ := bounded(t, pgsearch.Options{})
	var body strings.Builder
	for i := range 40_000 {
		body.WriteString("ế" + strings.Repeat("z", 40) + strings.Repeat(string(rune('a'+i%26)), 1+i%7) +
			string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + " ")
	}
	d := search.Document{
		ID: searchtest.ID("endless"), Version: 1, Title: "Endless", Lead: body.String(),
		Body: body.String(), URL: "https://x.example/endless", Domain: "x.example", Published: searchtest.Now(),
	}
	if err := e.Index(t.Context(), []search.Document{d}); err != nil {
		t.Fatal(err)
	}
	if a, err := ask(t, e, "endless"); err != nil || a.Total != 1 {
		t.Errorf("%d are found, %v", a.Total, err)
	}
}
