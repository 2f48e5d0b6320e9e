package workflows_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/workflows"
)

func TestPost_TargetsRunConcurrently(t *testing.T) {
	room := newRoom("mastodon", "bluesky", "mastodon")
	r := newRun(t, room)
	all := make(chan struct{})
	arrived := make(chan struct{}, len(room.view.Targets))
	go func() {
		for range room.view.Targets {
			<-arrived
		}
		close(all)
	}()
	room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		arrived <- struct{}{}
		select {
		case <-all:
			return room.post(in), nil
		case <-time.After(30 * time.Second):
			return delivery.TargetResult{}, temporal.NewNonRetryableApplicationError("the others never came", "test",
				nil)
		}
	}
	r.wantEnd(post.Posted)
	r.wantSent(due, due, due)
}

func TestPost_StaleResultIsDecidedAgain(t *testing.T) {
	r := newRun(t, newRoom("mastodon"))
	later := opening.Add(2 * time.Hour)
	first := true
	r.room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		if first { // edited between arming and the claim
			first = false
			r.room.change(func(v *delivery.PostView) { v.ScheduledTime = later })
		}
		return r.room.post(in), nil
	}
	r.wantEnd(post.Posted)
	r.wantSent(later)
}

// When every attempt is stale or fails, attempts must become rare, and signals must
// still be received.
func TestPost_HasNoHotLoop(t *testing.T) {
	for name, result := range map[string]error{"Stale": nil, "Error": temporal.NewNonRetryableApplicationError("broken",
		"test", nil)} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, newRoom("mastodon", "bluesky"))
			r.room.publish = func(context.Context, delivery.TargetInput) (delivery.TargetResult, error) {
				return delivery.TargetResult{Stale: true}, result
			}
			r.at(2*time.Hour, func() { r.SignalWorkflow(workflows.SignalCancel, nil) })
			r.wantEnd(post.Canceled)
			// An hour of attempts, in the end one every 30 seconds.
			if attempts := r.room.calls / 2; attempts < 100 || attempts > 130 {
				t.Errorf("%d attempts in an hour", attempts)
			}
		})
	}
	t.Run("EditEndsThePause", func(t *testing.T) {
		r := newRun(t, newRoom("mastodon"))
		r.room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
			if in.Revision == 1 {
				return delivery.TargetResult{Stale: true}, nil
			}
			return r.room.post(in), nil
		}
		r.at(90*time.Minute, func() { r.SignalWorkflow(workflows.SignalPublishNow, nil) })
		r.wantEnd(post.Posted)
		r.wantSent(opening.Add(90 * time.Minute))
	})
}

func TestPost_SignalsWhilePublishing(t *testing.T) {
	r := newRun(t, newRoom("mastodon"))
	content := "new"
	r.room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		result := r.room.post(in) // the claim: from now on it is too late
		r.SignalWorkflow(workflows.SignalEdit, workflows.EditSignal{Content: &content})
		r.SignalWorkflow(workflows.SignalCancel, nil)
		r.SignalWorkflow(workflows.SignalPublishNow, nil)
		r.SignalWorkflow(workflows.SignalChanged, nil)
		return result, r.await(func() bool { return len(r.room.refusals()) == 3 })
	}
	r.wantEnd(post.Posted)
	r.wantSent(due)
	want := []string{workflows.SignalCancel, workflows.SignalEdit, workflows.SignalPublishNow}
	got := r.room.refusals()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}
}

// A target in a long pause must not delay an edit.
func TestPost_EditCancelsAWaitingTarget(t *testing.T) {
	r := newRun(t, newRoom("mastodon", "bluesky"))
	slow := r.room.view.Targets[0].ID
	r.room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		if in.TargetID == slow && in.Revision == 1 {
			return delivery.TargetResult{}, temporal.NewApplicationErrorWithOptions("throttled", "throttled",
				temporal.ApplicationErrorOptions{NextRetryDelay: 24 * time.Hour})
		}
		if in.Revision == 1 {
			r.room.change(func(v *delivery.PostView) { v.ScheduledTime = opening.Add(2 * time.Hour) })
			r.SignalWorkflow(workflows.SignalChanged, nil)
		}
		return r.room.post(in), nil
	}
	r.wantEnd(post.Posted)
	r.wantSent(opening.Add(2*time.Hour), opening.Add(2*time.Hour))
}

// Reading loads the database and Temporal; nearly every post needs it once.
func TestPost_PublishedIsNotReadAgain(t *testing.T) {
	room := newRoom("mastodon", "mastodon")
	newRun(t, room).wantEnd(post.Posted)
	if room.reads != 1 {
		t.Errorf("the post was read %d times", room.reads)
	}
}

// A result of an older build does not state that it is recorded.
func TestPost_IsReadAgainIfTheEndWasNotRecorded(t *testing.T) {
	room := newRoom("mastodon")
	room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		result := room.post(in)
		result.Recorded = false
		return result, nil
	}
	newRun(t, room).wantEnd(post.Posted)
	if room.reads != 2 {
		t.Errorf("the post was read %d times", room.reads)
	}
}
