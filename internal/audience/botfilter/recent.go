package botfilter

import (
	"hash/maphash"
	"sync"
	"time"
)

// recentSize bounds what is remembered: 12 MB when all are taken. Who takes
// another's place lets it begin anew.
const recentSize = 1 << 19

// recentSources remembers who made a hit lately in this process, so that nobody has to
// be asked about the first: nearly all readers make one in a while.
type recentSources struct {
	seed maphash.Seed

	mu      sync.Mutex
	entries []recentEntry
}

type recentEntry struct {
	who      uint64
	since    int64 // milliseconds of the clock
	reported bool  // Redis knows of the hits until now
}

func newRecentSources() *recentSources {
	return &recentSources{seed: maphash.MakeSeed(), entries: make([]recentEntry, recentSize)}
}

// record counts a hit, and says how many Redis has to be told of: none of the
// first within a time, both with the second, then each.
func (r *recentSources) record(s Source, within time.Duration, now time.Time) int {
	who := maphash.Comparable(r.seed, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.entries[who%recentSize]
	since := now.UnixMilli() - p.since
	switch {
	case p.who != who || since < 0 || since >= within.Milliseconds():
		*p = recentEntry{who: who, since: now.UnixMilli()}
		return 0
	case !p.reported:
		p.reported = true
		return 2
	default:
		return 1
	}
}
