package scheduling

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// countCache caches for a moment how many posts an account has in a time window, if
// they are many more than the network allows: scheduling a thousand posts beyond the
// limit does not count a thousand posts each time.
type countCache struct {
	mu      sync.Mutex
	entries map[countKey]cachedCount
}

type countKey struct {
	account  uuid.UUID
	from, to int64 // minutes
}

type cachedCount struct {
	n  int
	at time.Time
}

const (
	countTTL        = 5 * time.Second
	maxCachedCounts = 1000 // cached at once
	cacheMargin     = 100
)

// count returns the cached number or the result of ask. Numbers close to the limit are
// not cached, so that the first post beyond it is reported.
func (p *countCache) count(account uuid.UUID, from, to time.Time, allowed int, ask func() (int, error)) (int, error) {
	key := countKey{account, from.Unix() / 60, to.Unix() / 60}
	p.mu.Lock()
	got, ok := p.entries[key]
	p.mu.Unlock()
	if ok && time.Since(got.at) < countTTL {
		return got.n, nil
	}
	n, err := ask()
	if err != nil || n <= allowed+cacheMargin {
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
