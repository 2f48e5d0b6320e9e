package pgsearch

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"dateline/internal/testing/storetest"
)

// signWords returns the signs of a vector as the cache keeps them.
func signWords(v []float32, words int) []uint64 { return newSignQuery(v, words).signs }

func TestSignCache_ReturnsTheNearestFirst(t *testing.T) {
	query := []float32{1, -1, 1, 1, -1, 1, 1, -1, 1, 1}
	c := newSignCache(len(query))
	var want []uuid.UUID
	for apart := len(query); apart >= 0; apart-- {
		v := append([]float32(nil), query...)
		for i := range apart {
			v[i] = -v[i]
		}
		id := uuid.New()
		c.put(id, signWords(v, c.words))
		want = append([]uuid.UUID{id}, want...)
	}
	for _, limit := range []int{3, len(want), 100} {
		near := c.scan(newSignQuery(query, c.words), limit)
		var got []uuid.UUID
		for i, n := range near {
			require.InDelta(t, float64(len(query)-2*i), n.score, 1e-6)
			got = append(got, n.id)
		}
		require.Equal(t, want[:min(limit, len(want))], got)
	}
}

// Thousands of vectors that were just stored are read once, not by each search. One whose
// transaction ends later is not missed.
func TestSignCache_ReadsChangesOnce(t *testing.T) {
	const many = maxChangedSigns + 1000
	pool := storetest.Open(t).Pool()
	type execute func(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	insert := func(exec execute, n int) {
		t.Helper()
		_, err := exec(t.Context(), `with d as (
			insert into search_documents (id, version, published_at, domain, language, section, tags, authors, keys,
				title_words, words)
			select gen_random_uuid(), 1, now(), '', '', '', '{}', '{}', '{}', '', '' from generate_series(1, $1::int)
			returning id)
			insert into search_embeddings (id, source, signs, vector) select id, id, '11110000', '{}' from d`, n)
		require.NoError(t, err)
	}
	c, query := newSignCache(8), []float32{1, 1, 1, 1, 1, 1, 1, 1}
	wantArticles := func(want int, similarity float64) {
		t.Helper()
		near, _, ok, err := c.nearest(t.Context(), pool, query, 2*many, nil)
		require.NoError(t, err)
		require.True(t, ok, "the cache is unusable")
		require.Equal(t, want, len(near))
		require.InDelta(t, similarity, near[0].score, 1e-6)
	}
	insert(pool.Exec, many)
	late, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = late.Rollback(context.WithoutCancel(t.Context())) })
	insert(late.Exec, 1)
	require.NoError(t, c.reload(t.Context(), pool, 8))
	wantArticles(many, 0)
	insert(pool.Exec, 2)
	wantArticles(many+2, 0)
	require.NoError(t, late.Commit(t.Context()))
	wantArticles(many+3, 0)

	_, err = pool.Exec(t.Context(), "update search_embeddings set signs = '11111111', changed_at = clock_timestamp() "+
		"where id = (select id from search_embeddings limit 1)")
	require.NoError(t, err)
	wantArticles(many+3, 8)
}

// Of vectors with many dimensions only the first are compared, and the estimate is the
// product of the query with their signs.
func TestSignCache_EstimatesSimilarity(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same every time
	for _, dims := range []int{7, 64, 100, 384, 768, 1024} {
		vector := func() []float32 {
			v := make([]float32, dims)
			for i := range v {
				v[i] = float32(r.NormFloat64())
			}
			return v
		}
		c, query := newSignCache(dims), vector()
		want := map[uuid.UUID]float64{}
		var ids []uuid.UUID
		for range 50 {
			v, id := vector(), uuid.New()
			c.put(id, signWords(v, c.words))
			ids = append(ids, id)
			for i, x := range v[:min(dims, maxSigns)] {
				want[id] += math.Copysign(float64(query[i]), float64(query[i])*float64(x))
			}
		}
		// Half of them as they are after loading.
		slices.SortFunc(ids[:25], func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		mixed := newSignCache(dims)
		for i, id := range ids {
			put := mixed.put
			if i < 25 {
				put = mixed.loaded.add
			}
			put(id, c.find(id))
		}
		found := mixed.scan(newSignQuery(query, mixed.words), 100)
		require.Len(t, found, 50)
		for i, n := range found {
			require.InDelta(t, want[n.id], n.score, 1e-2)
			require.True(t, i == 0 || n.score <= found[i-1].score)
		}
	}
}

func TestSignCache_ReplacesChangedSigns(t *testing.T) {
	c := newSignCache(70)
	added, loaded, v := uuid.New(), uuid.New(), make([]float32, 70)
	v[0] = 1
	c.loaded.add(loaded, signWords(v, c.words))
	c.put(added, signWords(v, c.words))
	v[69] = 1
	changes := newSignCache(70)
	changes.put(added, signWords(v, c.words))
	changes.put(loaded, signWords(v, c.words))
	require.False(t, c.contains(changes))
	if !c.merge(changes, true) {
		t.Fatal("the cache is unusable")
	}
	require.True(t, c.contains(changes))
	require.Equal(t, 1, len(c.loaded.ids))
	require.Equal(t, 1, len(c.added.ids))
	for _, id := range []uuid.UUID{added, loaded} {
		require.Equal(t, signWords(v, c.words), c.find(id))
	}
	if c.merge(changes, false) || c.at != nil {
		t.Error("a cache with incomplete changes is still used")
	}
}
