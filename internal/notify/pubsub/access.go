package pubsub

import (
	"context"

	"github.com/google/uuid"
)

// accessChannel carries the ids of tokens, sessions, users and workspaces whose
// access may have ended.
const accessChannel = "dateline:access"

// AccessChanged tells all processes that somebody may do less than before, by the
// id of a token, session, user or workspace. It neither waits nor fails: streams
// are also checked from time to time.
func (b *Bus) AccessChanged(id uuid.UUID) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), sendPatience)
		defer cancel()
		if err := b.redis.Publish(ctx, accessChannel, id.String()).Err(); err != nil {
			b.log.Warn("a change of access was not announced; open streams see it at their next check", "error", err)
		}
	}()
}

// ListenAccess gives a channel of the ids that AccessChanged was called with, by
// any process, until ctx ends. Some may be missed.
func (b *Bus) ListenAccess(ctx context.Context) <-chan uuid.UUID {
	out := make(chan uuid.UUID, 64)
	b.subscribe(ctx, accessChannel, func(message string) {
		id, err := uuid.Parse(message)
		if err != nil {
			return
		}
		select {
		case out <- id:
		default:
		}
	})
	return out
}
