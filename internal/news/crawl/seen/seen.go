// Package seen tells quickly which URLs are surely new: a Bloom filter in plain
// Redis. "No" means new. "Maybe" means nothing: whoever gets it asks on, first
// the status in Redis, then Postgres, which alone knows. The filter may be lost,
// stale or half full at any time: then Postgres is asked more often, or an
// insert finds the row there already, and no article is lost.
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

// bitsPerKey and hashes give 0.1 % of false positives: k = m/n · ln 2, and
// 0.6185^(m/n) (Bloom, "Space/time trade-offs in hash coding", 1970).
const (
	bitsPerKey = 14.4
	hashes     = 10
	// chunkBits is how large one string in Redis gets: 1 MiB. Chunks spread over
	// a cluster and are allocated as they fill.
	chunkBits = 8 << 20
)

// Filter is the Bloom filter. It is safe for concurrent use.
type Filter struct {
	Redis redis.UniversalClient

	mu        sync.Mutex
	current   layout
	checkedAt time.Time
}

// layout is the filter in force: its generation and how many chunks it has.
type layout struct {
	generation string
	chunks     uint64
}

// layoutKey holds "<generation> <chunks>".
const layoutKey = "crawl:seen:filter"

// layoutTTL is how long another process's new filter may go unnoticed.
const layoutTTL = 5 * time.Second

// minCapacity is the capacity of a filter that nobody has sized yet.
const minCapacity = 1_000_000

// testAndSetScript sets bits and says of each key whether all of its bits were set
// before.
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

// Add puts names into the filter and says of each whether it may have been there
// before.
func (f *Filter) Add(ctx context.Context, names []crawl.URLKey) (maybe []bool, err error) {
	in, err := f.currentLayout(ctx)
	if err != nil {
		return nil, err
	}
	return f.addTo(ctx, in, names)
}

func (f *Filter) addTo(ctx context.Context, in layout, names []crawl.URLKey) ([]bool, error) {
	type part struct {
		args []any
		at   []int
	}
	parts := map[uint64]*part{}
	for i, n := range names {
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
	maybe := make([]bool, len(names))
	for chunk, p := range parts {
		answer, err := script.Run(ctx, f.Redis, []string{in.key(chunk)}, p.args...).Int64Slice()
		if err != nil {
			return nil, fmt.Errorf("asking the filter: %w", err)
		}
		for i, at := range p.at {
			maybe[at] = answer[i] == 1
		}
	}
	return maybe, nil
}

func (l layout) key(chunk uint64) string {
	return "crawl:seen:" + l.generation + ":" + strconv.FormatUint(chunk, 10)
}

// bitPositions says in which chunk a name lies and which bits it sets there (Kirsch and
// Mitzenmacher, "Less hashing, same performance", 2006).
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
		return layout{}, fmt.Errorf("asking for the filter: %w", err)
	}
	var l layout
	if _, err := fmt.Sscanf(text, "%s %d", &l.generation, &l.chunks); err != nil || l.chunks == 0 {
		return layout{}, fmt.Errorf("the filter's layout %q cannot be read", text)
	}
	f.current, f.checkedAt = l, time.Now()
	return l, nil
}

func chunksFor(capacity int64) uint64 {
	return uint64(max(float64(capacity)*bitsPerKey/chunkBits, 0)) + 1
}
