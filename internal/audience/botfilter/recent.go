package botfilter

import (
	"hash/maphash"
	"sync"
	"time"
)

// recentPlaces bounds what is remembered: 12 MB when all are taken. Who takes
// another's place lets it begin anew.
const recentPlaces = 1 << 19

// recent remembers who made a hit lately in this process, so that nobody has to
// be asked about the first: nearly all readers make one in a while.
type recent struct {
	seed maphash.Seed

	mu     sync.Mutex
	places []place
}

type place struct {
	who   uint64
	since int64 // milliseconds of the clock
	told  bool  // Redis knows of the hits until now
}

func newRecent() *recent {
	return &recent{seed: maphash.MakeSeed(), places: make([]place, recentPlaces)}
}

// note counts a hit, and says how many Redis has to be told of: none of the
// first within a time, both with the second, then each.
func (r *recent) note(s Source, within time.Duration, now time.Time) int {
	who := maphash.Comparable(r.seed, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.places[who%recentPlaces]
	since := now.UnixMilli() - p.since
	switch {
	case p.who != who || since < 0 || since >= within.Milliseconds():
		*p = place{who: who, since: now.UnixMilli()}
		return 0
	case !p.told:
		p.told = true
		return 2
	default:
		return 1
	}
}
