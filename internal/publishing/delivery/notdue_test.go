package delivery_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// A target that is dispatched before its time is deferred until then by Temporal,
// without reading, sending or logging anything.
func TestPublish_TooEarlyIsDeferred(t *testing.T) {
	b := newBench(t, fake.Options{})
	unknown := delivery.TargetInput{
		PostID: uuid.New(), TargetID: uuid.New(), Revision: 1, NotBefore: time.Now().Add(time.Hour),
	}
	_, err := b.once(b.publisher(), unknown)
	var failure *delivery.NotDueError
	if !errors.As(err, &failure) {
		t.Fatalf("%v", err)
	}
	if left := failure.Delay; left > time.Hour || left < time.Hour-time.Minute {
		t.Errorf("the next attempt is in %s", left)
	}
	b.wantDiscreet()

	// Targets that are nearly due are not deferred, nor are late ones.
	for _, ahead := range []time.Duration{400 * time.Millisecond, -time.Minute} {
		p := b.schedule(nil)
		in := input(p)
		in.NotBefore = time.Now().Add(ahead)
		if result, err := b.once(b.publisher(), in); err != nil || result.Status != post.TargetPosted {
			t.Errorf("dispatched %s early: %+v, %v", ahead, result, err)
		}
	}
}

// Only scheduled posts with a single account wait with their activity.
func TestReadPost_DefersSingleTargets(t *testing.T) {
	b := newBench(t, fake.Options{})
	second := b.connect("second")
	one, two := b.schedule(inAnHour), b.schedule(inAnHour, b.account.ID, second.ID)
	late := b.schedule(nil)
	b.publish(b.publisher(), input(late))
	for name, row := range map[string]struct {
		p    post.Post
		want bool
	}{"one account": {one, true}, "two accounts": {two, false}, "posted": {late, false}} {
		view, err := b.planner().ReadPost(t.Context(), row.p.ID)
		if err != nil || view.Deferred != row.want {
			t.Errorf("%s: %+v, %v", name, view, err)
		}
	}
	if _, err := b.commands().Apply(t.Context(), delivery.Command{PostID: one.ID, Name: "cancel"}); err != nil {
		t.Fatal(err)
	}
	if view, err := b.planner().ReadPost(t.Context(), one.ID); err != nil || view.Deferred {
		t.Errorf("canceled: %+v, %v", view, err)
	}
}
