package botfilter

import "sync"

// cacheEntries bounds each of the two halves: some 6 MB when agents are long.
const cacheEntries = 8192

// cache remembers the agents that were seen lately: a half that is full becomes
// the older one, and what is asked for in the older one moves to the newer, so
// that what is used stays. Agents are kept in memory only.
type cache struct {
	mu           sync.RWMutex
	maxEntries   int
	newer, older map[string]Reason
}

func (c *cache) get(agent string) (Reason, bool) {
	c.mu.RLock()
	reason, ok := c.newer[agent]
	if ok {
		c.mu.RUnlock()
		return reason, true
	}
	reason, ok = c.older[agent]
	c.mu.RUnlock()
	if ok {
		c.put(agent, reason)
	}
	return reason, ok
}

func (c *cache) put(agent string, reason Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.newer == nil || len(c.newer) >= c.maxEntries {
		c.newer, c.older = make(map[string]Reason, c.maxEntries/8), c.newer
	}
	c.newer[agent] = reason
}
