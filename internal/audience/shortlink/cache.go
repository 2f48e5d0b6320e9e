package shortlink

import (
	"sync"
	"time"
)

// How long a link is remembered, and how many are. A link that is disabled leads
// on for so long at most; codes that somebody guesses take no more than their
// share.
const (
	cacheTTL        = 30 * time.Second
	missTTL         = 5 * time.Second
	maxCacheEntries = 50_000
)

// cache remembers links by their code, in two generations: when the younger is
// full it becomes the older, and what nobody asks for goes with that.
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
