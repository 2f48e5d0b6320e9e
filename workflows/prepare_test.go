package workflows_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/workflows"
)

// withFiles adds attachments to a post: they are uploaded ten minutes before its time.
func withFiles(networks ...string) *newsroom {
	room := newRoom(networks...)
	room.view.PrepareAt = due.Add(-10 * time.Minute)
	return room
}

// moved is an edit of the time, as the database applies it.
func moved(to time.Time) func(v *delivery.PostView) {
	return func(v *delivery.PostView) { v.ScheduledTime, v.PrepareAt = to, to.Add(-10*time.Minute) }
}

// wantPrepared checks when targets were prepared, and for which revision.
func (r *run) wantPrepared(revision int64, at ...time.Time) {
	r.t.Helper()
	r.room.mu.Lock()
	defer r.room.mu.Unlock()
	var got []time.Time
	for _, p := range r.room.prepared {
		if p.in.Revision == revision {
			got = append(got, p.at)
		}
	}
	if !slices.EqualFunc(got, at, func(a, b time.Time) bool { return a.Sub(b).Abs() < time.Second }) {
		r.t.Errorf("revision %d was prepared at %v, want %v", revision, got, at)
	}
}

func TestPrepare_UploadsAhead(t *testing.T) {
	r := newRun(t, withFiles("mastodon", "bluesky"))
	r.at(55*time.Minute, func() {
		if state := r.state(); state.Doing != "waiting" {
			t.Errorf("state %+v", state)
		}
	})
	r.wantEnd(post.Posted)
	r.wantPrepared(1, due.Add(-10*time.Minute), due.Add(-10*time.Minute))
	r.wantSent(due, due)
}

func TestPrepare_SkipsPostsWithoutAttachments(t *testing.T) {
	r := newRun(t, newRoom("mastodon"))
	r.wantEnd(post.Posted)
	r.wantPrepared(1)
	r.wantSent(due)
}

func TestPrepare_ShortNotice(t *testing.T) {
	for notice, prepared := range map[time.Duration]bool{
		5 * time.Minute: true, 30 * time.Second: true,
		6 * time.Second: false, 0: false, -time.Hour: false,
	} {
		t.Run(notice.String(), func(t *testing.T) {
			room := withFiles("mastodon")
			moved(opening.Add(notice))(&room.view)
			r := newRun(t, room)
			r.wantEnd(post.Posted)
			if prepared {
				r.wantPrepared(1, opening)
			} else {
				r.wantPrepared(1)
			}
			r.wantSent(opening.Add(max(notice, 0)))
		})
	}
}

// hung is an upload that does not end for a day, after which it is retried.
func hung() error {
	return temporal.NewApplicationErrorWithOptions("slow", "test", temporal.ApplicationErrorOptions{
		NextRetryDelay: 24 * time.Hour,
	})
}

func TestPrepare_EditRestartsIt(t *testing.T) {
	r := newRun(t, withFiles("mastodon"))
	later := opening.Add(3 * time.Hour)
	r.room.prepare = func(_ context.Context, in delivery.TargetInput) error {
		if in.Revision == 1 {
			return hung()
		}
		return nil
	}
	calledOff := 0
	r.SetOnActivityCanceledListener(func(a *activity.Info) {
		if a.ActivityType.Name == "PrepareTarget" {
			calledOff++
		}
	})
	r.at(55*time.Minute, func() {
		r.room.change(moved(later))
		r.SignalWorkflow(workflows.SignalChanged, nil)
	})
	r.wantEnd(post.Posted)
	r.wantPrepared(1, due.Add(-10*time.Minute))
	r.wantPrepared(2, later.Add(-10*time.Minute))
	r.wantSent(later)
	if calledOff != 1 {
		t.Errorf("%d uploads were canceled", calledOff)
	}
}

func TestPrepare_PublishNowAndCancel(t *testing.T) {
	for signal, want := range map[string]post.Status{
		workflows.SignalPublishNow: post.Posted,
		workflows.SignalCancel:     post.Canceled,
	} {
		t.Run(signal, func(t *testing.T) {
			r := newRun(t, withFiles("mastodon"))
			r.room.prepare = func(context.Context, delivery.TargetInput) error { return hung() }
			r.at(55*time.Minute, func() {
				if state := r.state(); state.Doing != "preparing" {
					t.Errorf("state %+v", state)
				}
				r.SignalWorkflow(signal, nil)
			})
			r.wantEnd(want)
			r.wantPrepared(1, due.Add(-10*time.Minute))
			if want == post.Posted {
				r.wantSent(due.Add(-5 * time.Minute))
			} else {
				r.wantSent()
			}
		})
	}
}

// If preparation fails, is refused or times out, publishing does it on time.
func TestPrepare_FailureDoesNotDelayPublishing(t *testing.T) {
	for name, err := range map[string]error{
		"ForGood":   temporal.NewNonRetryableApplicationError("no", "test", nil),
		"EveryTime": errDatabase,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, withFiles("mastodon"))
			r.room.prepare = func(context.Context, delivery.TargetInput) error { return err }
			r.wantEnd(post.Posted)
			r.wantSent(due)
			if tries := len(r.room.prepared); name == "EveryTime" && tries != 5 || name == "ForGood" && tries != 1 {
				t.Errorf("got %d attempts", tries)
			}
		})
	}
}

// A hung upload delays its account until the post's time at most, and other accounts
// not at all.
func TestPrepare_HungUploadIsCanceledAtTheScheduledTime(t *testing.T) {
	r := newRun(t, withFiles("mastodon", "bluesky"))
	slow := r.room.view.Targets[0].ID
	r.room.prepare = func(_ context.Context, in delivery.TargetInput) error {
		if in.TargetID != slow {
			return nil
		}
		return hung()
	}
	r.wantEnd(post.Posted)
	sent := map[uuid.UUID]time.Time{}
	for _, d := range r.room.sent {
		sent[d.target] = d.at
	}
	if at := sent[slow]; at.Before(due) || at.After(due.Add(time.Second)) {
		t.Errorf("the hung target was published at %s, want its time", at)
	}
	if at := sent[r.room.view.Targets[1].ID]; !at.Before(due) {
		t.Errorf("the other account was published at %s, want it dispatched ahead", at)
	}
	if len(r.room.prepared) != 2 {
		t.Errorf("prepared %v", r.room.prepared)
	}
}

// Uploads that end between arming and the time are not repeated.
func TestPrepare_WaitsForAnUploadThatEndsInTime(t *testing.T) {
	r := newRun(t, withFiles("mastodon"))
	r.room.view.ArmAt = due.Add(-2 * time.Minute) // like in a burst
	r.room.prepare = func(context.Context, delivery.TargetInput) error {
		if len(r.room.prepared) == 1 {
			return temporal.NewApplicationErrorWithOptions("slow", "test", temporal.ApplicationErrorOptions{
				NextRetryDelay: 9 * time.Minute,
			})
		}
		return nil
	}
	r.wantEnd(post.Posted)
	r.wantSent(due.Add(-time.Minute))
}

func TestPrepare_EditDuringAHungUpload(t *testing.T) {
	r := newRun(t, withFiles("mastodon"))
	r.room.view.ArmAt = due.Add(-2 * time.Minute)
	later := opening.Add(3 * time.Hour)
	r.room.prepare = func(_ context.Context, in delivery.TargetInput) error {
		if in.Revision == 1 {
			return hung()
		}
		return nil
	}
	r.at(59*time.Minute, func() {
		r.room.change(func(v *delivery.PostView) { moved(later)(v); v.ArmAt = later.Add(-2 * time.Second) })
		r.SignalWorkflow(workflows.SignalChanged, nil)
	})
	r.wantEnd(post.Posted)
	r.wantSent(later.Add(-2 * time.Second))
	r.wantPrepared(2, later.Add(-10*time.Minute))
	if r.room.calls != 1 {
		t.Errorf("got %d attempts to publish", r.room.calls)
	}
}
