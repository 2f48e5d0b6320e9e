package shortlink

import (
	"sync"
	"time"
)

// TTLs and size of the cache. A disabled link may still redirect for cacheTTL.
const (
	cacheTTL        = 30 * time.Second
	missTTL         = 5 * time.Second
	maxCacheEntries = 50_000
)

// cache caches links by code, including codes that don't exist, in two
// generations: when the newer one is full it replaces the older one, and unused
// entries are dropped with that.
type cache struct {
	mu         sync.Mutex
	young, old map[string]entry
}

type entry struct {
	link      Link
	found     bool
	expiresAt time.Time
}

func (c *cache) get(code string, now time.Time) (l Link, found, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.young[code]
	if !ok {
		if e, ok = c.old[code]; ok {
			c.store(code, e)
		}
	}
	if !ok || now.After(e.expiresAt) {
		return Link{}, false, false
	}
	return e.link, e.found, true
}

func (c *cache) put(code string, l Link, found bool, now time.Time) {
	life := cacheTTL
	if !found {
		life = missTTL
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store(code, entry{link: l, found: found, expiresAt: now.Add(life)})
}

func (c *cache) store(code string, e entry) {
	if len(c.young) >= maxCacheEntries/2 || c.young == nil {
		c.old, c.young = c.young, make(map[string]entry)
	}
	c.young[code] = e
}
