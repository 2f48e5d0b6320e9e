package pgsearch

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestRotate_KeepsSimilarities(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same every time
	for _, dims := range []int{0, 1, 2, 3, 64, 100, 384, 768, 1024, 1536} {
		a, b := unevenVector(r, dims), unevenVector(r, dims)
		want := product(a, b)
		normA := product(a, a)
		rotate(a)
		rotate(b)
		require.InDelta(t, want, product(a, b), 1e-4, dims)
		require.InDelta(t, normA, product(a, a), 1e-4, dims)
	}
}

// In the vectors of models, some components are much larger than others, or almost always
// positive. Their signs say little, unless the vectors are rotated.
func TestRotate_LetsSignsFindTheNearest(t *testing.T) {
	const dims, articles, queries, wanted, looked = 256, 5000, 20, 10, 100
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same every time
	vectors := make([][]float32, articles)
	for i := range vectors {
		vectors[i] = unevenVector(r, dims)
	}
	recall := func(prepare func([]float32) []float32) float64 {
		c := newSignCache(dims)
		for i, v := range vectors {
			c.put(uuid.UUID{byte(i >> 8), byte(i)}, signWords(prepare(slices.Clone(v)), c.words))
		}
		hits := 0
		for q := range queries {
			query := vectors[q]
			order := make([]ranked, articles)
			for i, v := range vectors {
				order[i] = ranked{uuid.UUID{byte(i >> 8), byte(i)}, product(query, v)}
			}
			slices.SortFunc(order, byScore)
			nearest := map[uuid.UUID]bool{}
			for _, n := range order[:wanted] {
				nearest[n.id] = true
			}
			for _, near := range c.scan(newSignQuery(prepare(slices.Clone(query)), c.words), looked) {
				if nearest[near.id] {
					hits++
				}
			}
		}
		return float64(hits) / (queries * wanted)
	}
	plain, rotated := recall(func(v []float32) []float32 { return v }), recall(rotate)
	t.Logf("of the nearest, signs find %.3f, and %.3f of rotated vectors", plain, rotated)
	require.Greater(t, rotated, .95)
	require.Greater(t, rotated, plain+.1)
}

func unevenVector(r *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(r.NormFloat64()*(.1+3/float64(i+1)) + .05)
	}
	normalize(v)
	return v
}

func product(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
