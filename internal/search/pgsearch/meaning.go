package pgsearch

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/search"
)

const (
	// compared is how many vectors are compared in full, of those whose signs are nearest.
	compared = 300
	// fusion damps the first places of a list, as in G. V. Cormack and others,
	// Reciprocal Rank Fusion (SIGIR 2009).
	fusion = 60
)

// byMeaning finds by meaning, or by both.
func (e *Engine) byMeaning(ctx context.Context, r search.Request, q search.Query) (a search.Answer, err error) {
	ratio := 1.0
	if r.Mode == search.Hybrid {
		ratio = q.SemanticRatio()
	}
	if ratio == 0 {
		return e.byWords(ctx, r, q)
	}
	near, err := e.nearest(ctx, r, q)
	if err != nil {
		if r.Mode == search.Semantic {
			return a, err
		}
		// Whoever asks for both gets the words while the embedder is away.
		e.o.Log.Warn("a search went by words only", "error", err)
		return e.byWords(ctx, r, q)
	}
	found := result{answer: search.Answer{Total: len(near)}, order: near, marker: search.NewMarker(q)}
	if r.Mode == search.Hybrid {
		if found, err = e.find(ctx, r, q); err != nil {
			return a, err
		}
		found.order = fuse(found.order, near, ratio)
		found.answer.Total = max(found.answer.Total, len(found.order))
	}
	a = found.answer
	a.Hits, err = e.load(ctx, found.page(r), found.marker)
	return a, err
}

// nearest gives the articles whose vectors point the same way as the query's.
func (e *Engine) nearest(ctx context.Context, r search.Request, q search.Query) ([]ranked, error) {
	made, err := e.o.Embedder.Embed(ctx, []string{q.Text})
	if err != nil {
		return nil, err
	}
	wanted := made[0]
	normalise(wanted)
	var s statement
	sign := s.put(signs(wanted)) + "::text::varbit"
	// Vectors of another length are of another model.
	sql := "select v.id, v.vector from search_vectors v where v.id in (select n.id from (select v.id, bit_count(v.signs # " + sign + ") as apart from search_vectors v join search_documents d using (id) " +
		"where length(v.signs) = " + s.put(len(wanted)) + "::int and " + s.where(r) + " order by apart limit " + strconv.Itoa(compared) + ") n)"
	rows, err := e.pool.Query(ctx, sql, s.simple()...)
	if err != nil {
		return nil, err
	}
	var out []ranked
	var id uuid.UUID
	var vector []float32
	_, err = pgx.ForEachRow(rows, []any{&id, &vector}, func() error {
		var dot float64
		for i := range min(len(vector), len(wanted)) {
			dot += float64(vector[i]) * float64(wanted[i])
		}
		out = append(out, ranked{id, dot})
		vector = nil
		return nil
	})
	slices.SortFunc(out, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.id.String(), b.id.String()))
	})
	return out, err
}

// fuse merges two rankings by the places that articles have in them.
func fuse(words, meaning []ranked, ratio float64) []ranked {
	scores := map[uuid.UUID]float64{}
	for i, r := range words {
		scores[r.id] += (1 - ratio) / float64(fusion+i)
	}
	for i, r := range meaning {
		scores[r.id] += ratio / float64(fusion+i)
	}
	out := make([]ranked, 0, len(scores))
	for id, score := range scores {
		out = append(out, ranked{id, score})
	}
	slices.SortFunc(out, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.id.String(), b.id.String()))
	})
	return out
}

// signs writes which numbers of a vector are positive.
func signs(v []float32) string {
	out := make([]byte, len(v))
	for i, x := range v {
		out[i] = '0'
		if x > 0 {
			out[i] = '1'
		}
	}
	return string(out)
}

func normalise(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	length := float32(math.Sqrt(sum))
	for i := range v {
		v[i] /= length
	}
}
