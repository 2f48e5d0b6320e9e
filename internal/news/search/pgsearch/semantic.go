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
	// maxComparedVectors is the number of vectors that are compared in full: those with
	// the smallest Hamming distance of their signs.
	maxComparedVectors = 300
	// rrfConstant is k of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).
	rrfConstant = 60
	// maxNearestSigns is the number of articles with the nearest signs that are filtered
	// first.
	maxNearestSigns = 10 * maxComparedVectors
	// maxScannedVectors is the number of newest articles whose signs are compared.
	maxScannedVectors = 100_000
)

// queryVector is the embedding of a query, and its weight in hybrid search.
type queryVector struct {
	vector []float32
	ratio  float64
}

// embedTimeout is how long a search waits for the embedder.
const embedTimeout = 3 * time.Second

// embedQuery embeds a query. It returns nil if the search uses keywords only.
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
	vectors, err := e.opts.Embedder.Embed(ctx, []string{q.Text})
	if err != nil {
		if r.Mode == search.Semantic {
			return nil, err
		}
		e.opts.Log.Warn("embedder failed; searching by keywords only", "error", err)
		return nil, nil //nolint:nilnil // none
	}
	normalize(vectors[0])
	return &queryVector{vector: vectors[0], ratio: ratio}, nil
}

// addSemantic merges the keyword ranking, if any, with the articles whose vectors are
// nearest to the query's.
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

// nearest compares the signs of all vectors, and then the full vectors of the best
// candidates and of the keyword hits.
func (l searcher) nearest(ctx context.Context, words []ranked, m queryVector) ([]ranked, error) {
	if !l.r.Filters.IsSelective() {
		// Usually almost all articles are visible, so that few of the nearest suffice.
		for _, limit := range []int{2 * maxComparedVectors, maxNearestSigns} {
			near, ok, err := l.e.signs.nearest(ctx, l.tx, m.vector, limit)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			found, enough, err := l.compareNearest(ctx, words, m, near)
			if err != nil || enough || len(near) < limit {
				return found, err
			}
		}
	}
	bounds, rows, err := l.timeHistogram(ctx)
	if err != nil {
		return nil, err
	}
	if !l.r.Filters.IsSelective() && rows > maxNearestSigns && rows <= maxScannedVectors {
		// Usually almost all articles are visible: join only the nearest, because rows of
		// articles are many times as wide as signs.
		found, err := l.compareVectors(ctx, words, m, " order by apart limit "+strconv.Itoa(maxNearestSigns),
			time.Time{})
		if err != nil || len(found) >= maxComparedVectors {
			return found, err
		}
	}
	var since time.Time
	if rows > maxScannedVectors && len(bounds) > 1 {
		since = quantile(bounds, 1-maxScannedVectors/rows)
	}
	return l.compareVectors(ctx, words, m, "", since)
}

// compareVectors compares full vectors of the best candidates. first limits the vectors
// whose articles are filtered, since their publication.
func (l searcher) compareVectors(
	ctx context.Context, words []ranked, m queryVector, first string, since time.Time,
) ([]ranked, error) {
	var s statement
	sign, length, filters := s.arg(signs(m.vector))+"::text::varbit", s.arg(len(m.vector))+"::int", s.where(l.r)
	if !since.IsZero() {
		filters += " and d.published_at >= " + s.arg(since)
	}
	// Vectors of another length belong to another model.
	sql := "select v.id, v.vector from search_vectors v where length(v.signs) = " + length +
		" and v.id in (select n.id from (select c.id from (select v.id, bit_count(v.signs # " + sign +
		") as apart from search_vectors v " +
		"where length(v.signs) = " + length + first + ") c join search_documents d using (id) where " + filters +
		" order by c.apart limit " + strconv.Itoa(maxComparedVectors) + ") n union all select unnest(" +
		s.arg(bestIDs(words)) + "::text[]::uuid[]))"
	return l.similarities(ctx, &s, sql, m)
}

// compareNearest compares full vectors of the articles with the nearest signs. enough is
// false if filters excluded most of them.
func (l searcher) compareNearest(
	ctx context.Context, words []ranked, m queryVector, near []nearSigns,
) (found []ranked, enough bool, err error) {
	ids, apart := make([]string, len(near)), make([]int32, len(near))
	for i, n := range near {
		ids[i], apart[i] = n.id.String(), int32(n.apart) //nolint:gosec // at most the dimensions of a vector
	}
	var s statement
	length, filters := s.arg(len(m.vector))+"::int", s.where(l.r)
	sql := "select v.id, v.vector from search_vectors v where length(v.signs) = " + length +
		" and v.id in (select n.id from (select c.id from unnest(" + s.arg(ids) + "::text[]::uuid[], " + s.arg(apart) +
		"::int[]) as c (id, apart) " +
		"join search_documents d using (id) where " + filters + " order by c.apart limit " +
		strconv.Itoa(maxComparedVectors) + ") n union all select unnest(" + s.arg(bestIDs(words)) + "::text[]::uuid[]))"
	if found, err = l.similarities(ctx, &s, sql, m); err != nil {
		return nil, false, err
	}
	isNear := make(map[uuid.UUID]bool, len(near))
	for _, n := range near {
		isNear[n.id] = true
	}
	visible := 0
	for _, r := range found {
		if isNear[r.id] {
			visible++
		}
	}
	return found, visible >= maxComparedVectors, nil
}

// bestIDs returns the best keyword hits.
func bestIDs(words []ranked) []string {
	out := make([]string, min(len(words), maxComparedVectors))
	for i := range out {
		out[i] = words[i].id.String()
	}
	return out
}

// similarities returns the articles of a statement by the similarity of their vectors.
func (l searcher) similarities(ctx context.Context, s *statement, sql string, m queryVector) ([]ranked, error) {
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

// fuse merges two rankings by reciprocal rank fusion.
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

// signs returns a bit string of the positive components of a vector.
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
