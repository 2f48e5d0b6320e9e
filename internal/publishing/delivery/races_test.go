package delivery_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
	"dateline/platforms/network"
)

// changedNetwork publishes in another way.
type changedNetwork struct {
	network.Network
	publish func(network.Network, context.Context, network.Account, network.Submission) (network.Receipt, error)
}

func (n changedNetwork) Publish(ctx context.Context, a network.Account, s network.Submission) (network.Receipt, error) {
	return n.publish(n.Network, ctx, a, s)
}

// Get makes it a finder that knows one network.
func (n changedNetwork) Get(string) (network.Network, bool) { return n, true }

func (b *bench) network() network.Network {
	n, _ := b.networks.Get("mastodon")
	return n
}

// The worker dies after sending and before recording.
func TestPublish_WorkerDies(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.Lease = time.Second
	p := b.schedule(nil)
	dying := b.publisher()
	dying.Store = &troubled{Store: b.store.Delivery(), finishFails: 1}
	if _, err := b.once(dying, input(p)); err == nil || len(b.published()) != 1 {
		t.Fatalf("error %v with %d posts", err, len(b.published()))
	}
	b.publish(b.publisher(), input(p))
	b.check(p, want{
		status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:reconciled_ok"},
		timeline: []string{"created", "sending", "ambiguous", "reconciled", "posted", "status"},
	})
}

// The worker dies after claiming and before sending.
func TestPublish_WorkerDiesBeforeSending(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.Lease = time.Second
	p := b.schedule(nil)
	dying := b.publisher()
	dying.Networks = changedNetwork{b.network(), func(network.Network, context.Context, network.Account,
		network.Submission,
	) (network.Receipt, error) {
		panic("the worker dies")
	}}
	if _, err := b.once(dying, input(p)); err == nil {
		t.Fatal("the worker did not die")
	}
	b.publish(b.publisher(), input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 2, ledger: []string{
		"1:reconciled_absent", "2:accepted",
	}})
}

func TestPublish_ByManyWorkersAtOnce(t *testing.T) {
	b := newBench(t, fake.Options{CreateDelay: 200 * time.Millisecond})
	due := time.Now().Add(500 * time.Millisecond).UTC()
	p := b.schedule(func(p *post.Post) { p.ScheduledTime = due })
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if result, _ := b.publish(b.publisher(), input(p)); result.Status != post.TargetPosted {
				t.Errorf("result %+v", result)
			}
		})
	}
	all.Wait()
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:accepted"}})
}

// A worker freezes right after its claim. Another one takes over and publishes; then
// the first resumes.
func TestPublish_FrozenWorkerWakes(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.Lease = 500 * time.Millisecond
	p := b.schedule(nil)
	frozen := b.publisher()
	frozen.Store = &troubled{Store: b.store.Delivery(), afterClaim: func() {
		time.Sleep(b.timing.Lease)
		b.publish(b.publisher(), input(p))
	}}
	result, err := b.once(frozen, input(p))
	if err != nil || !result.Stale {
		t.Errorf("result %+v, error %v", result, err)
	}
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 2, ledger: []string{
		"1:reconciled_absent", "2:accepted",
	}})
}

// A worker freezes before its claim; meanwhile another one sends and dies before the
// response.
func TestPublish_FrozenBeforeTheClaim(t *testing.T) {
	t.Parallel()
	for name, hook := range map[string]func(s *troubled, f func()){
		"Early": func(s *troubled, f func()) { s.afterPost = f },
		"Late":  func(s *troubled, f func()) { s.beforeClaim = f },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			b.timing.Lease = 500 * time.Millisecond
			p := b.schedule(nil)
			frozen, disturbed := b.publisher(), &troubled{Store: b.store.Delivery()}
			frozen.Store = disturbed
			hook(disturbed, func() {
				dying := b.publisher()
				dying.Store = &troubled{Store: b.store.Delivery(), finishFails: 1}
				_, _ = b.once(dying, input(p))
				time.Sleep(2 * b.timing.Lease)
			})
			b.publish(frozen, input(p))
			b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1})
		})
	}
}

// A worker that loses the database loses its claim during a slow call. The other worker
// records the call's result once.
func TestPublish_LosesItsClaimDuringTheCall(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.Lease = 400 * time.Millisecond
	p := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.Latency, For: 1500 * time.Millisecond})
	cut := b.publisher()
	claimed := make(chan struct{})
	cut.Store = &troubled{Store: b.store.Delivery(), deafRenew: true, afterClaim: func() { close(claimed) }}
	var both sync.WaitGroup
	both.Go(func() {
		result, err := b.once(cut, input(p))
		if err != nil || !result.Stale {
			t.Errorf("result %+v, error %v", result, err)
		}
	})
	<-claimed
	other := b.publisher()
	other.Timing.Looks = []time.Duration{100 * time.Millisecond, time.Second, time.Second}
	both.Go(func() { b.publish(other, input(p)) })
	both.Wait()
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:reconciled_ok"}})
}

// The same, and the response is lost too: the ledger keeps what the other worker found.
func TestPublish_LosesItsClaimAndTheAnswer(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.Lease = 400 * time.Millisecond
	p := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.ActThenReset})
	disturbed := &troubled{Store: b.store.Delivery(), deafRenew: true}
	cut := b.publisher()
	cut.Store = disturbed
	cut.Networks = changedNetwork{b.network(), func(n network.Network, ctx context.Context, a network.Account,
		s network.Submission,
	) (network.Receipt, error) {
		receipt, err := n.Publish(ctx, a, s)
		time.Sleep(b.timing.Lease)
		b.publish(b.publisher(), input(p))
		disturbed.mu.Lock()
		disturbed.deafRenew = false
		disturbed.mu.Unlock()
		return receipt, err
	}}
	if result, err := b.once(cut, input(p)); err != nil || !result.Stale {
		t.Errorf("result %+v, error %v", result, err)
	}
	b.check(p, want{
		status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:reconciled_ok"},
		timeline: []string{"created", "sending", "ambiguous", "reconciled", "posted", "status"},
	})
}

// Temporal may lose contact with a worker, or cancel the activity, in the middle of a
// call: the call continues and its response is recorded.
func TestPublish_CanceledDuringTheCall(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	ctx, cancel := context.WithCancel(t.Context())
	publisher := b.publisher()
	publisher.Networks = changedNetwork{b.network(), func(n network.Network, ctx context.Context, a network.Account,
		s network.Submission,
	) (network.Receipt, error) {
		cancel()
		return n.Publish(ctx, a, s)
	}}
	if result, err := b.onceIn(ctx, publisher, input(p)); err != nil || result.Status != post.TargetPosted ||
		ctx.Err() == nil {
		t.Errorf("result %+v, error %v", result, err)
	}
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:accepted"}})
}

// An activity that is canceled while it waits for the time sends nothing.
func TestPublish_CanceledWhileWaiting(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(func(p *post.Post) { p.ScheduledTime = time.Now().Add(time.Minute).UTC() })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := b.onceIn(ctx, b.publisher(), input(p)); err == nil {
		t.Error("it ended without an error")
	}
	b.check(p, want{status: post.TargetScheduled, ledger: []string{}, timeline: []string{"created"}})
}

// If it is canceled between its claim and the time, it still sends: a claim without a
// call would require a search at the network, and the post would be late.
func TestPublish_CanceledAfterTheClaim(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(func(p *post.Post) { p.ScheduledTime = time.Now().Add(300 * time.Millisecond).UTC() })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopping := b.publisher()
	stopping.Store = &troubled{Store: b.store.Delivery(), afterClaim: cancel}
	if result, err := b.onceIn(ctx, stopping, input(p)); err != nil || result.Status != post.TargetPosted {
		t.Errorf("result %+v, error %v", result, err)
	}
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:accepted"}})
}

// The claim is renewed while its holder works.
func TestPublish_KeepsItsClaimDuringASlowCall(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.timing.Lease = 600 * time.Millisecond
	p := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.Latency, For: 1500 * time.Millisecond})
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { b.publish(b.publisher(), input(p)) })
	}
	both.Wait()
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1, ledger: []string{"1:accepted"}})
}

// The post changes after preparation and before the claim.
func TestPublish_ChangedBeforeTheClaim(t *testing.T) {
	t.Parallel()
	changed := "Tide tables, corrected"
	for name, change := range map[string]func(b *bench, p post.Post) error{
		"Edited": func(b *bench, p post.Post) error {
			_, err := b.store.Publishing.Posts.Edit(b.t.Context(), b.guard(p), post.Change{Content: &changed}, nil)
			return err
		},
		"Canceled": func(b *bench, p post.Post) error {
			_, err := b.store.Publishing.Posts.Cancel(b.t.Context(), b.guard(p))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			p := b.schedule(nil)
			publisher := b.publisher()
			publisher.Store = &troubled{Store: b.store.Delivery(), beforeClaim: func() { b.must(change(b, p)) }}
			result, err := b.once(publisher, input(p))
			if err != nil || !result.Stale || len(b.published()) != 0 || len(b.ledger(p.Targets[0].ID)) != 0 {
				t.Errorf("result %+v, error %v, %d posts, ledger %v", result, err, len(b.published()),
					b.ledger(p.Targets[0].ID))
			}
			// The revision that the workflow decided on is outdated.
			if result, err := b.once(b.publisher(), input(p)); err != nil || !result.Stale {
				t.Errorf("result %+v, error %v", result, err)
			}
		})
	}
}

// After the claim it is too late, and the request is refused with this reason.
func TestPublish_ChangedAfterTheClaim(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	publisher := b.publisher()
	publisher.Store = &troubled{Store: b.store.Delivery(), afterClaim: func() {
		if _, err := b.store.Publishing.Posts.Cancel(t.Context(), b.guard(p)); err == nil ||
			!strings.Contains(err.Error(), "being published") {
			t.Errorf("canceling: got %v", err)
		}
	}}
	b.publish(publisher, input(p))
	b.check(p, want{status: post.TargetPosted, posts: 1, attempts: 1})
}

func TestPublish_NothingToDo(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	for name, in := range map[string]delivery.TargetInput{
		"OtherRevision": {PostID: p.ID, TargetID: p.Targets[0].ID, Revision: 7},
		"OtherTarget":   {PostID: p.ID, TargetID: p.ID, Revision: p.Revision},
	} {
		if result, err := b.once(b.publisher(), in); err != nil || !result.Stale {
			t.Errorf("%s: result %+v, error %v", name, result, err)
		}
	}
	if _, err := b.once(b.publisher(), delivery.TargetInput{PostID: b.account.ID}); err == nil ||
		!strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a deleted post: got error %v", err)
	}
}

func (b *bench) guard(p post.Post) post.Guard {
	return post.Guard{WorkspaceID: p.WorkspaceID, PostID: p.ID, Actor: b.who.Actor()}
}

// On a network whose clock is ahead, an earlier post of ours with the same text looks
// like the lost one.
func TestReconcile_OlderPostIsNotTheLostOne(t *testing.T) {
	b := newBench(t, fake.Options{})
	b.must(b.fake.Inject(fake.Fault{Kind: fake.ClockSkew, For: 10 * time.Minute, Count: -1, Path: "/api/"}))
	older, lost := b.schedule(nil), b.schedule(nil)
	b.publish(b.publisher(), input(older))
	b.sql("update remote_posts set sent_at = sent_at - interval '5 minutes', posted_at = posted_at - interval " +
		"'5 minutes'")
	b.fault(fake.Fault{Kind: fake.ResetBefore})
	b.publish(b.publisher(), input(lost))
	if now := b.read(lost.ID).Targets[0]; now.Status != post.TargetPosted || len(b.published()) != 2 ||
		now.RemoteID != b.published()[1].ID {
		t.Errorf("%+v\n%+v", now, b.published())
	}
}
