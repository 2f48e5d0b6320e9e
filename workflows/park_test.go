package workflows_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/workflows"
)

// failFirst ends the first attempt of every target with status.
func failFirst(room *newsroom, status post.TargetStatus) {
	tried := map[uuid.UUID]bool{}
	room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		room.mu.Lock()
		again := tried[in.TargetID]
		tried[in.TargetID] = true
		room.mu.Unlock()
		if again {
			return room.post(in), nil
		}
		return room.finish(in, status), nil
	}
}

// parkedRun is a workflow whose post fails at its time.
func parkedRun(t *testing.T, networks ...string) *run {
	t.Helper()
	room := newRoom(networks...)
	failFirst(room, post.TargetFailed)
	return newRun(t, room)
}

func (r *run) state() (state workflows.StateResult) {
	r.t.Helper()
	answer, err := r.QueryWorkflow(workflows.QueryState)
	if err == nil {
		err = answer.Get(&state)
	}
	if err != nil {
		r.t.Error(err)
	}
	return state
}

func (r *run) wantNever(name string) {
	r.t.Helper()
	if got := r.room.refusals(); len(got) != 0 {
		r.t.Errorf("%s: refused %v", name, got)
	}
}

func TestPark_EndsAfterThirtyDays(t *testing.T) {
	r := parkedRun(t, "mastodon")
	for _, days := range []int{1, 29} {
		r.at(time.Duration(days)*24*time.Hour, func() {
			if state := r.state(); state.Doing != "parked" ||
				state.Until != due.Add(-time.Second).Add(post.ParkTimeout).Format(time.RFC3339) {
				t.Errorf("after %d days: %+v", days, state)
			}
		})
	}
	r.wantEnd(post.Failed)
	r.wantSent()
	if r.room.calls != 1 {
		t.Errorf("got %d attempts to publish", r.room.calls)
	}
	if waited := r.Now().Sub(due); waited < 30*24*time.Hour-time.Minute || waited > 30*24*time.Hour+time.Minute {
		t.Errorf("it waited %s", waited)
	}
	if state := r.state(); state.Doing != "done" {
		t.Errorf("at the end: %+v", state)
	}
}

// A signal after the end starts a new workflow, which parks again or continues.
func TestPark_ResumesAfterItsWorkflowEnded(t *testing.T) {
	room := newRoom("mastodon")
	room.view.Status, room.view.Targets[0].Status = post.Failed, post.TargetFailed
	room.view.ParkedUntil = opening.Add(-time.Minute)
	r := newRun(t, room)
	r.wantEnd(post.Failed)
	if passed := r.Now().Sub(opening); passed > time.Minute {
		t.Errorf("it waited %s", passed)
	}
	room.decide(delivery.Command{Name: workflows.SignalRetry})
	room.view.ScheduledTime = opening.Add(-40 * 24 * time.Hour)
	room.rollUp()
	r = newRun(t, room)
	r.wantEnd(post.Posted)
	r.wantSent(opening)
}

func TestParkedPost_AppliesCommands(t *testing.T) {
	later := opening.Add(72 * time.Hour)
	text := later.Format(time.RFC3339)
	decided := opening.Add(48 * time.Hour)
	for name, row := range map[string]struct {
		signal string
		input  any
		end    post.Status
		sent   []time.Time
	}{
		"Retry":            {workflows.SignalRetry, nil, post.Posted, []time.Time{decided}},
		"RetryEmptyObject": {workflows.SignalRetry, payload("json/plain", `{}`), post.Posted, []time.Time{decided}},
		"RetryNull":        {workflows.SignalRetry, payload("json/plain", `null`), post.Posted, []time.Time{decided}},
		"RetryBinaryNull":  {workflows.SignalRetry, payload("binary/null", ""), post.Posted, []time.Time{decided}},
		"Discard":          {workflows.SignalDiscard, nil, post.Canceled, nil},
		"DiscardObject":    {workflows.SignalDiscard, payload("json/plain", `{}`), post.Canceled, nil},
		"Edit": {
			workflows.SignalEdit, payload("json/plain", `{"content":"x"}`), post.Posted,
			[]time.Time{decided},
		},
		"EditWithATime": {
			workflows.SignalEdit, payload("json/plain", `{"scheduled_time":"`+text+`"}`), post.Posted,
			[]time.Time{later},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := parkedRun(t, "mastodon")
			r.at(48*time.Hour, func() { r.SignalWorkflow(row.signal, row.input) })
			r.wantEnd(row.end)
			r.wantSent(row.sent...)
			r.wantNever(name)
		})
	}
}

// Invalid signals have no effect, least of all on all targets.
func TestPark_RejectsInvalidSignals(t *testing.T) {
	for name, input := range map[string]any{
		"String":        payload("json/plain", `"all"`),
		"Number":        payload("json/plain", `7`),
		"List":          payload("json/plain", `["x"]`),
		"NoJSON":        payload("json/plain", `{"targets":`),
		"NoID":          payload("json/plain", `{"targets":["mastodon"]}`),
		"EmptyList":     payload("json/plain", `{"targets":[]}`),
		"MisspeltField": payload("json/plain", `{"target":["`+uuid.NewString()+`"]}`),
		"NullList":      payload("json/plain", `{"targets":null}`),
		"OneMore":       payload("json/plain", `{"targets":["`+uuid.NewString()+`"],"reason":"x"}`),
		"WrongType":     payload("json/plain", `{"targets":"x"}`),
		"Bytes":         payload("binary/plain", "x"),
		"UnknownKind":   payload("what/ever", "x"),
		"UnknownTarget": payload("json/plain", `{"targets":["`+uuid.NewString()+`"]}`),
	} {
		t.Run(name, func(t *testing.T) {
			r := parkedRun(t, "mastodon")
			names := []string{workflows.SignalRetry, workflows.SignalDiscard}
			for i, signal := range names {
				r.at(time.Duration(48+i)*time.Hour, func() { r.SignalWorkflow(signal, input) })
			}
			r.at(72*time.Hour, func() {
				if got := r.room.refusals(); !slices.Equal(got, names) || r.state().Doing != "parked" {
					t.Errorf("refused %v, state %+v", got, r.state())
				}
				r.SignalWorkflow(workflows.SignalDiscard, nil)
			})
			r.wantEnd(post.Canceled)
			r.wantSent()
		})
	}
}

// Cancel and publish_now have no effect on a parked post.
func TestPark_RejectsLateSignals(t *testing.T) {
	r := parkedRun(t, "mastodon")
	want := []string{workflows.SignalCancel, workflows.SignalPublishNow, workflows.SignalEdit}
	for i, signal := range want {
		r.at(time.Duration(2+i)*time.Hour, func() { r.SignalWorkflow(signal, nil) })
	}
	r.wantEnd(post.Failed)
	r.wantSent()
	if got := r.room.refusals(); !slices.Equal(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}
}

func TestPark_SignalsSelectTargets(t *testing.T) {
	r := parkedRun(t, "mastodon", "bluesky", "mastodon")
	id := func(i int) string { return r.room.view.Targets[i].ID.String() }
	r.at(24*time.Hour, func() {
		r.SignalWorkflow(workflows.SignalRetry, payload("json/plain", `{"targets":["`+id(1)+`"]}`))
	})
	r.at(48*time.Hour, func() {
		if r.room.view.Status != post.PartlyPosted || r.state().Doing != "parked" {
			t.Errorf("%s, %+v", r.room.view.Status, r.state())
		}
		r.SignalWorkflow(workflows.SignalDiscard, payload("json/plain", `{"targets":["`+id(0)+`"]}`))
	})
	r.at(72*time.Hour, func() {
		if r.state().Doing != "parked" {
			t.Errorf("%+v", r.state())
		}
		r.SignalWorkflow(workflows.SignalRetry, nil)
	})
	r.wantEnd(post.PartlyPosted)
	r.wantSent(opening.Add(24*time.Hour), opening.Add(72*time.Hour))
	r.wantNever("choosing")
}

func TestPark_WakesOnAChange(t *testing.T) {
	r := parkedRun(t, "mastodon")
	r.at(48*time.Hour, func() {
		r.room.change(func(*delivery.PostView) {
			r.room.decide(delivery.Command{Name: workflows.SignalRetry})
			r.room.rollUp()
		})
		r.SignalWorkflow(workflows.SignalChanged, nil)
	})
	r.wantEnd(post.Posted)
	r.wantSent(opening.Add(48 * time.Hour))
}

// A signal without a change neither ends the wait nor extends it.
func TestPark_IgnoresANotificationWithoutAChange(t *testing.T) {
	r := parkedRun(t, "mastodon")
	for i := range 10 {
		r.at(time.Duration(i+1)*24*time.Hour, func() { r.SignalWorkflow(workflows.SignalChanged, nil) })
	}
	r.wantEnd(post.Failed)
	if waited := r.Now().Sub(due); waited > 30*24*time.Hour+time.Minute {
		t.Errorf("it waited %s", waited)
	}
}

func TestPark_UncertainPosts(t *testing.T) {
	for name, row := range map[string]struct {
		decide post.TargetStatus
		end    post.Status
		sent   []time.Time
	}{
		"Confirmed": {post.TargetPosted, post.Posted, nil},
		"SentAgain": {post.TargetScheduled, post.Posted, []time.Time{opening.Add(48 * time.Hour)}},
		"Discarded": {post.TargetCanceled, post.Canceled, nil},
	} {
		t.Run(name, func(t *testing.T) {
			room := newRoom("mastodon")
			failFirst(room, post.TargetUncertain)
			r := newRun(t, room)
			// It is uncertain, so a retry might publish it twice.
			r.at(24*time.Hour, func() { r.SignalWorkflow(workflows.SignalRetry, nil) })
			r.at(48*time.Hour, func() {
				if got := room.refusals(); !slices.Equal(got, []string{workflows.SignalRetry}) ||
					r.state().Doing != "parked" {
					t.Errorf("refused %v, state %+v", got, r.state())
				}
				room.mu.Lock()
				room.view.Targets[0].Status = row.decide
				room.rollUp()
				room.mu.Unlock()
				r.SignalWorkflow(workflows.SignalChanged, nil)
			})
			r.wantEnd(row.end)
			r.wantSent(row.sent...)
		})
	}
}

func TestPark_ContinuesAsNew(t *testing.T) {
	r := parkedRun(t, "mastodon")
	r.at(48*time.Hour, func() {
		r.SetContinueAsNewSuggested(true)
		r.SignalWorkflow(workflows.SignalDiscard, payload("json/plain", `"nonsense"`)) // none is lost with the run
	})
	wantContinued(t, r)
	if got := r.room.refusals(); !slices.Equal(got, []string{workflows.SignalDiscard}) {
		t.Errorf("refused %v", got)
	}
	next := newRun(t, r.room)
	next.SetStartTime(opening.Add(48 * time.Hour))
	next.at(time.Hour, func() {
		if state := next.state(); state.Doing != "parked" ||
			state.Until != r.room.view.ParkedUntil.Format(time.RFC3339) {
			t.Errorf("state %+v", state)
		}
		next.SignalWorkflow(workflows.SignalRetry, nil)
	})
	next.wantEnd(post.Posted)
	next.wantSent(opening.Add(49 * time.Hour))
}

func TestPark_CanceledWorkflowChangesNothing(t *testing.T) {
	t.Run("Parked", func(t *testing.T) {
		r := parkedRun(t, "mastodon")
		r.at(48*time.Hour, r.CancelWorkflow)
		if _, err := r.end(); !temporal.IsCanceledError(err) {
			t.Errorf("ended with %v", err)
		}
		if v := r.room.view; v.Status != post.Failed || v.Targets[0].Status != post.TargetFailed ||
			len(r.room.commands) != 0 {
			t.Errorf("%+v after %v", v, r.room.commands)
		}
		if passed := r.Now().Sub(opening); passed > 49*time.Hour {
			t.Errorf("it took %s", passed)
		}
	})
	// Commands that were signaled before are still applied.
	t.Run("AfterARetry", func(t *testing.T) {
		r := parkedRun(t, "mastodon")
		r.at(48*time.Hour, func() {
			r.SignalWorkflowSkippingWorkflowTask(workflows.SignalRetry, nil)
			r.CancelWorkflow()
		})
		// Scheduled again, so that there is something to cancel.
		if _, err := r.end(); !temporal.IsCanceledError(err) || r.room.view.Status != post.Canceled {
			t.Errorf("ended with %v as %s", err, r.room.view.Status)
		}
		r.wantSent()
	})
	// The request arrives while the post is published. It is refused then, and there
	// can be no second one: Temporal accepts one per workflow.
	t.Run("WhilePublishing", func(t *testing.T) {
		room := newRoom("mastodon")
		r := newRun(t, room)
		room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
			result := room.finish(in, post.TargetFailed)
			r.CancelWorkflow()
			return result, r.await(func() bool { return len(room.refusals()) == 1 })
		}
		if _, err := r.end(); !temporal.IsCanceledError(err) || room.view.Status != post.Failed {
			t.Errorf("ended with %v as %s", err, room.view.Status)
		}
		if passed := r.Now().Sub(due); passed > time.Minute {
			t.Errorf("it took %s", passed)
		}
	})
}

func TestParkedPost_DetailsDescribeTheWait(t *testing.T) {
	r := parkedRun(t, "mastodon")
	r.at(48*time.Hour, func() {
		if details := r.details(); details == "" || !containsAll(details, "dead letters", "retry", "discard",
			"2027-01-23") {
			t.Errorf("details %q", details)
		}
		r.SignalWorkflow(workflows.SignalEdit, payload("json/plain", `{"scheduled_time":"2026-12-27T09:00:00Z"}`))
	})
	r.at(49*time.Hour, func() {
		if details := r.details(); !containsAll(details, "scheduled", "2026-12-27") {
			t.Errorf("details %q", details)
		}
	})
	r.wantEnd(post.Posted)
}

// An unavailable database neither ends the wait nor loses a decision.
func TestPark_SurvivesDatabaseErrors(t *testing.T) {
	r := parkedRun(t, "mastodon")
	r.at(48*time.Hour, func() {
		r.room.mu.Lock()
		r.room.commandErrs, r.room.readErrs = 5, 5
		r.room.mu.Unlock()
		r.SignalWorkflow(workflows.SignalRetry, nil)
	})
	r.wantEnd(post.Posted)
	if len(r.room.sent) != 1 {
		t.Errorf("sent %v", r.room.sent)
	}
}

func TestPark_RetriedPostParksAgain(t *testing.T) {
	room := newRoom("mastodon")
	room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		return room.finish(in, post.TargetFailed), nil
	}
	r := newRun(t, room)
	r.at(20*24*time.Hour, func() { r.SignalWorkflow(workflows.SignalRetry, nil) })
	r.wantEnd(post.Failed)
	if waited := r.Now().Sub(opening); waited < 50*24*time.Hour-time.Minute {
		t.Errorf("it waited %s, and not 30 days from the second failure", waited)
	}
	if room.calls != 2 {
		t.Errorf("got %d attempts to publish", room.calls)
	}
}
