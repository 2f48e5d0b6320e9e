package pgsearch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"log/slog"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// maxSigns is the number of components of a vector whose signs are compared. With an
	// id, the signs of an article take at most 112 bytes.
	maxSigns = 768
	// maxCachedSigns is the number of vectors above which Postgres compares the signs:
	// those of more would take over 224 MB.
	maxCachedSigns = 2_000_000
	// maxChangedSigns is the number of changed vectors from which the cache is loaded
	// again instead of updated.
	maxChangedSigns = 5000
	// maxCacheAge is how long the cache is only updated. Loading it again removes deleted
	// articles.
	maxCacheAge = time.Hour
	// commitDelay is how much later than its time of change a row may become visible.
	commitDelay = time.Minute
	// loadTimeout limits loading, and loadWait how long the search that starts it waits.
	loadTimeout = 20 * time.Second
	loadWait    = 3 * time.Second
	// maxEstimated is the number of articles with the nearest signs whose similarity is
	// estimated from the components of the query's vector and the signs of theirs, which
	// orders them much better.
	maxEstimated = 3000
)

// signTable is a list of articles with the signs of their vectors.
type signTable struct {
	ids   []uuid.UUID
	signs []uint64 // of each article, one after the other
}

// signCache keeps the signs of all vectors in memory, because comparing them there takes
// a hundredth of the time that Postgres needs. Each search reads the changes first, so
// that it finds the same articles as without the cache.
type signCache struct {
	load sync.Mutex // held while loading; guards nothing else

	mu       sync.RWMutex
	loadedAt time.Time // zero: unusable
	through  time.Time // changes before it are contained
	oldest   *string   // oldest transaction in progress then, an xid8; nil: nothing was read
	dims     int       // of the vectors that are compared
	words    int       // per vector
	loaded   signTable // by id, so that no map is needed
	added    signTable // since then
	at       map[uuid.UUID]int
}

// newSignCache returns an empty cache for vectors of a length.
func newSignCache(dims int) *signCache {
	return &signCache{dims: dims, words: (min(dims, maxSigns) + 63) / 64, at: map[uuid.UUID]int{}}
}

// ensure loads the cache if it is unusable or old. While it is loaded for the first time,
// or if that fails, searches do without it.
func (c *signCache) ensure(ctx context.Context, pool *pgxpool.Pool, dims int, log *slog.Logger) {
	c.mu.RLock()
	usable := !c.loadedAt.IsZero() && c.dims == dims
	fresh := usable && time.Since(c.loadedAt) < maxCacheAge
	c.mu.RUnlock()
	if fresh || !c.load.TryLock() {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.load.Unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
		defer cancel()
		if err := c.reload(ctx, pool, dims); err != nil {
			log.WarnContext(ctx, "loading the signs of vectors failed; Postgres compares them", "error", err)
		}
	}()
	if usable {
		return
	}
	select {
	case <-done:
	case <-time.After(loadWait):
	case <-ctx.Done():
	}
}

// reload replaces the content by what is stored.
func (c *signCache) reload(ctx context.Context, pool *pgxpool.Pool, dims int) error {
	next := newSignCache(dims)
	next.loadedAt = time.Now()
	var count int
	if err := pool.QueryRow(ctx, "select count(*) from search_embeddings").Scan(&count); err != nil {
		return err
	}
	if count <= maxCachedSigns {
		next.loaded.ids = make([]uuid.UUID, 0, count+count/100)
		next.loaded.signs = make([]uint64, 0, cap(next.loaded.ids)*next.words)
		if _, err := next.read(ctx, pool, maxCachedSigns, next.loaded.add); err != nil {
			return err
		}
	} else { // unusable until the next attempt
		next.at = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loadedAt, c.through, c.oldest, c.dims, c.words = next.loadedAt, next.through, next.oldest, next.dims, next.words
	c.loaded, c.added, c.at = next.loaded, next.added, next.at
	return nil
}

// rowQuerier is a pool or a transaction.
type rowQuerier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// read passes vectors that changed recently to put, by id, and returns their number:
// above limit they are not complete. It skips changes of transactions that had ended when
// the cache was last updated. xmin can be compared, because the changes are recent: that of
// a frozen row may have wrapped (PostgreSQL, "Preventing Transaction ID Wraparound").
func (c *signCache) read(
	ctx context.Context, db rowQuerier, limit int, put func(uuid.UUID, []uint64),
) (int, error) {
	since := time.Time{}
	if !c.through.IsZero() {
		since = c.through.Add(-commitDelay)
	}
	// Vectors of another length belong to another model.
	rows, err := db.Query(ctx, `select n.now, n.oldest, v.id, v.signs
		from (select now() as now, pg_snapshot_xmin(pg_current_snapshot())::text as oldest) n
		left join (select id, substring(signs from 1 for $4) as signs from search_embeddings
			where changed_at > $1 and length(signs) = $2
				and ($5::text is null or age(xmin) <= age($5::text::xid8::xid)) limit $3) v on true order by v.id`,
		since, c.dims, limit+1, maxSigns, c.oldest)
	if err != nil {
		return 0, err
	}
	n := 0
	var now time.Time
	var oldest string
	var id pgtype.UUID
	var bits pgtype.Bits
	_, err = pgx.ForEachRow(rows, []any{&now, &oldest, &id, &bits}, func() error {
		if id.Valid {
			put(id.Bytes, wordsOf(bits.Bytes, c.words))
			n++
		}
		return nil
	})
	if err == nil && n <= limit {
		c.through, c.oldest = now, &oldest
	}
	return n, err
}

// put adds or replaces the signs of an article.
func (c *signCache) put(id uuid.UUID, signs []uint64) {
	if at, known := c.loaded.find(id); known {
		copy(c.loaded.signs[at*c.words:], signs)
		return
	}
	if at, known := c.at[id]; known {
		copy(c.added.signs[at*c.words:], signs)
		return
	}
	c.at[id] = len(c.added.ids)
	c.added.add(id, signs)
}

func (t *signTable) add(id uuid.UUID, signs []uint64) {
	t.ids, t.signs = append(t.ids, id), append(t.signs, signs...)
}

// find returns the position of an article in a table that is sorted.
func (t *signTable) find(id uuid.UUID) (at int, known bool) {
	return slices.BinarySearchFunc(t.ids, id, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

// wordsOf packs the bytes of a bit string.
func wordsOf(packed []byte, n int) []uint64 {
	all := make([]byte, 8*n)
	copy(all, packed)
	out := make([]uint64, n)
	for i := range out {
		out[i] = binary.BigEndian.Uint64(all[8*i:])
	}
	return out
}

// nearest returns the articles whose vectors are nearest by their signs, the nearest
// first, and the similarities of the articles of also that have a vector. ok is false if
// the cache is unusable.
func (c *signCache) nearest(
	ctx context.Context, db rowQuerier, v []float32, limit int, also []ranked,
) (near, others []ranked, ok bool, err error) {
	c.mu.RLock()
	usable := c.at != nil && c.dims == len(v)
	changes := newSignCache(c.dims)
	changes.through, changes.oldest = c.through, c.oldest
	c.mu.RUnlock()
	if !usable {
		return nil, nil, false, nil
	}
	since := changes.through
	n, err := changes.read(ctx, db, maxChangedSigns, changes.put)
	if err != nil {
		return nil, nil, false, err
	}
	// Most changes were merged by an earlier search. Locking would wait for other searches.
	isKnown := n <= maxChangedSigns && changes.through.Sub(since) < commitDelay && c.contains(changes)
	if !isKnown && !c.merge(changes, n <= maxChangedSigns) {
		return nil, nil, false, nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.at == nil || c.dims != len(v) {
		return nil, nil, false, nil
	}
	q := newSignQuery(v, c.words)
	near = c.scan(q, limit)
	for _, r := range also {
		if signs := c.find(r.id); signs != nil {
			others = append(others, ranked{r.id, q.similarity(signs)})
		}
	}
	return near, others, true, nil
}

// find returns the signs of an article, or nil.
func (c *signCache) find(id uuid.UUID) []uint64 {
	t := &c.loaded
	at, known := t.find(id)
	if !known {
		t = &c.added
		at, known = c.at[id]
	}
	if !known {
		return nil
	}
	return t.signs[at*c.words : (at+1)*c.words]
}

// contains reports whether changes were merged before.
func (c *signCache) contains(changes *signCache) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.dims != changes.dims {
		return false
	}
	for i, id := range changes.added.ids {
		if !slices.Equal(c.find(id), changes.added.signs[i*changes.words:(i+1)*changes.words]) {
			return false
		}
	}
	return true
}

// merge adds changes. If they are not complete, the cache becomes unusable until it is
// loaded again.
func (c *signCache) merge(changes *signCache, complete bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.dims != changes.dims:
		return false
	case !complete:
		c.loadedAt, c.at = time.Time{}, nil
		return false
	case c.at == nil:
		return false
	}
	for i, id := range changes.added.ids {
		c.put(id, changes.added.signs[i*changes.words:(i+1)*changes.words])
	}
	if changes.through.After(c.through) {
		c.through = changes.through
	}
	// Another search may have merged newer changes, which these replaced: the next search
	// reads them again.
	c.oldest = changes.oldest
	return true
}

// scan returns up to limit articles by their similarity, which is estimated for those
// with the nearest signs. Distances of signs are small numbers, so counting them sorts.
func (c *signCache) scan(q signQuery, limit int) []ranked {
	n := len(c.loaded.ids) + len(c.added.ids)
	apart, counts := make([]uint16, n), make([]int, 64*c.words+1)
	distances(apart, counts, c.loaded.signs, q.signs)
	distances(apart[len(c.loaded.ids):], counts, c.added.signs, q.signs)
	furthest, found := 0, 0 // the distance up to which there are enough
	for ; furthest < len(counts)-1 && found+counts[furthest] < maxEstimated; furthest++ {
		found += counts[furthest]
	}
	out := make([]ranked, 0, found+counts[furthest])
	for i, d := range apart {
		if int(d) > furthest {
			continue
		}
		t, at := &c.loaded, i
		if at >= len(t.ids) {
			t, at = &c.added, at-len(t.ids)
		}
		out = append(out, ranked{t.ids[at], q.similarity(t.signs[at*c.words : (at+1)*c.words])})
	}
	slices.SortFunc(out, byScore)
	return out[:min(limit, len(out))]
}

// distances computes the number of signs that differ, and how often each number occurs.
func distances(apart []uint16, counts []int, signs, query []uint64) {
	for i := range len(signs) / len(query) {
		n := 0
		for k, w := range signs[i*len(query) : (i+1)*len(query)] {
			n += bits.OnesCount64(w ^ query[k])
		}
		apart[i] = uint16(n) //nolint:gosec // at most maxSigns
		counts[n]++
	}
}

// byScore orders the best first.
func byScore(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.score, a.score), bytes.Compare(a.id[:], b.id[:]))
}

// signQuery compares the vector of a query with the signs of others.
type signQuery struct {
	signs []uint64
	// sums are those of the query's components with the signs of a byte, for each byte of
	// the signs and each of its values. They replace eight additions by one.
	sums [][256]float32
}

func newSignQuery(v []float32, words int) signQuery {
	q := signQuery{make([]uint64, words), make([][256]float32, 8*words)}
	for i, x := range v[:min(len(v), 64*words)] {
		if x > 0 {
			q.signs[i/64] |= 1 << (63 - i%64)
		}
		bit := 0x80 >> (i % 8)
		for value := range q.sums[i/8] {
			if value&bit != 0 {
				q.sums[i/8][value] += x
			} else {
				q.sums[i/8][value] -= x
			}
		}
	}
	return q
}

// similarity estimates the scalar product of the vectors, up to a constant factor.
func (q *signQuery) similarity(signs []uint64) float64 {
	var sum float32
	for i, w := range signs {
		s := q.sums[8*i : 8*i+8 : 8*i+8]
		sum += s[0][w>>56] + s[1][w>>48&0xff] + s[2][w>>40&0xff] + s[3][w>>32&0xff] +
			s[4][w>>24&0xff] + s[5][w>>16&0xff] + s[6][w>>8&0xff] + s[7][w&0xff]
	}
	return float64(sum)
}
