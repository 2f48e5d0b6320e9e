package delivery

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
)

// rush knows which claims have not been answered for yet. While many calls of
// one second are under way, recording what came of the first would make the
// others late: both need the same processors.
type rush struct {
	mu    sync.Mutex
	calls map[uuid.UUID]time.Time // when each is planned
}

const (
	rushSize    = 20                      // fewer calls do not feel each other
	rushPatient = 1500 * time.Millisecond // a call that takes longer is not waited for; leases last ten times as long
	rushLook    = 10 * time.Millisecond
)

// claimed notes a call that is about to be made.
func (r *rush) claimed(operation uuid.UUID, planned time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[uuid.UUID]time.Time{}
	}
	r.calls[operation] = planned
}

// answered notes that a call is over.
func (r *rush) answered(operation uuid.UUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, operation)
}

// letPass waits while there is a rush.
func (r *rush) letPass(ctx context.Context) {
	for r.on(time.Now()) && ctx.Err() == nil {
		time.Sleep(rushLook)
	}
}

func (r *rush) on(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) < rushSize {
		return false
	}
	under := 0
	for operation, planned := range r.calls {
		switch late := now.Sub(planned); {
		case late > rushPatient: // slow, or never made: its claim was lost
			delete(r.calls, operation)
		case late >= 0:
			under++
		}
	}
	return under >= rushSize
}
