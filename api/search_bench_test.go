package api_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/api"
	"dateline/internal/news/search"
	"dateline/internal/news/search/meili"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/testing/searchtest"
	"dateline/internal/testing/storetest"
)

var (
	benchArticles = flag.Int("search-bench", 0, "measure search among this many articles (make bench/search)")
	benchEach     = flag.Int("search-bench-each", 20, "number of queries of each kind")
	benchVectors  = flag.Bool("search-bench-vectors", false, "also embed the articles and measure hybrid search")
)

// queryKind is a kind of query.
type queryKind struct {
	name    string
	request func(i int) search.Request
}

// searchKinds are the kinds of queries of a typical day, in equal numbers.
func searchKinds(l *searchtest.Load, n int) []queryKind {
	words := func(text string, from, to int) string { return strings.Join(strings.Fields(text)[from:to], " ") }
	return []queryKind{
		{"one word", func(i int) search.Request { return search.Request{Text: l.Word(30 + i*37)} }},
		{"one common term", func(i int) search.Request { return search.Request{Text: l.Word(i)} }},
		{"two words", func(i int) search.Request {
			return search.Request{Text: l.Word(5+i*3) + " " + l.Word(60+i*31)}
		}},
		{"three words", func(i int) search.Request {
			return search.Request{Text: l.Word(10+i) + " " + l.Word(40+i*7) + " " + l.Word(90+i*11)}
		}},
		{"eight words", func(i int) search.Request {
			return search.Request{Text: words(l.Article(i*97%n, n).Body, 20, 28)}
		}},
		{"without diacritics", func(i int) search.Request {
			return search.Request{Text: search.Key(l.Word(20+i*5)) + " " + search.Key(l.Word(100+i*13))}
		}},
		{"two common terms", func(i int) search.Request {
			return search.Request{Text: l.Word(i%6) + " " + l.Word(6+i%9)}
		}},
		{"a phrase", func(i int) search.Request {
			return search.Request{Text: `"` + words(l.Article(i*89%n, n).Lead, 3, 5) + `"`}
		}},
		{"a phrase of common terms", func(i int) search.Request {
			return search.Request{Text: `"` + l.Word(i%7) + " " + l.Word(i%5+1) + `"`}
		}},
		{"a phrase that none has", func(i int) search.Request {
			return search.Request{Text: `"` + l.Word(i%7) + " " + l.Word(i%5+1) + " " + l.Word(i%11+2) + " " +
				l.Word(i%13) + `"`}
		}},
		{"a prefix", func(i int) search.Request { return search.Request{Text: wordPrefix(l.Word(3000+i*17)) + "*"} }},
		{"a prefix of two letters", func(i int) search.Request {
			return search.Request{Text: string([]rune(search.Key(l.Word(3000 + i*17)))[:2]) + "*"}
		}},
		{"a typo", func(i int) search.Request {
			return search.Request{Text: withTypo(l.Word(2000+i*19)) + " " + l.Word(20+i)}
		}},
		{"with facets", func(i int) search.Request { return search.Request{Text: l.Word(40 + i*23), Facets: true} }},
		{"filters and facets", func(i int) search.Request {
			return search.Request{Text: l.Word(8 + i*5), Facets: true, Filters: search.Filters{
				Domains: []string{benchSite(i), benchSite(i + 7)}, Languages: []string{"vi"},
				From: searchtest.Now().AddDate(0, -6, 0),
			}}
		}},
		{"of a site", func(i int) search.Request {
			return search.Request{Text: l.Word(8 + i*5), Filters: search.Filters{Domains: []string{benchSite(i)}}}
		}},
		{"a deep page", func(i int) search.Request {
			return search.Request{Text: l.Word(8 + i*3), Offset: 500 + i%40*12}
		}},
		{"newest first", func(i int) search.Request {
			return search.Request{Text: l.Word(3 + i*9), Sort: search.ByTime}
		}},
		{"newest, no words", func(i int) search.Request {
			return search.Request{
				Sort: search.ByTime, Filters: search.Filters{Languages: []string{"vi"}},
				Offset: i * 10,
			}
		}},
		{"a question", func(i int) search.Request {
			lead := strings.Fields(l.Article(i*83%n, n).Lead)
			return search.Request{Text: "how is " + strings.Join(lead[2:5], " ") + " " + l.Word(3000+i*7) + " the " +
				strings.Join(lead[9:11], " ") + " " + l.Word(700+i) + "?"}
		}},
		{"a long name", func(i int) search.Request {
			return search.Request{Text: l.Word(i%9) + " " + l.Word(i%7+9) + " " + l.Word(i%5+1) + " " + l.Word(i%11+3) +
				" " + l.Word(400+i*13)}
		}},
		{"no article has all words", func(i int) search.Request {
			return search.Request{Text: l.Word(5000+i*91) + " " + l.Word(9000+i*83) + " " + l.Word(200+i)}
		}},
	}
}

func benchSite(i int) string { return fmt.Sprintf("site-%d.example", i%50) }

func benchSites() []string {
	out := make([]string, 50)
	for i := range out {
		out[i] = benchSite(i)
	}
	return out
}

func wordPrefix(w string) string { r := []rune(w); return string(r[:max(3, len(r)-1)]) }

func withTypo(w string) string { w = search.Key(w); return w[:1] + "q" + w[1:] }

// benchReaders is the number of concurrent readers over HTTP.
const benchReaders = 8

// TestBenchSearch measures search: the engine alone, over HTTP with concurrent readers,
// and, if MEILI_URL is set, Meilisearch next to Postgres.
func TestBenchSearch(t *testing.T) {
	n := *benchArticles
	if n == 0 {
		t.Skip("make bench/search runs it")
	}
	pool := searchBenchPool(t)
	load := searchtest.NewLoad(1)
	options := pgsearch.Options{Log: slog.New(slog.DiscardHandler)}
	out := map[string]any{"articles": n}
	e := pgsearch.New(pool, options)
	out["indexed_per_s"] = tenth(fillIndex(t, e, pool, load, n))
	vacuum(t, pool, "search_documents", "search_texts", "search_words")
	before := benchCPU(t, pool)
	all := searchAll(t, e, load, n)
	out["queries"], out["cpu_ms"] = len(all), cpuOfEach(benchCPU(t, pool)-before, len(all))
	for name, at := range map[string]int{"p50_ms": 50, "p95_ms": 95, "p99_ms": 99, "max_ms": 100} {
		out[name] = millis(percentileOf(all, at))
	}
	before = benchCPU(t, pool)
	slow := searchNaively(t, pool, load)
	out["ilike_p50_ms"], out["ilike_cpu_ms"] = millis(percentileOf(slow, 50)),
		cpuOfEach(benchCPU(t, pool)-before, len(slow))
	began := time.Now()
	busy := searchOverHTTP(t, e, load, n, search.Keyword)
	t.Logf("%-27s %s", "8 readers over HTTP", latencies(busy))
	out["http_per_s_8"] = tenth(float64(len(busy)) / time.Since(began).Seconds())
	if *benchVectors {
		benchHybrid(t, pool, load, n, out)
	}
	if address := os.Getenv("MEILI_URL"); address != "" {
		compareEngines(t, address, load, n, busy)
	} else {
		t.Log("MEILI_URL is not set: Meilisearch was not measured")
	}
	out["http_p50_ms_8"], out["http_p95_ms_8"] = millis(percentileOf(busy, 50)), millis(percentileOf(busy, 95))
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(raw)) //nolint:forbidigo // the last line of make bench/search
}

// searchAll searches with each kind of query, one at a time.
func searchAll(t *testing.T, e search.Engine, load *searchtest.Load, n int) (all []time.Duration) {
	for _, k := range searchKinds(load, n) {
		var took []time.Duration
		for i := range *benchEach + 2 {
			r := benchRequest(k, i)
			began := time.Now()
			a, err := e.Search(t.Context(), r)
			if err != nil {
				t.Fatalf("%s, %q: %v", k.name, r.Text, err)
			}
			if a.Partial {
				t.Errorf("%s, %q: partial", k.name, r.Text)
			}
			if i >= 2 { // the cache is warm
				took = append(took, time.Since(began))
			}
		}
		t.Logf("%-27s %s", k.name, latencies(took))
		all = append(all, took...)
	}
	return all
}

func benchRequest(k queryKind, i int) search.Request {
	r := k.request(i)
	if r.Now = searchtest.Now(); r.Filters.VisibleDomains == nil {
		r.Filters.VisibleDomains = benchSites() // like the API
	}
	return r
}

// searchOverHTTP searches with concurrent readers, each with different queries.
func searchOverHTTP(
	t *testing.T, e search.Engine, load *searchtest.Load, n int, mode search.Mode,
) (took []time.Duration) {
	s := start(t, func(a *api.Server) { a.Search.Engine = e })
	for _, domain := range benchSites() {
		searchtest.Seed(s.Newsroom, s.Workspace.ID, domain)
	}
	each := max(*benchEach/2, 1)
	var mu sync.Mutex
	var readers sync.WaitGroup
	for reader := range benchReaders {
		readers.Go(func() {
			client := &http.Client{}
			defer client.CloseIdleConnections()
			for i := range each {
				for j := range searchKinds(load, n) {
					k := searchKinds(load, n)[(j+reader*3)%len(searchKinds(load, n))]
					r := benchRequest(k, reader*each+i)
					r.Mode = mode
					d, err := getSearch(t.Context(), client, s, r)
					if err != nil {
						t.Errorf("%s: %v", k.name, err)
						return
					}
					if i > 0 {
						mu.Lock()
						took = append(took, d)
						mu.Unlock()
					}
				}
			}
		})
	}
	readers.Wait()
	return took
}

func getSearch(ctx context.Context, client *http.Client, s *server, r search.Request) (time.Duration, error) {
	q := url.Values{"q": {r.Text}, "mode": {string(r.Mode)}, "facets": {strconv.FormatBool(r.Facets)}}
	q["domain"], q["language"] = r.Filters.Domains, r.Filters.Languages
	if r.Sort == search.ByTime {
		q.Set("sort", "time")
	}
	if r.Offset > 0 {
		q.Set("cursor", strconv.Itoa(r.Offset))
	}
	if !r.Filters.From.IsZero() {
		q.Set("from", r.Filters.From.Format(time.RFC3339))
	}
	began := time.Now()
	for {
		status, body, err := get(ctx, client, s, searchPath+"?"+q.Encode())
		switch {
		case err != nil:
			return 0, err
		case status == http.StatusOK:
			return time.Since(began), nil
		case status != http.StatusServiceUnavailable: // too many at once
			return 0, fmt.Errorf("%q: %d %s", r.Text, status, body)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func get(ctx context.Context, client *http.Client, s *server, path string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.Token)
	a, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = a.Body.Close() }()
	body, err = io.ReadAll(a.Body)
	return a.StatusCode, body, err
}

// compareEngines logs a table of the quality and speed of Postgres and Meilisearch.
func compareEngines(
	t *testing.T, address string, load *searchtest.Load, n int, postgresTook []time.Duration,
) {
	open := func(index string) *meili.Engine {
		m := meili.New(meili.Options{
			URL: address, Key: os.Getenv("MEILI_KEY"), Index: index, Log: slog.New(slog.DiscardHandler),
		})
		if err := m.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		return m
	}
	loaded := open("bench_" + strconv.Itoa(n))
	a, err := loaded.Search(t.Context(), search.Request{Now: searchtest.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if a.Total == 0 {
		indexLoad(t, loaded, 0, load, n, n)
	}
	took := searchOverHTTP(t, loaded, load, n, search.Keyword)
	t.Logf("| | Postgres | Meilisearch |")
	t.Logf("| 8 readers over HTTP, %d articles | %s | %s |", n, latencies(postgresTook), latencies(took))
	small := pgsearch.New(storetest.Open(t).Pool(), pgsearch.Options{Log: slog.New(slog.DiscardHandler)})
	judged := open("judged_" + uuid.NewString())
	searchtest.IndexArticles(t, small, 320)
	searchtest.IndexArticles(t, judged, 320)
	first, _ := searchtest.Score(t, searchtest.Ranking(t, small, search.Request{}))
	second, _ := searchtest.Score(t, searchtest.Ranking(t, judged, search.Request{}))
	for _, part := range searchtest.Parts() {
		t.Logf("| %s | %s | %s |", part, first[part], second[part])
	}
}

// searchNaively runs the baseline: the newest articles with the word, and their number.
func searchNaively(t *testing.T, pool *pgxpool.Pool, load *searchtest.Load) (took []time.Duration) {
	for i := range 4 {
		began := time.Now()
		_, err := pool.Exec(t.Context(),
			`select count(*) over (), d.id from search_documents d join search_texts t using (id)
			where t.title ilike $1 or t.lead ilike $1 or t.body ilike $1 order by d.published_at desc limit 20`,
			"%"+strings.ToLower(load.Word(200+i*67))+"%")
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	return took
}

func latencies(took []time.Duration) string {
	return fmt.Sprintf("p50 %6.1f ms  p95 %6.1f ms  p99 %6.1f ms  max %6.1f ms", millis(percentileOf(took, 50)),
		millis(percentileOf(took, 95)), millis(percentileOf(took, 99)), millis(percentileOf(took, 100)))
}

func percentileOf(all []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}

// cpuOfEach returns milliseconds.
func cpuOfEach(all time.Duration, n int) float64 { return tenth(all.Seconds() * 1000 / float64(n)) }

func tenth(x float64) float64 { return float64(int(x*10+0.5)) / 10 }
