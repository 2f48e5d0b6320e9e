package workflows_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"dateline/internal/publishing/post"
	"dateline/workflows"
)

// answer is what the sender of an update gets.
type answer struct {
	rejected, failed error
	done             bool
}

func (r *run) update(name string, input ...any) *answer {
	var a answer
	r.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
		OnAccept:   func() {},
		OnReject:   func(err error) { a.rejected, a.done = err, true },
		OnComplete: func(_ any, err error) { a.failed, a.done = err, true },
	}, input...)
	return &a
}

// An update is applied like the signal of its name, and answered.
func TestUpdate_AppliesCommands(t *testing.T) {
	for name, row := range map[string]struct {
		update string
		input  any
		end    post.Status
		sent   []time.Time
	}{
		"Cancel":     {workflows.SignalCancel, nil, post.Canceled, nil},
		"PublishNow": {workflows.SignalPublishNow, nil, post.Posted, []time.Time{opening.Add(30 * time.Minute)}},
		"Edit": {
			workflows.SignalEdit,
			map[string]string{"scheduled_time": opening.Add(2 * time.Hour).Format(time.RFC3339)},
			post.Posted,
			[]time.Time{opening.Add(2 * time.Hour)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, newRoom("mastodon"))
			var a *answer
			r.at(30*time.Minute, func() {
				if row.input == nil {
					a = r.update(row.update)
				} else {
					a = r.update(row.update, row.input)
				}
			})
			r.wantEnd(row.end)
			r.wantSent(row.sent...)
			if !a.done || a.rejected != nil || a.failed != nil {
				t.Errorf("answered %+v", a)
			}
		})
	}
}

// A refusal is answered with its code and reason; the post continues.
func TestUpdate_RefusalIsAnswered(t *testing.T) {
	r := newRun(t, newRoom("mastodon"))
	var a *answer
	r.at(30*time.Minute, func() { a = r.update(workflows.SignalDiscard) }) // no dead letter
	r.wantEnd(post.Posted)
	r.wantSent(due)
	var failure *temporal.ApplicationError
	if !errors.As(a.failed, &failure) || failure.Type() != "not_allowed" || failure.Message() != "It is too late." {
		t.Errorf("answered %+v", a)
	}
}

// An invalid input is rejected before anything happens.
func TestUpdate_InvalidInputIsRejected(t *testing.T) {
	for name, row := range map[string]struct {
		update string
		input  any
	}{
		"EditWithoutObject": {workflows.SignalEdit, 7},
		"MisspelledTargets": {workflows.SignalRetry, map[string]any{"target": []string{}}},
		"NoTargets":         {workflows.SignalDiscard, map[string]any{"targets": []string{}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, newRoom("mastodon"))
			var a *answer
			r.at(30*time.Minute, func() { a = r.update(row.update, row.input) })
			r.wantEnd(post.Posted)
			r.wantSent(due)
			if a.rejected == nil || !strings.Contains(a.rejected.Error(), "must") || len(r.room.commands) != 0 {
				t.Errorf("answered %+v, applied %v", a, r.room.commands)
			}
		})
	}
}

// While the database does not respond, the update waits; the workflow does not end before it is answered.
func TestUpdate_WaitsForTheDatabase(t *testing.T) {
	room := newRoom("mastodon")
	room.commandErrs = 5
	r := newRun(t, room)
	var a *answer
	r.at(30*time.Minute, func() { a = r.update(workflows.SignalCancel) })
	r.wantEnd(post.Canceled)
	r.wantSent()
	if !a.done || a.failed != nil {
		t.Errorf("answered %+v", a)
	}
}

// The result of an applied command is lost once, as when its worker dies: the activity runs
// again, and recognizes it by its key.
func TestUpdate_ResultIsLost(t *testing.T) {
	for name, want := range map[string]post.Status{
		workflows.SignalCancel: post.Canceled, workflows.SignalPublishNow: post.Posted,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, newRoom("mastodon"))
			r.room.lostResults = 1
			var a *answer
			r.at(30*time.Minute, func() { a = r.update(name) })
			r.wantEnd(want)
			if !a.done || a.rejected != nil || a.failed != nil || r.room.view.Revision != 2 {
				t.Errorf("answered %+v, revision %d", a, r.room.view.Revision)
			}
		})
	}
}

// Commands of the same name have keys of their own, however they were sent.
func TestUpdate_RepeatedCommandsAreSeveral(t *testing.T) {
	r := newRun(t, newRoom("mastodon", "bluesky"))
	edit := func(hours int) workflows.EditSignal {
		at := opening.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339)
		return workflows.EditSignal{ScheduledTime: &at}
	}
	r.at(10*time.Minute, func() { r.SignalWorkflow(workflows.SignalEdit, edit(2)) })
	r.at(20*time.Minute, func() { r.SignalWorkflow(workflows.SignalEdit, edit(3)) })
	r.at(30*time.Minute, func() { r.updateWithID("a", edit(4)) })
	r.at(40*time.Minute, func() { r.updateWithID("b", edit(5)) })
	r.at(50*time.Minute, r.CancelWorkflow)
	_, _ = r.end()
	keys := map[string]bool{}
	for _, c := range r.room.commands {
		keys[c.Key] = true
	}
	if len(keys) != 5 || len(r.room.commands) != 5 || r.room.view.Revision != 6 {
		t.Errorf("keys %v of %d commands, revision %d, want five", keys, len(r.room.commands), r.room.view.Revision)
	}
}

func (r *run) updateWithID(id string, input any) {
	r.UpdateWorkflow(workflows.SignalEdit, id, &testsuite.TestUpdateCallback{
		OnAccept: func() {}, OnReject: func(error) {}, OnComplete: func(any, error) {},
	}, input)
}
