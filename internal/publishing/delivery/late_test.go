package delivery_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/fake"
)

func withLimit(late, limit time.Duration) func(*post.Post) {
	return func(p *post.Post) {
		p.ScheduledTime, p.LateLimit = time.Now().Add(-late).UTC(), limit
	}
}

func TestLatePolicy(t *testing.T) {
	t.Parallel()
	t.Run("DroppedWhenItsTimeHasPassed", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.schedule(withLimit(2*time.Minute, time.Minute))
		b.publish(b.publisher(), input(p))
		if target := b.prove(p.ID, b.account, post.TargetFailed, 0); target.ErrorClass != post.ReasonLate ||
			len(b.entries(target.ID)) != 0 {
			t.Errorf("%+v", target)
		}
	})
	t.Run("SentWhenWithinTheLimit", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.schedule(withLimit(30*time.Second, time.Minute))
		b.publish(b.publisher(), input(p))
		b.prove(p.ID, b.account, post.TargetPosted, 1)
	})
	t.Run("DroppedWhenTheNetworkAsksForTooMuchPatience", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.schedule(withLimit(0, time.Minute))
		b.fault(fake.Fault{Kind: fake.Status, Status: 429, For: 2 * time.Minute})
		b.publish(b.publisher(), input(p))
		target := b.prove(p.ID, b.account, post.TargetFailed, 0)
		if target.ErrorClass != post.ReasonLate ||
			!slices.Equal(states(b.entries(target.ID), 0), []string{post.CallFailed}) {
			t.Errorf("%+v %+v", target, b.entries(target.ID))
		}
		b.publish(b.publisher(), input(b.retry(p)))
		b.prove(p.ID, b.account, post.TargetPosted, 1)
	})
	t.Run("NotDroppedWhenAPersonAsks", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.schedule(withLimit(10*time.Minute, time.Minute))
		b.publish(b.publisher(), input(p))
		b.publish(b.publisher(), input(b.retry(p)))
		b.prove(p.ID, b.account, post.TargetPosted, 1)
	})
	t.Run("AThreadIsNotBrokenOff", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		write, due := thread(3), withLimit(0, time.Minute)
		p := b.schedule(func(p *post.Post) { write(p); due(p) })
		b.fault(fake.Fault{Kind: fake.Status, Status: 422, Nth: 2})
		b.publish(b.publisher(), input(p))
		b.sql("update scheduled_posts set scheduled_time = scheduled_time - interval '1 hour'")
		// Resumed automatically, not by a person.
		b.sql("update post_targets set error_class = 'auth', updated_at = updated_at - interval '1 minute'")
		_, err := b.store.Publishing.Ledger.RedriveReconnected(t.Context(), p.ID)
		b.must(err)
		b.publish(b.publisher(), input(b.read(p.ID)))
		b.prove(p.ID, b.account, post.TargetPosted, 3)
	})
	t.Run("DroppedAfterItWasReconnectedTooLate", func(t *testing.T) {
		b := newBench(t, fake.Options{})
		p := b.schedule(withLimit(0, time.Minute))
		b.fault(fake.Fault{Kind: fake.TokenExpired})
		b.publish(b.publisher(), input(p))
		_, err := b.accounts.ConnectWithToken(t.Context(), b.who, "mastodon", b.fake.URL(), secret.NewText(b.token))
		b.must(err)
		b.sql("update scheduled_posts set scheduled_time = scheduled_time - interval '1 hour'")
		_, err = b.store.Publishing.Ledger.RedriveReconnected(t.Context(), p.ID)
		b.must(err)
		b.publish(b.publisher(), input(b.read(p.ID)))
		if target := b.prove(p.ID, b.account, post.TargetFailed, 0); target.ErrorClass != post.ReasonLate {
			t.Errorf("%+v", target)
		}
	})
}

// Posts that become too late while they are prepared are dropped as well.
func TestLatePolicy_CountsTheUpload(t *testing.T) {
	b := newBench(t, fake.Options{})
	due, file := withLimit(time.Minute-time.Second, time.Minute), b.withMedia(b.upload(1))
	p := b.schedule(func(p *post.Post) { due(p); file(p) })
	b.must(b.fake.Inject(fake.Fault{
		Kind: fake.Latency, For: 1500 * time.Millisecond, Method: http.MethodPost, Path: "/api/v2/media",
	}))
	b.publish(b.publisher(), input(p))
	if target := b.prove(p.ID, b.account, post.TargetFailed, 0); target.ErrorClass != post.ReasonLate {
		t.Errorf("%+v", target)
	}
}

// The timeline says once that a post is late, and once more after its time changed.
func TestLateness_IsRecordedOnce(t *testing.T) {
	b := newBench(t, fake.Options{})
	n := &signaler{bench: b, identity: "one"}
	p := b.schedule(func(p *post.Post) { p.ScheduledTime = time.Now().Add(-time.Hour).UTC() })
	b.schedule(inAnHour)
	late := func(want int) {
		t.Helper()
		if result, err := reconcile(t, n); err != nil || result.Late != want {
			t.Errorf("%d late, want %d, %v", result.Late, want, err)
		}
	}
	late(1)
	late(0)
	if seconds, _ := lastEvent(t, b, p, post.EventLate)["seconds"].(float64); seconds < 3599 || seconds > 3700 {
		t.Errorf("late by %v s", seconds)
	}
	when := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
	b.change(p, scheduling.Edit{ScheduledTime: &when})
	b.sql("update scheduled_posts set scheduled_time = now() - interval '5 minutes' where post_id = $1", p.ID)
	late(1)
	late(0)
	b.publish(b.publisher(), input(b.read(p.ID)))
	late(0)
}
