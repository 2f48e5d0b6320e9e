package searchtest

import (
	"context"
	"errors"
	"hash/fnv"
	"sync/atomic"

	"dateline/internal/news/search"
)

// Embedder imitates an embedding model: words of one topic have the same direction,
// others one that depends on their letters.
type Embedder struct {
	Down  atomic.Bool  // all calls fail
	Texts atomic.Int64 // number of embedded texts
}

const dimensions = 64

// Dimensions is the length of a vector.
func (*Embedder) Dimensions() int { return dimensions }

// Embed returns vectors.
func (e *Embedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if e.Down.Load() {
		return nil, errors.New("the model is unavailable")
	}
	e.Texts.Add(int64(len(texts)))
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, dimensions)
		for _, t := range search.Tokens(text) {
			if at := topic(t.Word); at >= 0 {
				v[at] += 4
				continue
			}
			h := fnv.New32a()
			_, _ = h.Write([]byte(t.Word))
			for j := range v { // a small constant, so that no vector is zero
				bit := float32(h.Sum32()>>(j%32)&1)*2 - 1
				v[j] += bit * 0.05
			}
		}
		out[i] = v
	}
	return out, nil
}

func topic(word string) int {
	switch word {
	case "soccer", "football", "kicker", "striker", "footballer", "goalkeeper", "defender":
		return 1
	case "cash", "fee", "money", "million", "pay":
		return 2
	case "elsewhere", "transfer", "sign", "sponsor":
		return 3
	}
	return -1
}
