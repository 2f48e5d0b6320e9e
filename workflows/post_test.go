package workflows_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/workflows"
)

// due is when newRoom's post is due.
var due = opening.Add(time.Hour)

func TestPost_WaitsUntilItsTime(t *testing.T) {
	r := newRun(t, newRoom("mastodon"))
	r.at(59*time.Minute, func() {
		r.wantSent()
		answer, err := r.QueryWorkflow(workflows.QueryState)
		if err != nil {
			t.Fatal(err)
		}
		var state workflows.StateResult
		if err := answer.Get(&state); err != nil || state.Doing != "waiting" || state.Revision != 1 ||
			state.Until != "2026-12-24T09:59:59Z" {
			t.Errorf("state %+v, error %v", state, err)
		}
	})
	r.wantEnd(post.Posted)
	r.wantSent(due)
}

// Most workflows are started together with their post, and read it only once something
// has changed.
func TestPost_StartedWithItsView(t *testing.T) {
	later := opening.Add(2 * time.Hour)
	for name, c := range map[string]struct {
		change func(r *run)
		want   time.Time
		reads  int
	}{
		"Unchanged": {func(*run) {}, due, 0},
		"ChangedBeforeItsFirstTask": {func(r *run) {
			r.room.change(func(v *delivery.PostView) { v.ScheduledTime = later })
			r.at(0, func() { r.SignalWorkflow(workflows.SignalChanged, nil) })
		}, later, 1},
		"ChangeUnheard": {func(r *run) {
			r.at(30*time.Minute, func() { r.room.change(func(v *delivery.PostView) { v.ScheduledTime = later }) })
		}, later, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, newRoom("mastodon"))
			view := r.room.current()
			c.change(r)
			r.ExecuteWorkflow(workflows.PostWorkflow, workflows.PostInput{PostID: r.room.id, View: &view})
			if err := r.GetWorkflowError(); err != nil {
				t.Fatal(err)
			}
			r.wantSent(c.want)
			if r.room.reads != c.reads {
				t.Errorf("the post was read %d times, want %d", r.room.reads, c.reads)
			}
		})
	}
}

func TestPost_InThePastIsPublishedAtOnce(t *testing.T) {
	room := newRoom("mastodon")
	room.view.ScheduledTime = opening.Add(-time.Hour)
	r := newRun(t, room)
	r.wantEnd(post.Posted)
	r.wantSent(opening)
}

func TestPost_Edited(t *testing.T) {
	for name, to := range map[string]time.Time{
		"Later":   opening.Add(3 * time.Hour),
		"Earlier": opening.Add(40 * time.Minute),
	} {
		t.Run(name+"BySignal", func(t *testing.T) {
			r := newRun(t, newRoom("mastodon"))
			at := to.Format(time.RFC3339)
			r.at(30*time.Minute, func() {
				r.SignalWorkflow(workflows.SignalEdit, workflows.EditSignal{ScheduledTime: &at})
			})
			r.wantEnd(post.Posted)
			r.wantSent(to)
		})
		t.Run(name+"ByTheAPI", func(t *testing.T) {
			r := newRun(t, newRoom("mastodon"))
			r.at(30*time.Minute, func() {
				r.room.change(func(v *delivery.PostView) { v.ScheduledTime = to })
				r.SignalWorkflow(workflows.SignalChanged, nil)
			})
			r.wantEnd(post.Posted)
			r.wantSent(to)
		})
	}
	// The workflow got no signal, because Temporal was down: the row still decides.
	t.Run("Unheard", func(t *testing.T) {
		r := newRun(t, newRoom("mastodon"))
		r.at(30*time.Minute, func() {
			r.room.change(func(v *delivery.PostView) { v.ScheduledTime = opening.Add(2 * time.Hour) })
		})
		r.wantEnd(post.Posted)
		r.wantSent(opening.Add(2 * time.Hour))
	})
}

func TestPost_Canceled(t *testing.T) {
	r := newRun(t, newRoom("mastodon"))
	r.at(59*time.Minute, func() { r.SignalWorkflow(workflows.SignalCancel, nil) })
	r.wantEnd(post.Canceled)
	r.wantSent()
	if r.room.calls != 0 {
		t.Errorf("got %d attempts to publish", r.room.calls)
	}
}

func TestPost_CancelRequest(t *testing.T) {
	t.Run("InTime", func(t *testing.T) {
		r := newRun(t, newRoom("mastodon"))
		r.at(30*time.Minute, r.CancelWorkflow)
		if _, err := r.end(); !temporal.IsCanceledError(err) {
			t.Fatalf("ended with %v, want a canceled workflow", err)
		}
		r.wantSent()
		if r.room.view.Status != post.Canceled || r.room.calls != 0 {
			t.Errorf("the post is %s after %d calls", r.room.view.Status, r.room.calls)
		}
	})
	t.Run("TooLate", func(t *testing.T) {
		r := newRun(t, newRoom("mastodon"))
		r.room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
			result := r.room.post(in)
			r.CancelWorkflow()
			return result, r.await(func() bool { return len(r.room.refusals()) == 1 })
		}
		r.wantEnd(post.Posted)
		r.wantSent(due)
	})
}

func TestPost_PublishNow(t *testing.T) {
	r := newRun(t, newRoom("mastodon"))
	r.at(10*time.Minute, func() { r.SignalWorkflow(workflows.SignalPublishNow, nil) })
	r.wantEnd(post.Posted)
	r.wantSent(opening.Add(10 * time.Minute))
}

// The timer and a signal arrive before the same workflow task; the signal wins.
func TestPost_SignalWithTheTimer(t *testing.T) {
	later := opening.Add(2 * time.Hour)
	text := later.Format(time.RFC3339)
	for name, row := range map[string]struct {
		signal string
		input  any
		end    post.Status
		sent   []time.Time
	}{
		"Cancel": {workflows.SignalCancel, nil, post.Canceled, nil},
		"Edit": {
			workflows.SignalEdit,
			workflows.EditSignal{ScheduledTime: &text},
			post.Posted,
			[]time.Time{later, later},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, newRoom("mastodon", "bluesky"))
			// Without a task of its own the signal waits for the timer's.
			r.at(time.Hour-time.Second-time.Millisecond, func() {
				r.SignalWorkflowSkippingWorkflowTask(row.signal, row.input)
			})
			r.wantEnd(row.end)
			r.wantSent(row.sent...)
			if r.room.calls != len(row.sent) {
				t.Errorf("got %d attempts to publish", r.room.calls)
			}
		})
	}
}

// A post to one account waits at Temporal with its activity. A change ends that wait
// immediately, also for an earlier time, without using an attempt.
func TestPost_OneAccountWaitsWithItsActivity(t *testing.T) {
	earlier, later := opening.Add(40*time.Minute), opening.Add(3*time.Hour)
	for name, row := range map[string]struct {
		signal string
		input  any
		end    post.Status
		sent   []time.Time
	}{
		"Unchanged": {"", nil, post.Posted, []time.Time{due}},
		"Canceled":  {workflows.SignalCancel, nil, post.Canceled, nil},
		"Earlier": {
			workflows.SignalEdit,
			workflows.EditSignal{ScheduledTime: new(earlier.Format(time.RFC3339))},
			post.Posted,
			[]time.Time{earlier},
		},
		"Later": {
			workflows.SignalEdit,
			workflows.EditSignal{ScheduledTime: new(later.Format(time.RFC3339))},
			post.Posted,
			[]time.Time{later},
		},
		"PublishNow": {workflows.SignalPublishNow, nil, post.Posted, []time.Time{opening.Add(30 * time.Minute)}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, newRoom("mastodon"))
			waited := 0
			r.SetOnTimerScheduledListener(func(string, time.Duration) { waited++ })
			if row.signal != "" {
				r.at(30*time.Minute, func() { r.SignalWorkflow(row.signal, row.input) })
			}
			r.wantEnd(row.end)
			r.wantSent(row.sent...)
			if r.room.calls != len(row.sent) || waited != 0 {
				t.Errorf("got %d attempts to publish, and the workflow itself waited %d times", r.room.calls, waited)
			}
			if want := 1 + min(1, len(row.signal)); r.room.reads != want {
				t.Errorf("the post was read %d times, want %d", r.room.reads, want)
			}
		})
	}
}

func TestPost_EndsAtOnce(t *testing.T) {
	for _, status := range post.Statuses() {
		if status == post.Scheduled || status == post.Publishing {
			continue
		}
		t.Run(string(status), func(t *testing.T) {
			room := newRoom("mastodon")
			room.view.Status = status
			r := newRun(t, room)
			r.wantEnd(status)
			r.wantSent()
			if passed := r.Now().Sub(opening); passed > time.Minute {
				t.Errorf("took %s", passed)
			}
		})
	}
	t.Run("OnlyUncertainTargets", func(t *testing.T) {
		room := newRoom("mastodon")
		room.view.Status, room.view.Targets[0].Status = post.Publishing, post.TargetUncertain
		newRun(t, room).wantEnd(post.Publishing)
	})
}

func TestPost_NotFoundEndsTheWorkflow(t *testing.T) {
	r := newRun(t, newRoom("mastodon"))
	r.OnActivity("ReadPost", mock.Anything, mock.Anything).Return(delivery.PostView{},
		temporal.NewNonRetryableApplicationError("no post", "post_not_found", nil))
	if _, err := r.end(); err == nil {
		t.Error("a deleted post must end its workflow with an error")
	}
}

func TestPost_DatabaseErrors(t *testing.T) {
	room := newRoom("mastodon")
	room.readErrs, room.commandErrs = 40, 20 // more than a quarter of an hour
	r := newRun(t, room)
	tries := 0
	room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		if tries++; tries < 4 {
			return delivery.TargetResult{}, errDatabase
		}
		return room.post(in), nil
	}
	at := opening.Add(3 * time.Hour).Format(time.RFC3339)
	r.at(30*time.Minute, func() { r.SignalWorkflow(workflows.SignalEdit, workflows.EditSignal{ScheduledTime: &at}) })
	r.wantEnd(post.Posted)
	if len(room.sent) != 1 || room.sent[0].at.Before(opening.Add(3*time.Hour)) {
		t.Errorf("sent %v", room.sent)
	}
}

func TestPost_ContinuesAsNew(t *testing.T) {
	at := opening.Add(2 * time.Hour).Format(time.RFC3339)
	t.Run("Waiting", func(t *testing.T) {
		r := newRun(t, newRoom("mastodon"))
		r.at(30*time.Minute, func() {
			r.SetContinueAsNewSuggested(true)
			// Both are applied before the run ends, so neither is lost.
			r.SignalWorkflow(workflows.SignalEdit, workflows.EditSignal{ScheduledTime: &at})
			r.SignalWorkflow(workflows.SignalEdit, workflows.EditSignal{})
		})
		wantContinued(t, r)
		r.wantSent()
		if v := r.room.view; v.Revision != 2 || len(r.room.refusals()) != 1 {
			t.Errorf("revision %d, refused %v", v.Revision, r.room.refusals())
		}
	})
	t.Run("Publishing", func(t *testing.T) {
		r := newRun(t, newRoom("mastodon"))
		r.room.publish = func(context.Context, delivery.TargetInput) (delivery.TargetResult, error) {
			return delivery.TargetResult{}, temporal.NewApplicationErrorWithOptions("throttled", "throttled",
				temporal.ApplicationErrorOptions{NextRetryDelay: 1000 * time.Hour})
		}
		r.at(10*time.Hour, func() {
			r.SetContinueAsNewSuggested(true)
			r.SignalWorkflow(workflows.SignalChanged, nil)
		})
		wantContinued(t, r)
		if took := r.Now().Sub(opening); took > 11*time.Hour {
			t.Errorf("it continued as new after %s, and not when it had to wait", took)
		}
	})
}

func wantContinued(t *testing.T, r *run) {
	t.Helper()
	_, err := r.end()
	var again *workflow.ContinueAsNewError
	if !errors.As(err, &again) || again.WorkflowType.Name != workflows.PostWorkflow {
		t.Fatalf("ended with %v, want it to continue as new", err)
	}
}

func TestPost_Query(t *testing.T) {
	room := newRoom("mastodon")
	r := newRun(t, room)
	attributes := map[string]any{}
	// The workflow around it can read what is written to the visibility store.
	r.RegisterWorkflowWithOptions(func(ctx workflow.Context, in workflows.PostInput) (workflows.PostResult, error) {
		result, err := workflows.Post(ctx, in)
		for key, value := range workflow.GetTypedSearchAttributes(ctx).GetUntypedValues() {
			attributes[key.GetName()] = value
		}
		return result, err
	}, workflow.RegisterOptions{Name: "Watched"})
	r.at(30*time.Minute, func() {
		answer, err := r.QueryWorkflow("__temporal_workflow_metadata")
		if err != nil {
			t.Error(err)
			return
		}
		var metadata sdkpb.WorkflowMetadata
		if err := answer.Get(&metadata); err != nil || !strings.Contains(metadata.CurrentDetails, "scheduled") {
			t.Errorf("details %q, error %v", metadata.CurrentDetails, err)
		}
	})
	r.ExecuteWorkflow("Watched", workflows.PostInput{PostID: room.id})
	if err := r.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"PostStatus": "posted", "Platform": "mastodon",
		"AccountID": room.view.Targets[0].AccountID.String(), "PublishAt": due,
	} {
		if attributes[name] != want {
			t.Errorf("%s is %v, want %v", name, attributes[name], want)
		}
	}
}

// await waits in real time for a change that the workflow makes.
func (r *run) await(done func() bool) error {
	for range 500 {
		if done() {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return temporal.NewNonRetryableApplicationError("timed out waiting for the workflow", "test", nil)
}
