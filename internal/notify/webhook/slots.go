package webhook

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// endpointSlots bound the deliveries to one endpoint that are in flight in this
// process, so that a slow one does not use up the slots of all others.
type endpointSlots struct {
	mu    sync.Mutex
	loads map[uuid.UUID]*endpointLoad
}

type endpointLoad struct {
	inFlight int
	took     time.Duration // recently, for one delivery
	next     time.Time     // when the next one is expected to find a slot
}

const (
	maxEndpointSlots = 16
	maxEndpointWait  = 15 * time.Minute
	maxIdleEndpoints = 1000
)

// acquire returns a slot's release, or how long to wait: the waits are spread at
// the pace at which slots become free.
func (s *endpointSlots) acquire(endpoint uuid.UUID) (release func(), wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	one := s.loads[endpoint]
	if one == nil {
		s.removeIdle(now)
		one = &endpointLoad{took: 100 * time.Millisecond}
		s.loads[endpoint] = one
	}
	if one.inFlight >= maxEndpointSlots {
		if one.next.Before(now) {
			one.next = now
		}
		if turn := one.next.Add(max(one.took/maxEndpointSlots, time.Millisecond)); turn.Sub(now) < maxEndpointWait {
			one.next = turn
		}
		return nil, one.next.Sub(now) + 50*time.Millisecond
	}
	one.inFlight++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		one.inFlight--
		one.took = (one.took*3 + time.Since(now)) / 4
	}, 0
}

// removeIdle removes the loads of idle endpoints.
func (s *endpointSlots) removeIdle(now time.Time) {
	if s.loads == nil {
		s.loads = map[uuid.UUID]*endpointLoad{}
	}
	if len(s.loads) < maxIdleEndpoints {
		return
	}
	for id, one := range s.loads {
		if one.inFlight == 0 && one.next.Before(now) {
			delete(s.loads, id)
		}
	}
}
