package pgsearch_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/news/search"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/searchtest"
)

var (
	benchArticles = flag.Int("search-bench", 0, "number of articles among which to measure the search (make bench-search)")
	benchFill     = flag.Int("search-bench-fill", 0, "number of articles to index without measuring")
	benchEach     = flag.Int("search-bench-each", 40, "number of queries of each kind")
	benchVectors  = flag.Int("search-bench-vectors", 0, "number of vectors to add before measuring semantic search")
)

// class is a kind of query.
type class struct {
	name    string
	request func(i int) search.Request
}

// kinds are the kinds of queries of a typical day, in equal numbers.
func kinds(l *searchtest.Load, n int) []class {
	words := func(text string, from, to int) string { return strings.Join(strings.Fields(text)[from:to], " ") }
	return []class{
		{"one word", func(i int) search.Request { return search.Request{Text: l.Word(30 + i*37)} }},
		{"one common term", func(i int) search.Request { return search.Request{Text: l.Word(i)} }},
		{"two words", func(i int) search.Request { return search.Request{Text: l.Word(5+i*3) + " " + l.Word(60+i*31)} }},
		{"three words", func(i int) search.Request {
			return search.Request{Text: l.Word(10+i) + " " + l.Word(40+i*7) + " " + l.Word(90+i*11)}
		}},
		{"eight words", func(i int) search.Request {
			return search.Request{Text: words(l.Article(i*97%n, n).Body, 20, 28)}
		}},
		{"without diacritics", func(i int) search.Request {
			return search.Request{Text: search.Key(l.Word(20+i*5)) + " " + search.Key(l.Word(100+i*13))}
		}},
		{"two common terms", func(i int) search.Request { return search.Request{Text: l.Word(i%6) + " " + l.Word(6+i%9)} }},
		{"a phrase", func(i int) search.Request {
			return search.Request{Text: `"` + words(l.Article(i*89%n, n).Lead, 3, 5) + `"`}
		}},
		{"a phrase of common terms", func(i int) search.Request {
			return search.Request{Text: `"` + l.Word(i%7) + " " + l.Word(i%5+1) + `"`}
		}},
		{"a phrase that none has", func(i int) search.Request {
			return search.Request{Text: `"` + l.Word(i%7) + " " + l.Word(i%5+1) + " " + l.Word(i%11+2) + " " + l.Word(i%13) + `"`}
		}},
		{"a prefix", func(i int) search.Request { return search.Request{Text: prefix(l.Word(3000+i*17)) + "*"} }},
		{"a prefix of two letters", func(i int) search.Request {
			return search.Request{Text: string([]rune(search.Key(l.Word(3000 + i*17)))[:2]) + "*"}
		}},
		{"a typo", func(i int) search.Request { return search.Request{Text: typo(l.Word(2000+i*19)) + " " + l.Word(20+i)} }},
		{"with facets", func(i int) search.Request { return search.Request{Text: l.Word(40 + i*23), Facets: true} }},
		{"filters and facets", func(i int) search.Request {
			return search.Request{Text: l.Word(8 + i*5), Facets: true, Filters: search.Filters{Domains: []string{site(i), site(i + 7)}, Languages: []string{"vi"}, From: searchtest.Now().AddDate(0, -6, 0)}}
		}},
		{"of a site", func(i int) search.Request {
			return search.Request{Text: l.Word(8 + i*5), Filters: search.Filters{Domains: []string{site(i)}}}
		}},
		{"a deep page", func(i int) search.Request { return search.Request{Text: l.Word(8 + i*3), Offset: 500 + i*12} }},
		{"newest first", func(i int) search.Request { return search.Request{Text: l.Word(3 + i*9), Sort: search.ByTime} }},
		{"newest, no words", func(i int) search.Request {
			return search.Request{Sort: search.ByTime, Filters: search.Filters{Languages: []string{"vi"}}, Offset: i * 10}
		}},
		{"no article has all words", func(i int) search.Request {
			return search.Request{Text: l.Word(5000+i*91) + " " + l.Word(9000+i*83) + " " + l.Word(200+i)}
		}},
	}
}

func site(i int) string { return fmt.Sprintf("site-%d.example", i%50) }

func sites() []string {
	out := make([]string, 50)
	for i := range out {
		out[i] = site(i)
	}
	return out
}

func prefix(w string) string { r := []rune(w); return string(r[:max(3, len(r)-1)]) }

func typo(w string) string { w = search.Key(w); return w[:1] + "q" + w[1:] }

// TestBench runs the search benchmark; make bench-search prints its results.
func TestBench(t *testing.T) {
	n := *benchArticles
	if n == 0 {
		return // measured on demand only: it takes minutes
	}
	pool := benchPool(t)
	e := pgsearch.New(pool, pgsearch.Options{Log: slog.New(slog.DiscardHandler)})
	l := searchtest.NewLoad(1)
	indexed := fill(t, e, pool, l, n)
	if *benchFill > 0 {
		t.Logf("%.0f articles indexed a second", indexed)
		return
	}
	if *benchVectors > 0 {
		benchMeaning(t, pool, l)
		return
	}
	out := map[string]any{"articles": n, "indexed_per_s": round(indexed)}
	var all []time.Duration
	each := *benchEach
	for _, c := range kinds(l, n) {
		measure(t, e, c, 3) // the first reads fill the cache
		took := measure(t, e, c, each)
		all = append(all, took...)
		t.Logf("%-27s %s", c.name, line(took))
	}
	t.Logf("%-27s %s", "all", line(all))
	for name, at := range map[string]int{"p50_ms": 50, "p95_ms": 95, "p99_ms": 99, "max_ms": 100} {
		out[name] = round(ms(percentile(all, at)))
	}
	for _, together := range []int{2, 8} {
		began := time.Now()
		busy := searchConcurrently(t, e, kinds(l, n), together, max(each/4, 1))
		out[fmt.Sprintf("at_once_%d_p95_ms", together)] = round(ms(percentile(busy, 95)))
		out[fmt.Sprintf("at_once_%d_per_s", together)] = round(float64(len(busy)) / time.Since(began).Seconds())
		t.Logf("%-27s %s", fmt.Sprintf("%d at once", together), line(busy))
	}
	naive := baseline(t, pool, l)
	out["queries"], out["ilike_p50_ms"], out["times_faster_p50"] = len(all), round(ms(percentile(naive, 50))), round(ms(percentile(naive, 50))/ms(percentile(all, 50)))
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(raw))
}

// fill indexes the articles that are missing, and returns the rate.
func fill(t *testing.T, e *pgsearch.Engine, pool *pgxpool.Pool, l *searchtest.Load, n int) float64 {
	var have int
	if err := pool.QueryRow(t.Context(), "select count(*) from search_documents").Scan(&have); err != nil {
		t.Fatal(err)
	}
	until := n
	if *benchFill > 0 {
		until = min(n, have+*benchFill)
	}
	began, i := time.Now(), have
	for i < until {
		var batch []search.Document
		for ; i < until && len(batch) < 500; i++ {
			batch = append(batch, l.Article(i, n))
		}
		if err := e.Index(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(began).Seconds()
	if have < until && until == n {
		if _, err := pool.Exec(t.Context(), "vacuum analyze search_documents, search_texts, search_words"); err != nil {
			t.Fatal(err)
		}
	}
	return float64(until-have) / took
}

// benchPool returns a new database, or the reusable one in SEARCH_BENCH_URL.
func benchPool(t *testing.T) *pgxpool.Pool {
	url := os.Getenv("SEARCH_BENCH_URL")
	if url == "" {
		return enginetest.Store(t).Pool()
	}
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Migrate(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return s.Pool()
}

func measure(t *testing.T, e *pgsearch.Engine, c class, n int) []time.Duration {
	took := make([]time.Duration, n)
	for i := range n {
		r := c.request(i)
		if r.Now = searchtest.Now(); r.Filters.VisibleDomains == nil {
			r.Filters.VisibleDomains = sites() // like the API
		}
		began := time.Now()
		a, err := e.Search(t.Context(), r)
		if err != nil {
			t.Fatalf("%s, %q: %v", c.name, r.Text, err)
		}
		took[i] = time.Since(began)
		if a.Partial {
			t.Errorf("%s, %q: cut short", c.name, r.Text)
		}
	}
	return took
}

// searchConcurrently runs concurrent searches.
func searchConcurrently(t *testing.T, e *pgsearch.Engine, kinds []class, together, each int) (took []time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range together {
		all.Go(func() {
			for j := range kinds {
				one := measure(t, e, kinds[(j+i*3)%len(kinds)], each)
				mu.Lock()
				took = append(took, one...)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return took
}

// baseline is the naive query: the newest articles with the word, and their number.
func baseline(t *testing.T, pool *pgxpool.Pool, l *searchtest.Load) (took []time.Duration) {
	for i := range 8 {
		began := time.Now()
		rows, err := pool.Query(context.WithoutCancel(t.Context()), `select count(*) over (), d.id from search_documents d join search_texts t using (id)
			where t.title ilike $1 or t.lead ilike $1 or t.body ilike $1 order by d.published_at desc limit 20`, "%"+strings.ToLower(l.Word(200+i*67))+"%")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
		}
		rows.Close()
		if rows.Err() != nil {
			t.Fatal(rows.Err())
		}
		took = append(took, time.Since(began))
	}
	return took
}

func line(took []time.Duration) string {
	return fmt.Sprintf("p50 %6.1f ms  p95 %6.1f ms  p99 %6.1f ms  max %6.1f ms", ms(percentile(took, 50)), ms(percentile(took, 95)), ms(percentile(took, 99)), ms(percentile(took, 100)))
}

func percentile(all []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func round(x float64) float64 { return float64(int(x*10+0.5)) / 10 }
