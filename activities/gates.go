package activities

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// gates bound the deliveries to one endpoint that are under way in this
// process, so that a slow one does not use up the places of all others.
type gates struct {
	mu   sync.Mutex
	open map[uuid.UUID]*gate
}

type gate struct {
	inside int
	took   time.Duration // of late, to go through
	next   time.Time     // when whoever comes now would find room
}

const (
	gateWidth   = 16
	longestTurn = 15 * time.Minute
	gatesKept   = 1000
)

// enter gives a place, or says when to come back: those who are turned away
// come back one by one, at the pace at which places become free.
func (g *gates) enter(endpoint uuid.UUID) (leave func(), wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	one := g.open[endpoint]
	if one == nil {
		g.tidy(now)
		one = &gate{took: 100 * time.Millisecond}
		g.open[endpoint] = one
	}
	if one.inside >= gateWidth {
		if one.next.Before(now) {
			one.next = now
		}
		if turn := one.next.Add(max(one.took/gateWidth, time.Millisecond)); turn.Sub(now) < longestTurn {
			one.next = turn
		}
		return nil, one.next.Sub(now) + 50*time.Millisecond
	}
	one.inside++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		one.inside--
		one.took = (one.took*3 + time.Since(now)) / 4
	}, 0
}

// tidy forgets gates that nobody needs.
func (g *gates) tidy(now time.Time) {
	if g.open == nil {
		g.open = map[uuid.UUID]*gate{}
	}
	if len(g.open) < gatesKept {
		return
	}
	for id, one := range g.open {
		if one.inside == 0 && one.next.Before(now) {
			delete(g.open, id)
		}
	}
}
