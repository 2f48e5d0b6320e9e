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

// Listen gives a channel that receives a value soon after each Changed, until
// ctx ends. Values may be merged or missed.
func (b *Bus) Listen(ctx context.Context, postID uuid.UUID) <-chan struct{} {
	out := make(chan struct{}, 1)
	sub := b.redis.Subscribe(ctx, channel(postID))
	go func() {
		defer func() { _ = sub.Close() }()
		for {
			_, err := sub.ReceiveMessage(ctx)
			if ctx.Err() != nil || errors.Is(err, redis.ErrClosed) {
				return
			}
			if err != nil {
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Second):
				}
				continue
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out
}
