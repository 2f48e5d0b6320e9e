package workflows_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/workflows"
)

// A post that waits for hours is sent when it is woken, also if another of its targets
// is being sent.
func TestWake_EndsTheWaitForARateLimit(t *testing.T) {
	for name, networks := range map[string][]string{"OneTarget": {"mastodon"}, "TwoTargets": {"mastodon", "bluesky"}} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, newRoom(networks...))
			limited, waits := r.room.view.Targets[0].ID, true
			r.room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
				if in.TargetID == limited && waits {
					waits = false
					return delivery.TargetResult{}, temporal.NewApplicationErrorWithOptions("throttled", "throttled",
						temporal.ApplicationErrorOptions{NextRetryDelay: 3 * time.Hour})
				}
				return r.room.post(in), nil
			}
			r.at(time.Hour+10*time.Second, func() { r.SignalWorkflow(workflows.SignalWake, nil) })
			r.wantEnd(post.Posted)
			if took := r.Now().Sub(opening); took > time.Hour+time.Minute {
				t.Errorf("the post was out %s after the start, want right after it was woken at 1h0m10s", took)
			}
		})
	}
}

// A signal from before the post's time wakes nothing that waits later.
func TestWake_BeforeItsTimeIsForgotten(t *testing.T) {
	r := newRun(t, newRoom("mastodon", "bluesky"))
	limited, waits := r.room.view.Targets[0].ID, true
	r.room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		if in.TargetID == limited && waits {
			waits = false
			return delivery.TargetResult{}, temporal.NewApplicationErrorWithOptions("throttled", "throttled",
				temporal.ApplicationErrorOptions{NextRetryDelay: 3 * time.Hour})
		}
		return r.room.post(in), nil
	}
	r.at(time.Minute, func() { r.SignalWorkflow(workflows.SignalWake, nil) })
	r.wantEnd(post.Posted)
	if took := r.Now().Sub(opening); took < 4*time.Hour-time.Minute {
		t.Errorf("the post was out %s after the start, want the end of the rate limit", took)
	}
}

// Nothing waits, so the signal has no effect.
func TestWake_OfAPostThatDoesNotWaitDoesNothing(t *testing.T) {
	r := newRun(t, newRoom("mastodon"))
	r.at(time.Minute, func() { r.SignalWorkflow(workflows.SignalWake, nil) })
	r.wantEnd(post.Posted)
	r.wantSent(due)
	if r.room.calls != 1 {
		t.Errorf("got %d attempts, want 1", r.room.calls)
	}
}
