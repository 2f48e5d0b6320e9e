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

	"dateline/internal/enginetest"
	"dateline/internal/search"
	"dateline/internal/search/pgsearch"
	"dateline/internal/search/searchtest"
	"dateline/internal/store"
)

var benchArticles = flag.Int("search-bench", 0, "measure the search among so many articles (make bench-search)")

// kinds are what people search in a day, of each kind as many.
func kinds(l *searchtest.Load) map[string]func(i int) search.Request {
	return map[string]func(i int) search.Request{
		"one word":  func(i int) search.Request { return search.Request{Text: l.Word(30 + i*37)} },
		"two words": func(i int) search.Request { return search.Request{Text: l.Word(5+i*3) + " " + l.Word(60+i*31)} },
		"three words": func(i int) search.Request {
			return search.Request{Text: l.Word(10+i) + " " + l.Word(40+i*7) + " " + l.Word(90+i*11)}
		},
		"no diacritics": func(i int) search.Request {
			return search.Request{Text: search.Key(l.Word(20+i*5)) + " " + search.Key(l.Word(100+i*13))}
		},
		"two frequent words": func(i int) search.Request { return search.Request{Text: l.Word(i%6) + " " + l.Word(6+i%9)} },
		"a phrase": func(i int) search.Request {
			return search.Request{Text: `"` + strings.Join(strings.Fields(l.Article(i, 1).Lead)[3:5], " ") + `"`}
		},
		"a prefix":    func(i int) search.Request { return search.Request{Text: prefix(l.Word(3000+i*17)) + "*"} },
		"a typo":      func(i int) search.Request { return search.Request{Text: typo(l.Word(2000+i*19)) + " " + l.Word(20+i)} },
		"with facets": func(i int) search.Request { return search.Request{Text: l.Word(40 + i*23), Facets: true} },
		"of a site": func(i int) search.Request {
			return search.Request{Text: l.Word(8 + i*5), Filters: search.Filters{Domains: []string{fmt.Sprintf("site-%d.example", i%50)}}}
		},
		"newest first": func(i int) search.Request { return search.Request{Text: l.Word(3 + i*9), Sort: search.ByTime} },
		"newest, no words": func(i int) search.Request {
			return search.Request{Sort: search.ByTime, Filters: search.Filters{Languages: []string{"vi"}}, Offset: i * 10}
		},
		"nothing has them all": func(i int) search.Request {
			return search.Request{Text: l.Word(5000+i*91) + " " + l.Word(9000+i*83) + " " + l.Word(200+i)}
		},
	}
}

func prefix(w string) string { r := []rune(w); return string(r[:max(3, len(r)-1)]) }

func typo(w string) string { w = search.Key(w); return w[:1] + "q" + w[1:] }

// TestBench measures; make bench-search prints what it says.
func TestBench(t *testing.T) {
	n := *benchArticles
	if n == 0 {
		return // measured on demand only: it takes minutes
	}
	pool := benchPool(t)
	e := pgsearch.New(pool, pgsearch.Options{Log: slog.New(slog.DiscardHandler)})
	l := searchtest.NewLoad(1)
	began, i := time.Now(), 0
	if err := pool.QueryRow(t.Context(), "select count(*) from search_documents").Scan(&i); err != nil {
		t.Fatal(err)
	}
	fresh := n - i
	for i < n {
		var batch []search.Document
		for ; i < n && len(batch) < 500; i++ {
			batch = append(batch, l.Article(i, n))
		}
		if err := e.Index(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	indexed := float64(fresh) / time.Since(began).Seconds()
	if _, err := pool.Exec(t.Context(), "vacuum analyze search_documents, search_texts, search_words"); err != nil {
		t.Fatal(err)
	}
	var all []time.Duration
	const each = 40
	for name, request := range kinds(l) {
		measure(t, e, request, 3) // what is read for the first time
		took := measure(t, e, request, each)
		all = append(all, took...)
		t.Logf("%-22s p50 %6.1f ms  p95 %6.1f ms  max %6.1f ms", name, ms(at(took, 50)), ms(at(took, 95)), ms(at(took, 100)))
	}
	busy := crowd(t, e, kinds(l), each/4)
	naive := baseline(t, pool, l)
	out, err := json.Marshal(map[string]any{"articles": n, "indexed_per_s": round(indexed), "queries": len(all), "p50_ms": round(ms(at(all, 50))), "p95_ms": round(ms(at(all, 95))), "max_ms": round(ms(at(all, 100))),
		"two_at_once_p95_ms": round(ms(at(busy, 95))), "ilike_p50_ms": round(ms(at(naive, 50))), "times_faster_p50": round(ms(at(naive, 50)) / ms(at(all, 50)))})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(out))
}

// benchPool is a new database, or the one that SEARCH_BENCH_URL names: filled
// once, it is measured many times.
func benchPool(t *testing.T) *pgxpool.Pool {
	url := os.Getenv("SEARCH_BENCH_URL")
	if url == "" {
		return enginetest.Store(t).Pool()
	}
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Migrate(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return s.Pool()
}

func measure(t *testing.T, e *pgsearch.Engine, request func(int) search.Request, n int) []time.Duration {
	took := make([]time.Duration, n)
	for i := range n {
		r := request(i)
		r.Now = searchtest.Now()
		began := time.Now()
		if _, err := e.Search(t.Context(), r); err != nil {
			t.Fatalf("%q: %v", r.Text, err)
		}
		took[i] = time.Since(began)
	}
	return took
}

// crowd lets two search at the same time.
func crowd(t *testing.T, e *pgsearch.Engine, kinds map[string]func(int) search.Request, each int) (took []time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for _, request := range kinds {
				one := measure(t, e, request, each)
				mu.Lock()
				took = append(took, one...)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return took
}

// baseline is what one writes first: the newest that hold the word, and how many there are.
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

func at(all []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func round(x float64) float64 { return float64(int(x*10+0.5)) / 10 }
