package pgsearch

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestSignCache_ReturnsTheNearestFirst(t *testing.T) {
	query := []float32{1, -1, 1, 1, -1, 1, 1, -1, 1, 1}
	c := signCache{dims: len(query), words: 1, at: map[uuid.UUID]int{}}
	var want []uuid.UUID
	for apart := len(query); apart >= 0; apart-- {
		v := append([]float32(nil), query...)
		for i := range apart {
			v[i] = -v[i]
		}
		id := uuid.New()
		c.put(id, wordsOf(packedSigns(v), c.words))
		want = append([]uuid.UUID{id}, want...)
	}
	for _, limit := range []int{3, len(want), 100} {
		near := c.scan(wordsOf(packedSigns(query), c.words), limit)
		var got []uuid.UUID
		for i, n := range near {
			require.Equal(t, i, n.apart)
			got = append(got, n.id)
		}
		require.Equal(t, want[:min(limit, len(want))], got)
	}
}

func TestSignCache_ReplacesChangedSigns(t *testing.T) {
	c := signCache{dims: 70, words: 2, at: map[uuid.UUID]int{}}
	id, v := uuid.New(), make([]float32, 70)
	c.put(id, wordsOf(packedSigns(v), c.words))
	v[69] = 1
	changes := signCache{dims: 70, words: 2, at: map[uuid.UUID]int{}}
	changes.put(id, wordsOf(packedSigns(v), c.words))
	if !c.merge(&changes, true) {
		t.Fatal("the cache is unusable")
	}
	if near := c.scan(wordsOf(packedSigns(v), c.words), 5); len(near) != 1 || near[0].apart != 0 {
		t.Errorf("got %v, want one article at distance 0", near)
	}
	if c.merge(&changes, false) || c.at != nil {
		t.Error("a cache with incomplete changes is still used")
	}
}
