package scheduling

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// planned remembers for a moment how many posts an account has in a stretch of
// time, once they are many more than the network takes: whoever schedules a
// thousand too many makes nobody count to a thousand each time.
type planned struct {
	mu    sync.Mutex
	known map[plannedKey]plannedCount
}

type plannedKey struct {
	account  uuid.UUID
	from, to int64 // minutes
}

type plannedCount struct {
	n  int
	at time.Time
}

const (
	plannedMemory = 5 * time.Second
	plannedMost   = 1000 // remembered at once
	plannedMargin = 100
)

// count gives what is remembered, or what ask finds. Around what is allowed,
// nothing is remembered: the post that is one too many is told so.
func (p *planned) count(account uuid.UUID, from, to time.Time, allowed int, ask func() (int, error)) (int, error) {
	key := plannedKey{account, from.Unix() / 60, to.Unix() / 60}
	p.mu.Lock()
	got, ok := p.known[key]
	p.mu.Unlock()
	if ok && time.Since(got.at) < plannedMemory {
		return got.n, nil
	}
	n, err := ask()
	if err != nil || n <= allowed+plannedMargin {
		return n, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || len(p.known) >= plannedMost {
		p.known = map[plannedKey]plannedCount{}
	}
	p.known[key] = plannedCount{n, time.Now()}
	return n, nil
}
