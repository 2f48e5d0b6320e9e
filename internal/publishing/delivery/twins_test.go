package delivery_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// Posts with the same text at the same second on one account, whose responses are all
// lost: each exists once.
func TestTwins_EachExistsOnce(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		software string
		posts    int
		lost     int // of them, calls that never reach the network
	}{
		"KeyIgnored":             {"gotosocial 0.20.1", 2, 0},
		"KeyIgnoredThree":        {"gotosocial 0.20.1", 3, 0},
		"KeyIgnoredOneNeverSent": {"gotosocial 0.20.1", 3, 1},
		"KeyHonored":             {"mastodon 4.5.2", 2, 0},
		"KeyHonoredOneNeverSent": {"mastodon 4.5.2", 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{Software: row.software})
			b.timing.Settled = 100 * time.Millisecond
			if row.software != "mastodon 4.5.2" {
				b.must(b.fake.Inject(fake.Fault{Kind: fake.IgnoreKey, Count: -1}))
			}
			if row.lost > 0 {
				b.fault(fake.Fault{Kind: fake.ResetBefore, Count: row.lost})
			}
			b.fault(fake.Fault{Kind: fake.ActThenReset, Nth: row.lost + 1, Count: row.posts - row.lost})
			posts := make([]post.Post, row.posts)
			for i := range posts {
				posts[i] = b.schedule(nil)
			}
			var all sync.WaitGroup
			publisher := b.unresolvedTogether(len(posts))
			for _, p := range posts {
				all.Go(func() { b.publish(publisher, input(p)) })
			}
			all.Wait()
			owners := map[string]bool{}
			for _, p := range posts {
				target := b.read(p.ID).Targets[0]
				if target.Status != post.TargetPosted || owners[target.RemoteID] {
					t.Errorf("got %s as %q %q, want posted as a post of its own", target.Status, target.RemoteID,
						target.ErrorMessage)
				}
				owners[target.RemoteID] = true
			}
			if got := len(b.published()); got != row.posts {
				t.Errorf("got %d posts at the network, want %d: %+v", got, row.posts, b.published())
			}
		})
	}
}

// If count and time do not identify them, a person decides.
func TestTwins_UnsettledIsUncertain(t *testing.T) {
	t.Parallel()
	for name, differ := range map[string]func(b *bench, i int) func(*post.Post){
		// Two posts that look the same in a listing and are not.
		"OtherPictures": func(b *bench, i int) func(*post.Post) { return b.withMedia(b.upload(uint8(i))) }, //nolint:gosec // 0 or 1
		// Another program posts the same on the account.
		"AStranger": func(b *bench, _ int) func(*post.Post) {
			b.postDirectly(text)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{Software: "gotosocial 0.20.1"})
			b.timing.Unanswered = 600 * time.Millisecond
			b.must(b.fake.Inject(fake.Fault{Kind: fake.IgnoreKey, Count: -1}))
			posts := make([]post.Post, 2)
			for i := range posts {
				posts[i] = b.schedule(differ(b, i))
			}
			before := len(b.published())
			b.fault(fake.Fault{Kind: fake.ActThenReset, Count: 2})
			var all sync.WaitGroup
			publisher := b.unresolvedTogether(len(posts))
			for _, p := range posts {
				all.Go(func() { b.publish(publisher, input(p)) })
			}
			all.Wait()
			for _, p := range posts {
				if target := b.read(p.ID).Targets[0]; target.Status != post.TargetUncertain {
					t.Errorf("got %s as %q, want uncertain", target.Status, target.RemoteID)
				}
			}
			if got := len(b.published()) - before; got != 2 {
				t.Errorf("got %d posts at the network, want 2", got)
			}
		})
	}
}

// A listed post that may be this one with a changed text prevents sending it again,
// although the network never got the call.
func TestReconcile_SimilarPostIsUncertain(t *testing.T) {
	b := newBench(t, fake.Options{Software: "gotosocial 0.20.1"})
	b.must(b.fake.Inject(fake.Fault{Kind: fake.IgnoreKey, Count: -1}))
	p := b.schedule(nil)
	b.postDirectly(text + " (sent from my phone)")
	b.fault(fake.Fault{Kind: fake.ResetBefore})
	b.publish(b.publisher(), input(p))
	if target := b.read(p.ID).Targets[0]; target.Status != post.TargetUncertain || len(b.published()) != 1 {
		t.Errorf("got %s with %d posts, want uncertain with the one of another program", target.Status,
			len(b.published()))
	}
}

// A clearly different post on the account has no effect.
func TestReconcile_DifferentPostIsNoObstacle(t *testing.T) {
	b := newBench(t, fake.Options{Software: "gotosocial 0.20.1"})
	b.must(b.fake.Inject(fake.Fault{Kind: fake.IgnoreKey, Count: -1}))
	p := b.schedule(nil)
	b.postDirectly("Football: the cup final ends in a draw")
	b.fault(fake.Fault{Kind: fake.ResetBefore})
	b.publish(b.publisher(), input(p))
	if target := b.read(p.ID).Targets[0]; target.Status != post.TargetPosted || len(b.published()) != 2 {
		t.Errorf("got %s with %d posts, want posted beside the other one", target.Status, len(b.published()))
	}
}

// unresolvedTogether creates a publisher whose first n calls all return when the last
// of them has: none is resolved before the others are sent.
func (b *bench) unresolvedTogether(n int) *delivery.Deps {
	var sent sync.WaitGroup
	var calls atomic.Int32
	sent.Add(n)
	publisher := b.publisher()
	publisher.Networks = changedNetwork{b.network(), func(to network.Network, ctx context.Context, as network.Account,
		s network.Submission,
	) (network.Receipt, error) {
		receipt, err := to.Publish(ctx, as, s)
		if int(calls.Add(1)) <= n {
			sent.Done()
			sent.Wait()
		}
		return receipt, err
	}}
	return publisher
}

// postDirectly posts like another program on the bench's account.
func (b *bench) postDirectly(words string) {
	b.t.Helper()
	body := fmt.Appendf(nil, `{"status":%q}`, words)
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.fake.URL()+createPath,
		bytes.NewReader(body))
	b.must(err)
	request.Header.Set("Authorization", "Bearer "+b.token)
	request.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(request)
	b.must(err)
	defer func() { _ = res.Body.Close() }()
	if answer, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK {
		b.t.Fatalf("posting directly: %s %s", res.Status, answer)
	}
}
