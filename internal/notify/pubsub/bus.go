// Package pubsub notifies event streams of new events through Redis pub/sub. Events are
// read from Postgres, so a lost notification only delays a stream until its next poll.
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

// Bus publishes and receives notifications. It is safe for concurrent use.
type Bus struct {
	redis redis.UniversalClient
	log   *slog.Logger

	mu      sync.Mutex
	posts   map[uuid.UUID]struct{} // with unpublished notifications
	pending bool                   // whether anything must be published
	sending bool
}

// NewBus returns a bus on a Redis client, which the caller closes.
func NewBus(client redis.UniversalClient, log *slog.Logger) *Bus {
	return &Bus{redis: client, log: log}
}

// allChannel is the channel for listeners of more than one post. Its messages contain
// the IDs of the posts, up to maxPending.
const allChannel = "dateline:events"

func channel(postID uuid.UUID) string { return "dateline:post:" + postID.String() }

const (
	// mergeInterval is how long after a notification the next ones are merged: thousands
	// of posts can change within a second. Nobody notices it.
	mergeInterval = 50 * time.Millisecond
	// maxPending limits a pipeline, and the notifications stored while Redis is down.
	maxPending = 10_000
	// publishTimeout is the time limit of a publish.
	publishTimeout = time.Second
)

// Changed notifies listeners that a post has new events. It neither blocks nor fails:
// the events are already stored, and the notification is published in the background.
func (b *Bus) Changed(_ context.Context, postID uuid.UUID) { b.enqueue(postID) }

// Announce notifies listeners of new events that do not belong to a post.
func (b *Bus) Announce() { b.enqueue(uuid.Nil) }

func (b *Bus) enqueue(postID uuid.UUID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending = true
	if postID != uuid.Nil && len(b.posts) < maxPending {
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

// send publishes notifications until none are pending.
func (b *Bus) send() {
	for {
		b.mu.Lock()
		if !b.pending {
			b.sending = false
			b.mu.Unlock()
			return
		}
		posts := b.posts
		b.posts, b.pending = nil, false
		b.mu.Unlock()
		b.publish(posts)
		time.Sleep(mergeInterval)
	}
}

func (b *Bus) publish(posts map[uuid.UUID]struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), publishTimeout)
	defer cancel()
	names := make([]string, 0, len(posts))
	for id := range posts {
		names = append(names, id.String())
	}
	_, err := b.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Publish(ctx, allChannel, strings.Join(names, " "))
		for id := range posts {
			pipe.Publish(ctx, channel(id), "")
		}
		return nil
	})
	if err != nil {
		b.log.Warn("notifications not published; streams see the events at their next poll", "posts", len(posts),
			"error", err)
	}
}

// subscribeTimeout limits the time until Redis confirms a subscription.
const subscribeTimeout = time.Second

// Listen returns a channel that receives a value after each Changed of a post, until ctx
// ends. Values can be merged, or lost while Redis is down.
func (b *Bus) Listen(ctx context.Context, postID uuid.UUID) <-chan struct{} {
	return b.listen(ctx, channel(postID))
}

// ListenAll is like Listen for all posts and for Announce.
func (b *Bus) ListenAll(ctx context.Context) <-chan struct{} { return b.listen(ctx, allChannel) }

// ListenPosts returns a channel with the IDs of changed posts. It does not receive
// anything for Announce, and IDs can be lost.
func (b *Bus) ListenPosts(ctx context.Context) <-chan []uuid.UUID {
	out := make(chan []uuid.UUID, 64)
	b.subscribe(ctx, allChannel, func(message string) {
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

// subscribe calls handle with every message until ctx ends. It returns when the
// subscription is confirmed, or after subscribeTimeout.
func (b *Bus) subscribe(ctx context.Context, channel string, handle func(message string)) {
	listening := make(chan struct{})
	go func() {
		sub := b.redis.Subscribe(ctx, channel)
		// Only Close interrupts a blocked read: go-redis ignores ctx there.
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
			if message, err = sub.ReceiveMessage(ctx); err == nil { // reconnects and resubscribes if necessary
				handle(message.Payload)
			}
		}
	}()
	select {
	case <-listening:
	case <-ctx.Done():
	case <-time.After(subscribeTimeout):
	}
}
