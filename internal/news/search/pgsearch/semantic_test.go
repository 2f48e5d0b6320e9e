package pgsearch_test

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"dateline/internal/news/search"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/testing/searchtest"
	"dateline/internal/testing/storetest"
)

// While the embedder is unavailable, articles are found by keywords; missing vectors are
// added later, without embedding other articles again.
func TestEmbedMissing_AddsMissingVectors(t *testing.T) {
	model := &searchtest.Embedder{}
	e := open(t, model)
	model.Down.Store(true)
	searchtest.IndexArticles(t, e, 0)
	question := search.Request{
		Text: "which soccer kicker went elsewhere for lots of cash?", Mode: search.Hybrid,
		Now: searchtest.Now(),
	}
	if a, err := e.Search(t.Context(), question); err != nil || a.Total > 5 {
		t.Errorf("%d found without the model, %v", a.Total, err)
	}
	question.Mode = search.Semantic
	if _, err := e.Search(t.Context(), question); err == nil {
		t.Error("a semantic search does not report that the model is unavailable")
	}
	model.Down.Store(false)
	made := 0
	for {
		n, err := e.EmbedMissing(t.Context(), 30)
		if err != nil {
			t.Fatal(err)
		}
		if made += n; n == 0 {
			break
		}
	}
	if a, err := e.Search(t.Context(), question); err != nil || made != 115 ||
		a.Hits[0].ID != searchtest.ID("transfer") {
		t.Errorf("%d vectors added, %v", made, err)
	}
	before := model.Texts.Load()
	searchtest.IndexArticles(t, e, 0)
	if n := model.Texts.Load() - before; n != 0 {
		t.Errorf("%d texts were embedded again", n)
	}
}

// Processes keep the signs of vectors in memory: articles that are indexed or deleted
// afterwards, also by other processes, are considered in the next search.
func TestSearch_SemanticConsidersLaterChanges(t *testing.T) {
	model := &searchtest.Embedder{}
	e := open(t, model)
	searchtest.IndexArticles(t, e, 0)
	question := search.Request{
		Text: "which soccer kicker went elsewhere for lots of cash?", Mode: search.Semantic,
		Now: searchtest.Now(),
	}
	first := func() uuid.UUID {
		t.Helper()
		a, err := e.Search(t.Context(), question)
		if err != nil || len(a.Hits) == 0 {
			t.Fatalf("got %d hits, %v", len(a.Hits), err)
		}
		return a.Hits[0].ID
	}
	if got, want := first(), searchtest.ID("transfer"); got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	later := search.Document{
		ID: searchtest.ID("later"), Version: 1, Title: question.Text, URL: "https://x.example/later",
		Domain: "x.example", Published: searchtest.Now(),
	}
	if err := e.Index(t.Context(), []search.Document{later}); err != nil {
		t.Fatal(err)
	}
	if got := first(); got != later.ID {
		t.Errorf("after indexing, got %s, want %s", got, later.ID)
	}
	if err := e.Delete(t.Context(), []uuid.UUID{later.ID}); err != nil {
		t.Fatal(err)
	}
	if got, want := first(), searchtest.ID("transfer"); got != want {
		t.Errorf("after deletion, got %s, want %s", got, want)
	}
}

// fixedEmbedder answers with one vector.
type fixedEmbedder []float32

func (v fixedEmbedder) Dimensions() int { return len(v) }

func (v fixedEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = slices.Clone(v)
	}
	return out, nil
}

// Among more articles than are compared in full, the nearest that the filters leave are
// found, whether few or almost all of the articles are left.
func TestSearch_SemanticFindsTheNearestOfMany(t *testing.T) {
	const articles, dims = 6000, 96
	r := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // the same every time
	vector := func(near []float32, share float64) []float32 {
		v, sum := make([]float32, dims), 0.0
		for i := range v {
			v[i] = float32(r.NormFloat64())
			if near != nil {
				v[i] += float32(share * math.Sqrt(dims) * float64(near[i]))
			}
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	query := vector(nil, 0)
	pool := storetest.Open(t).Pool()
	e := pgsearch.New(pool, pgsearch.Options{Embedder: fixedEmbedder(query), Model: "m", Log: slog.New(slog.DiscardHandler)})
	similar := map[string][]float64{}
	var documents, vectors [][]any
	now := searchtest.Now()
	for i := range articles {
		share := 0.0
		if i%7 == 0 { // a topic
			share = 2 * r.Float64()
		}
		id, v, dot := uuid.New(), vector(query, share), 0.0
		bits := make([]byte, dims/8)
		for k, x := range v {
			dot += float64(x) * float64(query[k])
		}
		for k, x := range pgsearch.Rotate(v) {
			if x > 0 {
				bits[k/8] |= 0x80 >> (k % 8)
			}
		}
		domain := map[bool]string{true: "rare.example", false: "usual.example"}[i%60 == 0]
		if i%4 == 0 && i%60 != 0 {
			domain = "fourth.example"
		}
		similar[domain] = append(similar[domain], dot)
		similar[""] = append(similar[""], dot)
		documents = append(documents, []any{
			id, 1, now.Add(-time.Duration(i) * time.Minute), domain, "", "", []string{}, []string{}, []string{}, "", "",
		})
		vectors = append(vectors, []any{id, id, pgtype.Bits{Bytes: bits, Len: dims, Valid: true}, v})
	}
	copyRows(t, pool, "search_documents", documents, "id", "version", "published_at", "domain", "language", "section",
		"tags", "authors", "keys", "title_words", "words")
	copyRows(t, pool, "search_embeddings", vectors, "id", "source", "signs", "vector")
	exec(t, pool, "insert into search_texts (id, url, title, lead, body, image_url, group_id) "+
		"select id, '', '', '', '', '', id from search_documents")
	exec(t, pool, "analyze search_documents, search_embeddings")
	for domain, all := range similar {
		t.Run(domain, func(t *testing.T) {
			slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
			request := search.Request{Text: "anything", Mode: search.Semantic, Now: now, Limit: 10}
			if domain != "" {
				request.Filters.Domains = []string{domain}
			}
			a, err := e.Search(t.Context(), request)
			require.NoError(t, err)
			require.Len(t, a.Hits, 10)
			require.LessOrEqual(t, a.Total, 300)
			require.GreaterOrEqual(t, a.Total, min(100, len(all)))
			for i, hit := range a.Hits {
				if domain != "" {
					require.Equal(t, domain, hit.Domain)
				}
				require.InDelta(t, all[i], hit.Score, 1e-5)
			}
			request.Offset, request.Limit = 60, 100
			rest, err := e.Search(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, a.Total, rest.Total)
			require.True(t, slices.IsSortedFunc(rest.Hits, func(a, b search.Hit) int {
				return cmp.Compare(b.Score, a.Score)
			}))
		})
	}
}

func copyRows(t *testing.T, pool *pgxpool.Pool, table string, rows [][]any, columns ...string) {
	t.Helper()
	n, err := pool.CopyFrom(t.Context(), pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
	require.NoError(t, err)
	require.EqualValues(t, len(rows), n)
}
