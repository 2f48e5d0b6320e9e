package identity

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
)

// tokenUsage records in the background when tokens were last used. It drops updates that
// fail or do not fit in the queue; the next request with the token repeats them.
type tokenUsage struct {
	ids  chan uuid.UUID
	quit chan struct{}
	once sync.Once
	done chan struct{}
}

const tokenUsageBatch = 256

func startTokenUsage(q *queries) *tokenUsage {
	u := &tokenUsage{ids: make(chan uuid.UUID, tokenUsageBatch), quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(u.done)
		for last := false; !last; {
			var batch []uuid.UUID
			select {
			case id := <-u.ids:
				batch = append(batch, id)
			case <-u.quit:
				last = true
			}
			u.write(q, batch)
		}
	}()
	return u
}

// write records batch and everything queued.
func (u *tokenUsage) write(q *queries, batch []uuid.UUID) {
	for waits := true; waits && len(batch) < tokenUsageBatch; {
		select {
		case id := <-u.ids:
			batch = append(batch, id)
		default:
			waits = false
		}
	}
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = q.TouchTokens(ctx, batch)
}

func (u *tokenUsage) note(token uuid.UUID) {
	select {
	case u.ids <- token:
	default:
	}
}

// close records everything queued and stops.
func (u *tokenUsage) close() {
	u.once.Do(func() { close(u.quit) })
	<-u.done
}
