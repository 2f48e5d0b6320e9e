package pgsearch_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"

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

// benchMeaning measures semantic search.
func benchMeaning(t *testing.T, pool *pgxpool.Pool, l *searchtest.Load) {
	e := pgsearch.New(pool, pgsearch.Options{Embedder: benchEmbedder{}, Model: "bench", Log: slog.New(slog.DiscardHandler)})
	for made := 0; made < *benchVectors; {
		some, err := e.EmbedMissing(t.Context(), 500)
		if err != nil {
			t.Fatal(err)
		}
		if made += some; some == 0 {
			if _, err := pool.Exec(t.Context(), "vacuum analyze search_vectors"); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	var there int
	if err := pool.QueryRow(t.Context(), "select count(*) from search_vectors").Scan(&there); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []search.Mode{search.Semantic, search.Hybrid} {
		c := class{string(mode), func(i int) search.Request {
			return search.Request{Text: l.Word(30+i*3) + " " + l.Word(90+i*7) + " " + l.Word(200+i*5), Mode: mode}
		}}
		measure(t, e, c, 3)
		t.Logf("%d vectors, %-9s %s", there, mode, line(measure(t, e, c, 40)))
		c.request = func(i int) search.Request {
			return search.Request{Text: l.Word(30+i*3) + " " + l.Word(90+i*7), Mode: mode, Filters: search.Filters{VisibleDomains: []string{site(i), site(i + 1), site(i + 2)}}}
		}
		t.Logf("%d vectors, %-9s %s, of three sites", there, mode, line(measure(t, e, c, 40)))
	}
}
