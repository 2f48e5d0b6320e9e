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

// A post that returns to pending approval is a draft to its workflow, which ends.
func TestApproval_WithdrawnPostEndsItsWorkflow(t *testing.T) {
	takeBack := func(v *delivery.PostView) { v.Status = post.Draft }
	t.Run("WhileItWaits", func(t *testing.T) {
		r := newRun(t, newRoom("mastodon"))
		r.at(30*time.Minute, func() {
			r.room.change(takeBack)
			r.SignalWorkflow(workflows.SignalChanged, nil)
		})
		r.wantEnd(post.Draft)
		r.wantSent()
		if at := r.Now(); at.After(opening.Add(31 * time.Minute)) {
			t.Errorf("it ended at %s", at)
		}
	})
	// Temporal was down: the workflow reads the row at its time.
	t.Run("WithoutASignal", func(t *testing.T) {
		r := newRun(t, newRoom("mastodon"))
		r.room.publish = func(context.Context, delivery.TargetInput) (delivery.TargetResult, error) {
			return delivery.TargetResult{Stale: true}, nil // like a claim of a draft
		}
		r.at(30*time.Minute, func() { r.room.change(takeBack) })
		r.wantEnd(post.Draft)
		r.wantSent()
	})
	// Its activities already wait for the second.
	t.Run("Armed", func(t *testing.T) {
		r := newRun(t, newRoom("mastodon"))
		r.room.publish = func(context.Context, delivery.TargetInput) (delivery.TargetResult, error) {
			r.room.change(takeBack)
			r.SignalWorkflow(workflows.SignalChanged, nil)
			return delivery.TargetResult{}, temporal.NewApplicationErrorWithOptions("not due", "not_due",
				temporal.ApplicationErrorOptions{NextRetryDelay: 24 * time.Hour})
		}
		r.wantEnd(post.Draft)
		r.wantSent()
		if at := r.Now(); at.After(opening.Add(2 * time.Hour)) {
			t.Errorf("it ended at %s", at)
		}
	})
	// It is approved again while the previous workflow is still running.
	t.Run("ApprovedAgain", func(t *testing.T) {
		r := newRun(t, newRoom("mastodon"))
		r.at(20*time.Minute, func() { r.room.change(takeBack) })
		r.at(30*time.Minute, func() {
			r.room.change(func(v *delivery.PostView) {
				v.Status, v.ScheduledTime = post.Scheduled, opening.Add(2*time.Hour)
			})
			r.SignalWorkflow(workflows.SignalChanged, nil)
		})
		r.wantEnd(post.Posted)
		r.wantSent(opening.Add(2 * time.Hour))
	})
}
