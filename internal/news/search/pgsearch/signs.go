package pgsearch

import (
	"context"
	"encoding/binary"
	"math/bits"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// maxCachedSigns is the number of vectors above which Postgres compares the signs.
	maxCachedSigns = 250_000
	// maxChangedSigns is the number of changed vectors from which the cache is loaded
	// again instead of updated.
	maxChangedSigns = 5000
	// maxCacheAge is how long the cache is only updated. Loading it again removes deleted
	// articles.
	maxCacheAge = time.Hour
	// commitDelay is how much later than its time of change a row may become visible.
	commitDelay = time.Minute
	// loadTimeout limits loading; a search that loads the cache waits that long at most.
	loadTimeout = 3 * time.Second
)

// signCache keeps the signs of all vectors in memory, because comparing them there takes
// a hundredth of the time that Postgres needs. Each search reads the changes first, so
// that it finds the same articles as without the cache.
type signCache struct {
	load sync.Mutex // held while loading; guards nothing else

	mu       sync.RWMutex
	loadedAt time.Time // zero: unusable
	through  time.Time // changes before it are contained
	dims     int       // of the vectors that are compared
	words    int       // per vector
	ids      []uuid.UUID
	signs    []uint64
	at       map[uuid.UUID]int
}

// nearSigns is an article and the Hamming distance of its signs.
type nearSigns struct {
	id    uuid.UUID
	apart int
}

// ensure loads the cache if it is unusable or old. While another search loads it, or if
// loading fails, searches do without it.
func (c *signCache) ensure(ctx context.Context, pool *pgxpool.Pool, dims int) error {
	c.mu.RLock()
	fresh := !c.loadedAt.IsZero() && c.dims == dims && time.Since(c.loadedAt) < maxCacheAge
	c.mu.RUnlock()
	if fresh || !c.load.TryLock() {
		return nil
	}
	defer c.load.Unlock()
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	next := signCache{dims: dims, words: (dims + 63) / 64, at: map[uuid.UUID]int{}, loadedAt: time.Now()}
	n, err := next.read(ctx, pool, maxCachedSigns)
	if err != nil {
		return err
	}
	if n > maxCachedSigns { // unusable until the next attempt
		next = signCache{dims: dims, loadedAt: next.loadedAt}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loadedAt, c.through, c.dims, c.words, c.ids, c.signs, c.at = next.loadedAt, next.through, next.dims, next.words,
		next.ids, next.signs, next.at
	return nil
}

// rowQuerier is a pool or a transaction.
type rowQuerier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// read adds vectors that changed recently, and returns their number: above limit they
// are not complete.
func (c *signCache) read(ctx context.Context, db rowQuerier, limit int) (int, error) {
	since := time.Time{}
	if !c.through.IsZero() {
		since = c.through.Add(-commitDelay)
	}
	// Vectors of another length belong to another model.
	rows, err := db.Query(ctx, `select n.now, v.id, v.signs from (select now() as now) n
		left join (select id, signs from search_vectors where changed_at > $1 and length(signs) = $2 limit $3) v
			on true`, since, c.dims, limit+1)
	if err != nil {
		return 0, err
	}
	n := 0
	var now time.Time
	var id pgtype.UUID
	var bits pgtype.Bits
	_, err = pgx.ForEachRow(rows, []any{&now, &id, &bits}, func() error {
		if id.Valid {
			c.put(id.Bytes, wordsOf(bits.Bytes, c.words))
			n++
		}
		return nil
	})
	if err == nil && n <= limit {
		c.through = now
	}
	return n, err
}

// put adds or replaces the signs of an article.
func (c *signCache) put(id uuid.UUID, signs []uint64) {
	at, known := c.at[id]
	if !known {
		at = len(c.ids)
		c.at[id] = at
		c.ids = append(c.ids, id)
		c.signs = append(c.signs, signs...)
		return
	}
	copy(c.signs[at*c.words:], signs)
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

// packedSigns returns the signs of a vector as Postgres stores them.
func packedSigns(v []float32) []byte {
	out := make([]byte, (len(v)+7)/8)
	for i, x := range v {
		if x > 0 {
			out[i/8] |= 0x80 >> (i % 8)
		}
	}
	return out
}

// nearest returns the articles with the nearest signs. ok is false if the cache is
// unusable.
func (c *signCache) nearest(
	ctx context.Context, db rowQuerier, v []float32, limit int,
) (near []nearSigns, ok bool, err error) {
	c.mu.RLock()
	usable := c.at != nil && c.dims == len(v)
	changes := signCache{through: c.through, dims: c.dims, words: c.words, at: map[uuid.UUID]int{}}
	c.mu.RUnlock()
	if !usable {
		return nil, false, nil
	}
	n, err := changes.read(ctx, db, maxChangedSigns)
	if err != nil {
		return nil, false, err
	}
	if c.merge(&changes, n <= maxChangedSigns) {
		c.mu.RLock()
		defer c.mu.RUnlock()
		if c.at != nil && c.dims == len(v) {
			return c.scan(wordsOf(packedSigns(v), c.words), limit), true, nil
		}
	}
	return nil, false, nil
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
	for i, id := range changes.ids {
		c.put(id, changes.signs[i*changes.words:(i+1)*changes.words])
	}
	if changes.through.After(c.through) {
		c.through = changes.through
	}
	return true
}

// scan compares all signs. Distances are small numbers, so counting them sorts.
func (c *signCache) scan(query []uint64, limit int) []nearSigns {
	apart := make([]uint16, len(c.ids))
	counts := make([]int, c.dims+1)
	for i := range apart {
		n := 0
		for k, w := range c.signs[i*c.words : (i+1)*c.words] {
			n += bits.OnesCount64(w ^ query[k])
		}
		apart[i] = uint16(min(n, c.dims)) //nolint:gosec // a vector has fewer than 65,536 dimensions
		counts[apart[i]]++
	}
	first := make([]int, len(counts)) // position of the first article of each distance
	for d := 1; d < len(counts); d++ {
		first[d] = first[d-1] + counts[d-1]
	}
	out := make([]nearSigns, min(limit, len(apart)))
	for i, d := range apart {
		if at := first[d]; at < len(out) {
			out[at] = nearSigns{c.ids[i], int(d)}
		}
		first[d]++
	}
	return out
}
