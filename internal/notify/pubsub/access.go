package pubsub

import (
	"context"

	"github.com/google/uuid"
)

// accessChannel carries the IDs of tokens, sessions, users and workspaces whose access
// may have ended.
const accessChannel = "dateline:access"

// AccessChanged notifies all processes that permissions were reduced, by the ID of a
// token, session, user or workspace. It neither blocks nor fails, because streams also
// check access periodically.
func (b *Bus) AccessChanged(id uuid.UUID) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
		defer cancel()
		if err := b.redis.Publish(ctx, accessChannel, id.String()).Err(); err != nil {
			b.log.Warn("an access change was not published; open streams notice it at their next check", "error", err)
		}
	}()
}

// ListenAccess returns a channel with the IDs of AccessChanged from all processes, until
// ctx ends. Notifications can be lost.
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
