package pgsearch

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"dateline/internal/news/search"
)

const (
	// maxNearest is the number of the nearest articles that a search returns, besides the
	// best keyword hits of a hybrid one, of which it compares as many.
	maxNearest = 300
	// maxComparedComponents is the number of components of all vectors that are compared in
	// full: about 256 kB. They are those of the most similar articles by their signs. Of the
	// ten nearest among 55,000 paragraphs of news, more than 99 % are among those of a static
	// model with 256 dimensions, and 98 % of latent semantic analysis with 1,024.
	maxComparedComponents = 65_536
	minComparedVectors    = 64
	// rrfConstant is k of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).
	rrfConstant = 60
	// maxScannedVectors is the number of newest articles whose signs Postgres compares.
	maxScannedVectors = 100_000
)

// queryVector is the embedding of a query, and its weight in hybrid search.
type queryVector struct {
	vector []float32 // rotated
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
	return &queryVector{vector: rotate(vectors[0]), ratio: ratio}, nil
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

// nearest returns the articles whose vectors are nearest to the query's, and the best
// keyword hits by the same measure.
func (l searcher) nearest(ctx context.Context, words []ranked, m queryVector) ([]ranked, error) {
	words = words[:min(len(words), maxNearest)]
	found, err := l.nearestInMemory(ctx, words, m)
	if found == nil && err == nil {
		found, err = l.nearestInPostgres(ctx, words, m)
	}
	if err != nil {
		return nil, err
	}
	return l.compareVectors(ctx, found, m)
}

// nearestInMemory compares the signs that are cached. It returns nil if they are not, or
// if the filters exclude most of the nearest.
func (l searcher) nearestInMemory(ctx context.Context, words []ranked, m queryVector) ([]ranked, error) {
	near, found, ok, err := l.e.signs.nearest(ctx, l.tx, m.vector, maxEstimated, words)
	if err != nil || !ok {
		return nil, err
	}
	// Usually almost all articles are visible, so that few of the nearest suffice.
	for _, limit := range []int{maxNearest * 5 / 4, maxEstimated / 3, maxEstimated} {
		some := near[:min(limit, len(near))]
		visible, err := l.visible(ctx, some)
		if err != nil {
			return nil, err
		}
		isAll, isLast := len(near) < maxEstimated && len(some) == len(near), limit == maxEstimated
		if len(visible) == maxNearest || isAll || isLast && len(visible) >= search.MaxLimit {
			return withOthers(found, visible), nil
		}
	}
	return nil, nil
}

// visible returns the first articles that the filters don't exclude, maxNearest at most.
func (l searcher) visible(ctx context.Context, near []ranked) ([]ranked, error) {
	ids := make([]string, len(near))
	for i, n := range near {
		ids[i] = n.id.String()
	}
	var s statement
	sql := "select n.at from unnest(" + s.arg(ids) + "::text[]::uuid[]) with ordinality as n (id, at) " +
		"join search_documents d using (id) where " + s.where(l.r) + " order by n.at limit " + strconv.Itoa(maxNearest)
	rows, err := l.tx.Query(ctx, sql, s.unprepared()...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (ranked, error) {
		var at int
		err := row.Scan(&at)
		return near[max(at-1, 0)], err
	})
}

// nearestInPostgres compares the signs of all articles that the filters don't exclude, or
// of the newest of them.
func (l searcher) nearestInPostgres(ctx context.Context, words []ranked, m queryVector) ([]ranked, error) {
	bounds, rows, err := l.timeHistogram(ctx)
	if err != nil {
		return nil, err
	}
	var s statement
	length, filters := s.arg(len(m.vector))+"::int", s.where(l.r)
	if rows > maxScannedVectors && len(bounds) > 1 {
		filters += " and d.published_at >= " + s.arg(quantile(bounds, 1-maxScannedVectors/rows))
	}
	ids := make([]string, len(words))
	for i, w := range words {
		ids[i] = w.id.String()
	}
	// Vectors of another length belong to another model.
	compared := "select v.id, -bit_count(v.signs # " + s.arg(signs(m.vector)) +
		"::text::varbit)::float8 as score from search_embeddings v "
	sql := "(" + compared + "where length(v.signs) = " + length + " and v.id = any(" + s.arg(ids) +
		"::text[]::uuid[])) union (" + compared + "join search_documents d using (id) where length(v.signs) = " +
		length + " and " + filters + " order by score desc limit " + strconv.Itoa(maxNearest) + ")"
	found, err := l.tx.Query(ctx, sql, s.unprepared()...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (r ranked, err error) {
		err = row.Scan(&r.id, &r.score)
		return r, err
	})
}

// withOthers appends the articles that are not yet in a list.
func withOthers(list, others []ranked) []ranked {
	known := make(map[uuid.UUID]bool, len(list))
	for _, r := range list {
		known[r.id] = true
	}
	for _, r := range others {
		if !known[r.id] {
			list = append(list, r)
		}
	}
	return list
}

// compareVectors orders articles by the similarity of their vectors, the best of them by
// their full vectors.
func (l searcher) compareVectors(ctx context.Context, found []ranked, m queryVector) ([]ranked, error) {
	slices.SortFunc(found, byScore)
	n := min(len(found), max(minComparedVectors, min(maxNearest, maxComparedComponents/len(m.vector))))
	ids := make([]string, n)
	for i, r := range found[:n] {
		ids[i] = r.id.String()
	}
	// In the binary format, because numbers as text take most of the time of a search.
	rows, err := l.tx.Query(ctx,
		"select id, array_send(vector) from search_embeddings where id = any($1::text[]::uuid[])",
		pgx.QueryExecModeExec, pgx.QueryResultFormats{pgx.BinaryFormatCode}, ids)
	if err != nil {
		return nil, err
	}
	var id uuid.UUID
	var vector []byte
	best := make([]ranked, 0, len(found))
	_, err = pgx.ForEachRow(rows, []any{&id, (*pgtype.DriverBytes)(&vector)}, func() error {
		best = append(best, ranked{id, dotProduct(vector, m.vector)})
		return nil
	})
	if err != nil || len(best) == 0 {
		return nil, err
	}
	slices.SortFunc(best, byScore)
	lowest := best[len(best)-1].score
	for _, r := range found[n:] { // in the order of their estimates
		best = append(best, ranked{r.id, lowest})
	}
	return best, nil
}

// dotProduct multiplies an array of Postgres in its binary format with a vector: 20 bytes
// of dimensions, then four bytes of length and four of the number for each element
// (array_send in PostgreSQL's arrayfuncs.c).
func dotProduct(array []byte, v []float32) (sum float64) {
	const header, element = 20, 8
	for i := 0; i < len(v) && header+(i+1)*element <= len(array); i++ {
		x := math.Float32frombits(binary.BigEndian.Uint32(array[header+i*element+4:]))
		sum += float64(x) * float64(v[i])
	}
	return sum
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
	slices.SortFunc(out, byScore)
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
