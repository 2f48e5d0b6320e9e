// Package live tells open event streams, through Redis, that a post has new
// events. The events themselves are read from Postgres: a lost message delays
// a stream until its next look, and loses nothing.
package live

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Bus carries the notices. It is safe for concurrent use.
type Bus struct {
	redis redis.UniversalClient
	log   *slog.Logger
}

// NewBus uses a Redis client that the caller closes.
func NewBus(client redis.UniversalClient, log *slog.Logger) *Bus {
	return &Bus{redis: client, log: log}
}

func channel(postID uuid.UUID) string { return "dateline:post:" + postID.String() }

// Changed says that a post has new events. It never fails the caller: the
// events are stored already.
func (b *Bus) Changed(ctx context.Context, postID uuid.UUID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := b.redis.Publish(ctx, channel(postID), "").Err(); err != nil {
		b.log.Warn("live notice not sent; streams will see the event at their next look", "post_id", postID, "error", err)
	}
}

// listenPatience is how long Listen waits for Redis to confirm.
const listenPatience = time.Second

// Listen gives a channel that receives a value soon after each Changed, until
// ctx ends. Values may be merged, or missed while Redis is away.
func (b *Bus) Listen(ctx context.Context, postID uuid.UUID) <-chan struct{} {
	out, listening := make(chan struct{}, 1), make(chan struct{})
	go func() {
		sub := b.redis.Subscribe(ctx, channel(postID))
		// Only closing ends a read that waits: go-redis does not watch ctx there.
		defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
		defer func() { _ = sub.Close() }()
		_, err := sub.Receive(ctx) // the confirmation
		close(listening)
		for {
			if ctx.Err() != nil || errors.Is(err, redis.ErrClosed) {
				return
			}
			if err != nil {
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Second):
				}
			}
			if _, err = sub.ReceiveMessage(ctx); err != nil { // connects and subscribes anew where needed
				continue
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	select {
	case <-listening:
	case <-ctx.Done():
	case <-time.After(listenPatience):
	}
	return out
}
