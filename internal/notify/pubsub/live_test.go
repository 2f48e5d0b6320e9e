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

func notice(t *testing.T, heard <-chan struct{}, within time.Duration) bool {
	t.Helper()
	select {
	case <-heard:
		return true
	case <-time.After(within):
		return false
	}
}

func TestANoticeReachesListenersOfItsPostInEveryProcess(t *testing.T) {
	url := enginetest.Redis(t)
	here, there := bus(t, url), bus(t, url)
	post, other := uuid.New(), uuid.New()
	first, second, elsewhere := here.Listen(t.Context(), post), there.Listen(t.Context(), post), here.Listen(t.Context(), other)
	there.Changed(t.Context(), post)
	if !notice(t, first, 2*time.Second) || !notice(t, second, 2*time.Second) {
		t.Error("no notice")
	}
	if notice(t, elsewhere, 50*time.Millisecond) {
		t.Error("another post's listener was told")
	}
}

// A stream starts to listen, then looks at the database: what happens in
// between must be heard.
func TestAListenerHearsWhatComesRightAfterItBegan(t *testing.T) {
	b := bus(t, enginetest.Redis(t))
	for range 20 {
		post := uuid.New()
		heard := b.Listen(t.Context(), post)
		b.Changed(t.Context(), post)
		if !notice(t, heard, 2*time.Second) {
			t.Fatal("no notice")
		}
	}
}

func TestAListenerThatIsBusyHearsOfTheLatestChange(t *testing.T) {
	b := bus(t, enginetest.Redis(t))
	post := uuid.New()
	heard := b.Listen(t.Context(), post)
	for range 50 {
		b.Changed(t.Context(), post)
	}
	if !notice(t, heard, 2*time.Second) {
		t.Error("no notice")
	}
}

func TestListeningEndsWithItsContext(t *testing.T) {
	url := enginetest.Redis(t)
	b, client := bus(t, url), enginetest.RedisClient(t, url)
	ctx, end := context.WithCancel(t.Context())
	post := uuid.New()
	b.Listen(ctx, post)
	channel := "dateline:post:" + post.String()
	if n := client.PubSubNumSub(t.Context(), channel).Val()[channel]; n != 1 {
		t.Fatalf("%d subscriptions", n)
	}
	end()
	for deadline := time.Now().Add(3 * time.Second); client.PubSubNumSub(t.Context(), channel).Val()[channel] != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the subscription is still there")
		}
	}
}

func TestRedisBeingAwayDoesNoHarm(t *testing.T) {
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
	if notice(t, before, 10*time.Millisecond) || notice(t, after, 10*time.Millisecond) {
		t.Error("a notice came from nowhere")
	}
	for deadline := time.Now().Add(3 * time.Second); !strings.Contains(log.String(), "live notices not sent"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log says %q", log.String())
		}
	}
}

// journal is a log that is written on the side.
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

func TestWhoFollowsEverythingHearsOfEveryPostAndOfAnnouncements(t *testing.T) {
	url := enginetest.Redis(t)
	here, there := bus(t, url), bus(t, url)
	heard := here.ListenAll(t.Context())
	for _, tell := range []func(){func() { there.Changed(t.Context(), uuid.New()) }, there.Announce} {
		tell()
		if !notice(t, heard, 2*time.Second) {
			t.Fatal("no notice")
		}
		for notice(t, heard, 50*time.Millisecond) { // what else there was of it
		}
	}
}

// A crowd of posts costs Redis a few notices, and every post's listener hears.
func TestNoticesOfACrowdAreMerged(t *testing.T) {
	url := enginetest.Redis(t)
	b := bus(t, url)
	post := uuid.New()
	heard := b.Listen(t.Context(), post)
	all := enginetest.RedisClient(t, url).Subscribe(t.Context(), "dateline:events")
	defer func() { _ = all.Close() }()
	if _, err := all.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	const crowd = 5000
	for range crowd {
		b.Changed(t.Context(), post)
	}
	if !notice(t, heard, 2*time.Second) {
		t.Error("no notice")
	}
	notices := 0
	for {
		ctx, done := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err := all.ReceiveMessage(ctx)
		done()
		if err != nil {
			break
		}
		notices++
	}
	if notices == 0 || notices > crowd/10 {
		t.Errorf("%d notices for %d changes", notices, crowd)
	}
}
