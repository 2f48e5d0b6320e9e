package pubsub_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/notify/pubsub"
	"dateline/internal/testing/enginetest"
)

func bus(t *testing.T, url string) *pubsub.Bus {
	t.Helper()
	return pubsub.NewBus(enginetest.RedisClient(t, url), slog.New(slog.DiscardHandler))
}

func notified(t *testing.T, received <-chan struct{}, within time.Duration) bool {
	t.Helper()
	select {
	case <-received:
		return true
	case <-time.After(within):
		return false
	}
}

func TestBus_NotifiesListenersInAllProcesses(t *testing.T) {
	url := enginetest.Redis(t)
	here, there := bus(t, url), bus(t, url)
	post, other := uuid.New(), uuid.New()
	first, second, elsewhere := here.Listen(t.Context(), post), there.Listen(t.Context(),
		post), here.Listen(t.Context(), other)
	there.Changed(t.Context(), post)
	if !notified(t, first, 2*time.Second) || !notified(t, second, 2*time.Second) {
		t.Error("got no notification, want one")
	}
	if notified(t, elsewhere, 50*time.Millisecond) {
		t.Error("listener of another post: got a notification, want none")
	}
}

// A stream subscribes before it reads the database, so changes right after the
// subscription must be received.
func TestListen_ReceivesImmediateChange(t *testing.T) {
	b := bus(t, enginetest.Redis(t))
	for range 20 {
		post := uuid.New()
		received := b.Listen(t.Context(), post)
		b.Changed(t.Context(), post)
		if !notified(t, received, 2*time.Second) {
			t.Fatal("got no notification, want one")
		}
	}
}

func TestListen_MergesChanges(t *testing.T) {
	b := bus(t, enginetest.Redis(t))
	post := uuid.New()
	received := b.Listen(t.Context(), post)
	for range 50 {
		b.Changed(t.Context(), post)
	}
	if !notified(t, received, 2*time.Second) {
		t.Error("got no notification, want one")
	}
}

func TestListen_UnsubscribesWithContext(t *testing.T) {
	url := enginetest.Redis(t)
	b, client := bus(t, url), enginetest.RedisClient(t, url)
	ctx, end := context.WithCancel(t.Context())
	post := uuid.New()
	b.Listen(ctx, post)
	channel := "dateline:post:" + post.String()
	if n := client.PubSubNumSub(t.Context(), channel).Val()[channel]; n != 1 {
		t.Fatalf("got %d subscriptions, want 1", n)
	}
	end()
	for deadline := time.Now().Add(30 * time.Second); client.PubSubNumSub(t.Context(), channel).
		Val()[channel] != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the subscription still exists")
		}
	}
}

func TestBus_ToleratesRedisOutage(t *testing.T) {
	url, stop := enginetest.StoppableRedis(t)
	log := &journal{}
	b := pubsub.NewBus(enginetest.RedisClient(t, url), slog.New(slog.NewTextHandler(log, nil)))
	post := uuid.New()
	before := b.Listen(t.Context(), post)
	stop()
	start := time.Now()
	b.Changed(t.Context(), post)
	after := b.Listen(t.Context(), post)
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("the caller waited %s", took)
	}
	if notified(t, before, 10*time.Millisecond) || notified(t, after, 10*time.Millisecond) {
		t.Error("got an unexpected notification")
	}
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(log.String(),
		"notifications not published"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log has %q", log.String())
		}
	}
}

// journal is a log that is safe for concurrent use.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func TestListenAll_ReceivesPostsAndAnnouncements(t *testing.T) {
	url := enginetest.Redis(t)
	here, there := bus(t, url), bus(t, url)
	received := here.ListenAll(t.Context())
	for _, notify := range []func(){func() { there.Changed(t.Context(), uuid.New()) }, there.Announce} {
		notify()
		if !notified(t, received, 2*time.Second) {
			t.Fatal("got no notification, want one")
		}
		for notified(t, received, 50*time.Millisecond) { // drain merged notifications
		}
	}
}

// Many changes are merged into a few notifications.
func TestChanged_MergesBurst(t *testing.T) {
	url := enginetest.Redis(t)
	b := bus(t, url)
	post := uuid.New()
	received := b.Listen(t.Context(), post)
	all := enginetest.RedisClient(t, url).Subscribe(t.Context(), "dateline:events")
	defer func() { _ = all.Close() }()
	if _, err := all.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	const burst = 5000
	for range burst {
		b.Changed(t.Context(), post)
	}
	if !notified(t, received, 2*time.Second) {
		t.Error("got no notification, want one")
	}
	notifications := 0
	for {
		ctx, done := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err := all.ReceiveMessage(ctx)
		done()
		if err != nil {
			break
		}
		notifications++
	}
	if notifications == 0 || notifications > burst/10 {
		t.Errorf("got %d notifications for %d changes", notifications, burst)
	}
}
