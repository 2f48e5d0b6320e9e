package delivery_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/fake"
)

const notReadyBody = `{"error":"Cannot attach files that have not finished processing. Try again in a moment!"}`

// refusal returns the code of a refusal; other errors end the test.
func (b *bench) refusal(err error) string {
	b.t.Helper()
	var refused *apperr.Error
	if err != nil && !errors.As(err, &refused) {
		b.t.Fatal(err)
	}
	if refused == nil {
		return ""
	}
	if len(refused.Fields) > 0 {
		return refused.Fields[0].Code
	}
	return refused.Code
}

func (b *bench) retry(p post.Post, targets ...uuid.UUID) post.Post {
	b.t.Helper()
	again, err := b.scheduler.Retry(b.t.Context(), b.guard(p), targets)
	b.must(err)
	return again
}

func (b *bench) change(p post.Post, edit scheduling.Edit) post.Post {
	b.t.Helper()
	changed, err := b.scheduler.Edit(b.t.Context(), b.guard(p), edit)
	b.must(err)
	return changed
}

// sql changes rows in ways that only time or a failure does.
func (b *bench) sql(statement string, args ...any) {
	b.t.Helper()
	db, err := pgx.Connect(b.t.Context(), b.url)
	b.must(err)
	defer func() { _ = db.Close(b.t.Context()) }()
	_, err = db.Exec(b.t.Context(), statement, args...)
	b.must(err)
}

// An exhausted target is a dead letter; a retry grants it new attempts, which use the
// same key.
func TestRetry_GrantsNewAttemptsUnderTheSameKey(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.Status, Status: 422, Count: 7, Body: notReadyBody})
	b.publish(b.publisher(), input(p))
	if dead := b.prove(p.ID, b.account, post.TargetFailed, 0); dead.ErrorClass != "transient" || dead.Attempts != 5 {
		t.Errorf("dead letter %+v", dead)
	}
	again := b.retry(p)
	if got := again.Targets[0]; got.Status != post.TargetScheduled || got.Attempts != 0 ||
		again.Revision != p.Revision || again.RedrivenAt == nil {
		t.Errorf("after the retry %+v", again)
	}
	b.publish(b.publisher(), input(again))
	target := b.prove(p.ID, b.account, post.TargetPosted, 1)
	keys := map[string]bool{}
	ledger := b.entries(target.ID)
	for _, e := range ledger {
		keys[e.Key] = true
	}
	if len(keys) != 1 || len(ledger) != 8 || target.Attempts != 3 {
		t.Errorf("%d keys in %+v, %d tries", len(keys), ledger, target.Attempts)
	}
}

func TestRetry_TouchesOnlyFailedTargets(t *testing.T) {
	b := newBench(t, fake.Options{})
	other := b.connect("other")
	p := b.schedule(thread(2), b.account.ID, other.ID)
	b.fault(fake.Fault{Kind: fake.Status, Status: 422, Account: "other"})
	b.publish(b.publisher(), inputOn(p, b.account))
	b.publish(b.publisher(), inputOn(p, other))
	good := b.prove(p.ID, b.account, post.TargetPosted, 2)
	b.prove(p.ID, other, post.TargetFailed, 0)
	if now := b.read(p.ID); now.Status != post.PartlyPosted {
		t.Errorf("the post is %s", now.Status)
	}
	if _, err := b.scheduler.Retry(t.Context(), b.guard(p),
		[]uuid.UUID{good.ID}); b.refusal(err) != "not_a_dead_letter" {
		t.Errorf("retrying a published target: got %v", err)
	}
	again := b.retry(p)
	if _, err := b.scheduler.Cancel(t.Context(), b.guard(p)); b.refusal(err) != "too_late" {
		t.Errorf("canceling a partly published post: got %v", err)
	}
	b.publish(b.publisher(), inputOn(again, b.account))
	b.publish(b.publisher(), inputOn(again, other))
	if after := b.prove(p.ID, b.account, post.TargetPosted, 2); after.Fence != good.Fence ||
		!after.UpdatedAt.Equal(good.UpdatedAt) {
		t.Errorf("it was changed: %+v", after)
	}
	b.prove(p.ID, other, post.TargetPosted, 2)
	if now := b.read(p.ID); now.Status != post.Posted {
		t.Errorf("the post is %s", now.Status)
	}
}

// A thread that failed at its second segment resumes there with its current content.
func TestRetry_ContinuesAThread(t *testing.T) {
	t.Parallel()
	segments := func(texts ...string) *[]scheduling.Segment {
		list := []scheduling.Segment{}
		for _, s := range texts {
			list = append(list, scheduling.Segment{Content: s})
		}
		return &list
	}
	for _, row := range []struct {
		name string
		edit *[]scheduling.Segment // nil: a plain retry
		live int
	}{
		{"Retried", nil, 3},
		{"Changed", segments("Another second", "Another third"), 3},
		{"Shortened", segments(), 1},
		{"ShortenedByOne", segments("Another second"), 2},
		{"Lengthened", segments(text+" (2)", text+" (3)", "A fourth", "A fifth"), 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			p := b.schedule(thread(3))
			b.fault(fake.Fault{Kind: fake.Status, Status: 422, Nth: 2})
			b.publish(b.publisher(), input(p))
			b.prove(p.ID, b.account, post.TargetFailed, 1)
			b.must(b.fake.Inject(fake.Fault{
				Kind: fake.Latency, For: time.Millisecond, Method: http.MethodPost, Path: createPath, Count: -1,
			}))
			var again post.Post
			if row.edit == nil {
				again = b.retry(p)
			} else {
				again = b.change(p, scheduling.Edit{Thread: row.edit})
			}
			if again.Status != post.Publishing {
				t.Errorf("the post is %s", again.Status)
			}
			b.publish(b.publisher(), input(again))
			b.prove(p.ID, b.account, post.TargetPosted, row.live)
			if now := b.read(p.ID); now.Status != post.Posted || now.PostedAt == nil {
				t.Errorf("the post is %s at %v", now.Status, now.PostedAt)
			}
			if calls := b.faults()[1].Seen; calls != row.live-1 {
				t.Errorf("got %d calls for the rest, want %d", calls, row.live-1)
			}
		})
	}
}

func TestDiscard(t *testing.T) {
	b := newBench(t, fake.Options{})
	other := b.connect("other")
	p := b.schedule(nil, b.account.ID, other.ID)
	b.fault(fake.Fault{Kind: fake.Status, Status: 422, Account: "other"})
	b.publish(b.publisher(), inputOn(p, b.account))
	b.publish(b.publisher(), inputOn(p, other))
	if _, err := b.scheduler.Discard(t.Context(), b.guard(p), nil); err != nil {
		t.Fatal(err)
	}
	b.prove(p.ID, b.account, post.TargetPosted, 1)
	b.prove(p.ID, other, post.TargetCanceled, 0)
	if now := b.read(p.ID); now.Status != post.PartlyPosted {
		t.Errorf("the post is %s", now.Status)
	}
	for what, act := range map[string]func() error{
		"retry":   func() error { _, err := b.scheduler.Retry(t.Context(), b.guard(p), nil); return err },
		"discard": func() error { _, err := b.scheduler.Discard(t.Context(), b.guard(p), nil); return err },
	} {
		if got := b.refusal(act()); got != "not_a_dead_letter" {
			t.Errorf("%s after it was discarded: got %q", what, got)
		}
	}
	if result, _ := b.publish(b.publisher(), inputOn(p, other)); result.Status != post.TargetCanceled {
		t.Errorf("it was published: %+v", result)
	}
}

// A call that was considered absent and then refused may still have succeeded: after a
// retry, and any change except to the content, the network identifies it by its key.
func TestRetry_DoesNotRepeatALostPost(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *bench, p post.Post) post.Post{
		"Retry": func(b *bench, p post.Post) post.Post { return b.retry(p) },
		"RetryAndPublishNow": func(b *bench, p post.Post) post.Post {
			b.retry(p)
			now, err := b.scheduler.PublishNow(b.t.Context(), b.guard(p))
			b.must(err)
			return now
		},
		"NewTime": func(b *bench, p post.Post) post.Post {
			when := time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)
			return b.change(p, scheduling.Edit{ScheduledTime: &when})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, fake.Options{})
			p := b.schedule(nil)
			b.fault(fake.Fault{Kind: fake.Hide, For: longerThanAllLooks})
			b.fault(fake.Fault{Kind: fake.ActThenReset})
			b.fault(fake.Fault{Kind: fake.Status, Status: 422, Nth: 2})
			b.publish(b.publisher(), input(p))
			if got := b.read(p.ID).Targets[0]; got.Status != post.TargetFailed {
				t.Fatalf("%+v", got)
			}
			b.publish(b.publisher(), input(change(b, p)))
			b.prove(p.ID, b.account, post.TargetPosted, 1)
		})
	}
}

// The time cannot be changed once a part is published: the rest is sent immediately.
func TestRetry_StartedThreadKeepsItsTime(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(thread(2))
	b.fault(fake.Fault{Kind: fake.Status, Status: 422, Nth: 2})
	b.publish(b.publisher(), input(p))
	when := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	if _, err := b.scheduler.Edit(t.Context(), b.guard(p),
		scheduling.Edit{ScheduledTime: &when}); b.refusal(err) != "too_late" {
		t.Errorf("a new time: got %v", err)
	}
}

// The last attempt was ambiguous and the post was not found: the ledger records this,
// also after a retry.
func TestRetry_LostLastAttemptStaysUnresolved(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(nil)
	b.fault(fake.Fault{Kind: fake.Status, Status: 422, Count: 4, Body: notReadyBody})
	b.fault(fake.Fault{Kind: fake.ResetBefore, Nth: 5, Count: 2})
	b.publish(b.publisher(), input(p))
	target := b.prove(p.ID, b.account, post.TargetFailed, 0)
	if got := states(b.entries(target.ID), 0); got[len(got)-1] != post.CallReconciledAbsent {
		t.Errorf("the calls ended %v", got)
	}
	b.publish(b.publisher(), input(b.retry(p)))
	b.prove(p.ID, b.account, post.TargetUncertain, 0)
}

// Two workers prepare; the second one's failure arrives after a person has retried the
// post.
func TestRetry_EarlierFailureDoesNotEndIt(t *testing.T) {
	b := newBench(t, fake.Options{})
	p := b.schedule(b.withMedia(b.upload(1)))
	b.must(b.fake.Inject(fake.Fault{
		Kind: fake.Status, Status: 422, Count: 2, Method: http.MethodPost, Path: uploadPath,
	}))
	frozen := b.publisher()
	frozen.Store = &sleeper{Store: b.store.Delivery(), step: "BeforeItRecords", sleep: func() {
		b.publish(b.publisher(), input(p))
		b.prove(p.ID, b.account, post.TargetFailed, 0)
		b.retry(p)
	}}
	if result, err := b.once(frozen, input(p)); err != nil || !result.Stale {
		t.Errorf("result %+v, error %v", result, err)
	}
	b.prove(p.ID, b.account, post.TargetScheduled, 0)
	b.publish(b.publisher(), input(p))
	b.prove(p.ID, b.account, post.TargetPosted, 1)
}
