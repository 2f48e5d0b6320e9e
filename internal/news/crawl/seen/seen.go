// Package seen quickly finds URLs that are certainly new, with a Bloom filter
// in plain Redis. "No" means that a URL is new. "Maybe" is followed by a lookup
// in a Redis cache and then in Postgres, the source of truth. The filter may be
// lost, stale or half full at any time: then Postgres is asked more often, or
// an insert finds an existing row, and no article is lost.
package seen

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/news/crawl"
)

// bitsPerKey and hashes give 0.1% false positives: k = m/n · ln 2, and
// 0.6185^(m/n) (Bloom, "Space/time trade-offs in hash coding", 1970).
const (
	bitsPerKey = 14.4
	hashes     = 10
	// chunkBits is the size of one Redis string, 1 MiB. Chunks spread over a
	// cluster and are allocated as they fill.
	chunkBits = 8 << 20
)

// Filter is the Bloom filter. It is safe for concurrent use.
type Filter struct {
	Redis redis.Cmdable

	mu        sync.Mutex
	current   layout
	checkedAt time.Time
}

// layout identifies the active filter by its generation and number of chunks.
type layout struct {
	generation string
	chunks     uint64
}

// layoutKey holds "<generation> <chunks>".
const layoutKey = "crawl:seen:filter"

// layoutTTL is how long a new filter of another process may go unnoticed.
const layoutTTL = 5 * time.Second

// minCapacity is the capacity of a filter before the first rebuild.
const minCapacity = 1_000_000

// testAndSetScript sets bits and returns, for each key, whether all of its bits
// were set before.
const testAndSetScript = `
local out = {}
local k = tonumber(ARGV[1])
for i = 2, #ARGV, k do
  local all = 1
  for j = i, i + k - 1 do
    if redis.call('SETBIT', KEYS[1], ARGV[j], 1) == 0 then all = 0 end
  end
  out[#out + 1] = all
end
return out`

// Add adds URLs to the filter and reports, for each, whether it may have been
// in it before.
func (f *Filter) Add(ctx context.Context, keys []crawl.URLKey) (maybeKnown []bool, err error) {
	in, err := f.currentLayout(ctx)
	if err != nil {
		return nil, err
	}
	return f.addTo(ctx, in, keys)
}

func (f *Filter) addTo(ctx context.Context, in layout, keys []crawl.URLKey) ([]bool, error) {
	type part struct {
		args []any
		at   []int
	}
	parts := map[uint64]*part{}
	for i, n := range keys {
		chunk, bits := bitPositions(n, in.chunks)
		p := parts[chunk]
		if p == nil {
			p = &part{args: []any{hashes}}
			parts[chunk] = p
		}
		p.at = append(p.at, i)
		for _, bit := range bits {
			p.args = append(p.args, bit)
		}
	}
	script := redis.NewScript(testAndSetScript)
	maybeKnown := make([]bool, len(keys))
	for chunk, p := range parts {
		wasSet, err := script.Run(ctx, f.Redis, []string{in.key(chunk)}, p.args...).Int64Slice()
		if err != nil {
			return nil, fmt.Errorf("query the filter: %w", err)
		}
		for i, at := range p.at {
			maybeKnown[at] = wasSet[i] == 1
		}
	}
	return maybeKnown, nil
}

func (l layout) key(chunk uint64) string {
	return "crawl:seen:" + l.generation + ":" + strconv.FormatUint(chunk, 10)
}

// bitPositions returns the chunk of a URL and the bits that it sets there
// (Kirsch and Mitzenmacher, "Less hashing, same performance", 2006).
func bitPositions(n crawl.URLKey, chunks uint64) (chunk uint64, bits [hashes]uint64) {
	a, b := binary.BigEndian.Uint64(n.ID[:8]), binary.BigEndian.Uint64(n.ID[8:])
	mix := (a ^ uint64(uint32(n.DomainID))*0x9e3779b97f4a7c15) //nolint:gosec // a number, whatever its sign
	chunk = (mix >> 17) % chunks
	for i := range bits {
		bits[i] = (a + uint64(i)*(b|1)) % chunkBits //nolint:gosec // 0 to 9
	}
	return chunk, bits
}

func (f *Filter) currentLayout(ctx context.Context) (layout, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current.chunks > 0 && time.Since(f.checkedAt) < layoutTTL {
		return f.current, nil
	}
	text, err := f.Redis.Get(ctx, layoutKey).Result()
	if errors.Is(err, redis.Nil) {
		text = fmt.Sprintf("0 %d", chunksFor(minCapacity))
	} else if err != nil {
		return layout{}, fmt.Errorf("load the filter's layout: %w", err)
	}
	var l layout
	if _, err := fmt.Sscanf(text, "%s %d", &l.generation, &l.chunks); err != nil || l.chunks == 0 {
		return layout{}, fmt.Errorf("parse the filter's layout %q", text)
	}
	f.current, f.checkedAt = l, time.Now()
	return l, nil
}

func chunksFor(capacity int64) uint64 {
	return uint64(max(float64(capacity)*bitsPerKey/chunkBits, 0)) + 1
}
