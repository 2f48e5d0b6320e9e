package ingest

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/google/uuid"
)

// OtherPage is what hits count for once a site has named more pages in a day
// than it may: whoever knows a write key, which is no secret, could fill Redis
// and Postgres with names otherwise.
const OtherPage = "(other)"

// DefaultMaxPages is how many pages a site may name in a day, in one process.
const DefaultMaxPages = 200_000

// pageLimiter remembers which pages the sites have named today, by hashes of eight
// bytes.
type pageLimiter struct {
	seed maphash.Seed

	mu   sync.Mutex
	day  int64
	seen map[uuid.UUID]map[uint64]struct{}
}

// nameFor gives the name that a page counts by.
func (n *pageLimiter) nameFor(site uuid.UUID, page string, now time.Time, most int) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if day := now.Unix() / 86400; n.seen == nil || day != n.day {
		n.seed, n.day, n.seen = maphash.MakeSeed(), day, map[uuid.UUID]map[uint64]struct{}{}
	}
	pages := n.seen[site]
	if pages == nil {
		pages = map[uint64]struct{}{}
		n.seen[site] = pages
	}
	hash := maphash.String(n.seed, page)
	if _, ok := pages[hash]; ok {
		return page
	}
	if len(pages) >= most {
		return OtherPage
	}
	pages[hash] = struct{}{}
	return page
}
