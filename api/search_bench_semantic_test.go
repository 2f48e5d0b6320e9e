package api_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/news/search"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/testing/searchtest"
)

// benchEmbedder simulates a model with 1,024 dimensions: texts with the same beginning
// are near each other.
type benchEmbedder struct{}

const benchLength = 1024

func (benchEmbedder) Dimensions() int { return benchLength }

func (benchEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		var seed uint64
		for _, b := range []byte(text[:min(len(text), 8)]) {
			seed = seed*31 + uint64(b)
		}
		topic, own := rand.New(rand.NewPCG(seed%200, 1)), rand.New(rand.NewPCG(seed, uint64(len(text)))) //nolint:gosec // the same every time
		out[i] = make([]float32, benchLength)
		for j := range out[i] {
			out[i][j] = float32(topic.NormFloat64() + own.NormFloat64())
		}
	}
	return out, nil
}

// benchHybrid embeds the articles and measures semantic and hybrid search.
func benchHybrid(t *testing.T, pool *pgxpool.Pool, load *searchtest.Load, n int, out map[string]any) {
	e := pgsearch.New(pool, pgsearch.Options{
		Embedder: benchEmbedder{}, Model: "bench", Log: slog.New(slog.DiscardHandler),
	})
	for {
		embedded, err := e.EmbedMissing(t.Context(), 500)
		if err != nil {
			t.Fatal(err)
		}
		if embedded == 0 {
			break
		}
	}
	vacuum(t, pool, "search_embeddings")
	heap := heapBytes()
	for _, mode := range []search.Mode{search.Semantic, search.Hybrid} {
		var took []time.Duration
		before := time.Duration(0)
		for i := range *benchEach + 2 {
			if i == 2 { // the cache is warm
				before = benchCPU(t, pool)
			}
			r := search.Request{
				Text: load.Word(30+i*3) + " " + load.Word(90+i*7) + " " + load.Word(200+i*5),
				Mode: mode, Now: searchtest.Now(), Filters: search.Filters{VisibleDomains: benchSites()},
			}
			began := time.Now()
			if _, err := e.Search(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if i >= 2 {
				took = append(took, time.Since(began))
			}
		}
		t.Logf("%-27s %s", mode, latencies(took))
		out[string(mode)+"_p50_ms"], out[string(mode)+"_p95_ms"] = millis(percentileOf(took, 50)),
			millis(percentileOf(took, 95))
		out[string(mode)+"_cpu_ms"] = cpuOfEach(benchCPU(t, pool)-before, len(took))
	}
	out["vector_bytes_per_article"] = tenth(float64(heapBytes()-heap) / float64(n))
	busy := searchOverHTTP(t, e, load, n, search.Hybrid)
	t.Logf("%-27s %s", "hybrid, 8 readers over HTTP", latencies(busy))
	out["hybrid_http_p95_ms_8"] = millis(percentileOf(busy, 95))
}

// heapBytes is the memory in use after a collection.
func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far below
}
