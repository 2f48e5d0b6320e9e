package scheduling

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// countCache remembers for a moment how many posts an account has in a time
// window, once they are many more than the network takes: whoever schedules a
// thousand too many makes nobody count to a thousand each time.
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
	maxCachedCounts = 1000 // remembered at once
	cacheMargin     = 100
)

// count gives what is remembered, or what ask finds. Around what is allowed,
// nothing is remembered: the post that is one too many is told so.
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
