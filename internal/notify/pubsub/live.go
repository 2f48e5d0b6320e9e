// Package pubsub tells open event streams, through Redis, that there are new
// events. The events themselves are read from Postgres: a lost message delays
// a stream until its next look, and loses nothing.
package pubsub

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/infra/retry"
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

// everything is the channel of those who follow more than one post. Its
// messages name the posts, but not more than a burst of notices remembers.
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
	names := make([]string, 0, len(posts))
	for id := range posts {
		names = append(names, id.String())
	}
	_, err := b.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Publish(ctx, everything, strings.Join(names, " "))
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

// ListenPosts is ListenAll for those who want to know which posts. It names
// none when only Announce was called, and some may be missed.
func (b *Bus) ListenPosts(ctx context.Context) <-chan []uuid.UUID {
	out := make(chan []uuid.UUID, 64)
	b.subscribe(ctx, everything, func(message string) {
		var posts []uuid.UUID
		for name := range strings.FieldsSeq(message) {
			if id, err := uuid.Parse(name); err == nil {
				posts = append(posts, id)
			}
		}
		if len(posts) == 0 {
			return
		}
		select {
		case out <- posts:
		default:
		}
	})
	return out
}

func (b *Bus) listen(ctx context.Context, channel string) <-chan struct{} {
	out := make(chan struct{}, 1)
	b.subscribe(ctx, channel, func(string) {
		select {
		case out <- struct{}{}:
		default:
		}
	})
	return out
}

// subscribe calls take with every message until ctx ends. It returns when the
// subscription is confirmed, or after a while.
func (b *Bus) subscribe(ctx context.Context, channel string, take func(message string)) {
	listening := make(chan struct{})
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
				if retry.Sleep(ctx, time.Second) != nil {
					return
				}
			}
			var message *redis.Message
			if message, err = sub.ReceiveMessage(ctx); err == nil { // connects and subscribes anew where needed
				take(message.Payload)
			}
		}
	}()
	select {
	case <-listening:
	case <-ctx.Done():
	case <-time.After(listenPatience):
	}
}
