// Package live tells open event streams, through Redis, that there are new
// events. The events themselves are read from Postgres: a lost message delays
// a stream until its next look, and loses nothing.
package live

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Bus carries the notices. It is safe for concurrent use.
type Bus struct {
	redis redis.UniversalClient
	log   *slog.Logger

	mu      sync.Mutex
	posts   map[uuid.UUID]struct{} // that have new events nobody was told of
	news    bool                   // there are new events at all
	sending bool
}

// NewBus uses a Redis client that the caller closes.
func NewBus(client redis.UniversalClient, log *slog.Logger) *Bus {
	return &Bus{redis: client, log: log}
}

// everything is the channel of those who follow more than one post.
const everything = "dateline:events"

func channel(postID uuid.UUID) string { return "dateline:post:" + postID.String() }

const (
	// gather is how long notices are merged after one was sent: thousands of
	// posts may change within a second.
	gather = 5 * time.Millisecond
	// atOnce bounds a pipeline, and what is remembered while Redis is away.
	atOnce = 1000
	// sendPatience is how long Redis may take.
	sendPatience = time.Second
)

// Changed says that a post has new events. It neither waits nor fails: the
// events are stored already, and the notice goes out on the side.
func (b *Bus) Changed(_ context.Context, postID uuid.UUID) { b.tell(postID) }

// Announce says that there are new events, of no post in particular.
func (b *Bus) Announce() { b.tell(uuid.Nil) }

func (b *Bus) tell(postID uuid.UUID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.news = true
	if postID != uuid.Nil && len(b.posts) < atOnce {
		if b.posts == nil {
			b.posts = map[uuid.UUID]struct{}{}
		}
		b.posts[postID] = struct{}{}
	}
	if !b.sending {
		b.sending = true
		go b.send()
	}
}

// send publishes until there is nothing left to tell.
func (b *Bus) send() {
	for {
		b.mu.Lock()
		if !b.news {
			b.sending = false
			b.mu.Unlock()
			return
		}
		posts := b.posts
		b.posts, b.news = nil, false
		b.mu.Unlock()
		b.publish(posts)
		time.Sleep(gather)
	}
}

func (b *Bus) publish(posts map[uuid.UUID]struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), sendPatience)
	defer cancel()
	_, err := b.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Publish(ctx, everything, "")
		for id := range posts {
			pipe.Publish(ctx, channel(id), "")
		}
		return nil
	})
	if err != nil {
		b.log.Warn("live notices not sent; streams will see the events at their next look", "posts", len(posts), "error", err)
	}
}

// listenPatience is how long Listen waits for Redis to confirm.
const listenPatience = time.Second

// Listen gives a channel that receives a value soon after each Changed, until
// ctx ends. Values may be merged, or missed while Redis is away.
func (b *Bus) Listen(ctx context.Context, postID uuid.UUID) <-chan struct{} {
	return b.listen(ctx, channel(postID))
}

// ListenAll is Listen for every post and for Announce.
func (b *Bus) ListenAll(ctx context.Context) <-chan struct{} { return b.listen(ctx, everything) }

func (b *Bus) listen(ctx context.Context, channel string) <-chan struct{} {
	out, listening := make(chan struct{}, 1), make(chan struct{})
	go func() {
		sub := b.redis.Subscribe(ctx, channel)
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
