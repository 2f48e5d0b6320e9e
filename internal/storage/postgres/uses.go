package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/storage/postgres/db"
)

// uses notes when tokens were last used, behind the backs of the requests that
// use them. What does not fit, or fails, is left to the next request.
type uses struct {
	ids  chan uuid.UUID
	quit chan struct{}
	once sync.Once
	done chan struct{}
}

const usesAtOnce = 256

func noteUses(q *db.Queries) *uses {
	u := &uses{ids: make(chan uuid.UUID, usesAtOnce), quit: make(chan struct{}), done: make(chan struct{})}
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

// write notes batch and all that waits.
func (u *uses) write(q *db.Queries, batch []uuid.UUID) {
	for waits := true; waits && len(batch) < usesAtOnce; {
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

func (u *uses) note(token uuid.UUID) {
	select {
	case u.ids <- token:
	default:
	}
}

// close notes what waits and ends.
func (u *uses) close() {
	u.once.Do(func() { close(u.quit) })
	<-u.done
}
