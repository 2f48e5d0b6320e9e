package pgsearch

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/news/search"
)

const (
	// maxComparedVectors is how many vectors are compared in full, of those whose signs are nearest.
	maxComparedVectors = 300
	// rrfConstant damps the first places of a list, as in G. V. Cormack and others,
	// Reciprocal Rank Fusion (SIGIR 2009).
	rrfConstant = 60
	// maxScannedVectors is of how many articles, the newest, the signs are compared.
	maxScannedVectors = 100_000
)

// queryVector is what a query means, and how much that counts against its words.
type queryVector struct {
	vector []float32
	ratio  float64
}

// embedTimeout is how long a search waits for the embedder.
const embedTimeout = 3 * time.Second

// embedQuery gives what a query means; nil: the search goes by words.
func (e *Engine) embedQuery(ctx context.Context, r search.Request, q search.Query) (*queryVector, error) {
	if r.Mode == search.Keyword || e.opts.Embedder == nil || r.Sort == search.ByTime || len(q.Included()) == 0 {
		return nil, nil //nolint:nilnil // none
	}
	ratio := 1.0
	if r.Mode == search.Hybrid {
		ratio = q.SemanticRatio()
	}
	if ratio == 0 {
		return nil, nil //nolint:nilnil // none
	}
	ctx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	made, err := e.opts.Embedder.Embed(ctx, []string{q.Text})
	if err != nil {
		if r.Mode == search.Semantic {
			return nil, err
		}
		// Whoever asks for both gets the words while the embedder is away.
		e.opts.Log.Warn("a search went by words only", "error", err)
		return nil, nil //nolint:nilnil // none
	}
	normalize(made[0])
	return &queryVector{vector: made[0], ratio: ratio}, nil
}

// addSemantic joins what was found by words, if anything was looked for, with the
// articles whose vectors point the same way as the query's.
func (l searcher) addSemantic(ctx context.Context, found ranking, m queryVector) (ranking, error) {
	near, err := l.nearest(ctx, found.order, m)
	if err != nil {
		return found, err
	}
	if l.r.Mode == search.Semantic {
		found.response, found.order = search.Response{Total: len(near)}, near
		return found, nil
	}
	found.order = fuse(found.order, near, m.ratio)
	found.response.Total = max(found.response.Total, len(found.order))
	return found, nil
}

// nearest compares the signs of vectors first, and the vectors of what is nearest
// by these and of what has the words.
func (l searcher) nearest(ctx context.Context, words []ranked, m queryVector) ([]ranked, error) {
	var s statement
	sign, length, filters := s.arg(signs(m.vector))+"::text::varbit", s.arg(len(m.vector))+"::int", s.where(l.r)
	bounds, rows, err := l.timeHistogram(ctx)
	if err != nil {
		return nil, err
	}
	if rows > maxScannedVectors && len(bounds) > 1 {
		filters += " and d.published_at >= " + s.arg(quantile(bounds, 1-maxScannedVectors/rows))
	}
	also := make([]string, min(len(words), maxComparedVectors))
	for i := range also {
		also[i] = words[i].id.String()
	}
	// Vectors of another length are of another model.
	sql := "select v.id, v.vector from search_vectors v where length(v.signs) = " + length + " and v.id in (select n.id from (select v.id, bit_count(v.signs # " + sign + ") as apart from search_vectors v join search_documents d using (id) " +
		"where length(v.signs) = " + length + " and " + filters + " order by apart limit " + strconv.Itoa(maxComparedVectors) + ") n union all select unnest(" + s.arg(also) + "::text[]::uuid[]))"
	rowsOf, err := l.tx.Query(ctx, sql, s.unprepared()...)
	if err != nil {
		return nil, err
	}
	var out []ranked
	var id uuid.UUID
	var vector []float32
	_, err = pgx.ForEachRow(rowsOf, []any{&id, &vector}, func() error {
		var dot float64
		for i := range min(len(vector), len(m.vector)) {
			dot += float64(vector[i]) * float64(m.vector[i])
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
		scores[r.id] += (1 - ratio) / float64(rrfConstant+i)
	}
	for i, r := range meaning {
		scores[r.id] += ratio / float64(rrfConstant+i)
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

func normalize(v []float32) {
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
