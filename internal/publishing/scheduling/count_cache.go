package scheduling

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// countCache caches for a moment how many calls an account's posts in a time window
// need, if the number is far from what the network allows: scheduling a thousand posts
// does not count a thousand posts each time.
type countCache struct {
	mu      sync.Mutex
	entries map[countKey]cachedCount
}

// countKey identifies a window. Windows of a length that begin at nearly the same time
// share a key, because nearly the same posts are in them.
type countKey struct {
	account  uuid.UUID
	length   time.Duration
	from, to int64 // in units of windowUnit
}

type cachedCount struct {
	n  int
	at time.Time
}

const (
	countTTL        = 15 * time.Second
	maxCachedCounts = 1000 // cached at once
	// cacheMargin is how far from the limit a cached number must be, so that the first
	// post beyond the limit is reported. Posts that other processes schedule during
	// countTTL are counted late; the warning then comes with one of the next posts.
	cacheMargin = 20
	// windowParts is the number of units in a window.
	windowParts = 120
)

// windowUnit is by how much windows that share a cached number may differ.
func windowUnit(length time.Duration) time.Duration {
	return max(time.Minute, length/windowParts)
}

// isFar reports whether a number is so far from the limit that it may be cached.
func isFar(n, allowed int) bool {
	return n > allowed+cacheMargin || n < allowed-max(cacheMargin, allowed/10)
}

// count returns the cached number or the result of ask. added is the number of calls of
// a post that was stored after the number was cached: cached numbers below the limit
// grow by it.
func (p *countCache) count(
	account uuid.UUID, from, to time.Time, allowed, added int, ask func() (int, error),
) (int, error) {
	length := to.Sub(from)
	unit := int64(windowUnit(length) / time.Second)
	key := countKey{account, length, from.Unix() / unit, to.Unix() / unit}
	p.mu.Lock()
	got, ok := p.entries[key]
	if ok && time.Since(got.at) < countTTL {
		if got.n < allowed {
			got.n += added
		}
		if isFar(got.n, allowed) {
			p.entries[key] = got
			p.mu.Unlock()
			return got.n, nil
		}
	}
	p.mu.Unlock()
	n, err := ask()
	if err != nil || !isFar(n, allowed) {
		return n, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.entries == nil || len(p.entries) >= maxCachedCounts {
		p.entries = map[countKey]cachedCount{}
	}
	p.entries[key] = cachedCount{n, time.Now()}
	return n, nil
}
