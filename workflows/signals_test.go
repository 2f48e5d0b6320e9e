package workflows_test

import (
	"slices"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"dateline/internal/publishing/post"
	"dateline/workflows"
)

// payload is a signal's input as any kind of client may send it.
func payload(encoding, data string) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{"encoding": []byte(encoding)}, Data: []byte(data),
	})
}

func TestSignal_EditInput(t *testing.T) {
	for name, row := range map[string]struct {
		input     any
		isApplied bool
	}{
		"Object":         {payload("json/plain", `{"content":"x"}`), true},
		"Time":           {payload("json/plain", `{"scheduled_time":"2026-12-24T10:00:00Z"}`), true},
		"UnknownFields":  {payload("json/plain", `{"contents":"x"}`), false},
		"EmptyObject":    {payload("json/plain", `{}`), false},
		"String":         {payload("json/plain", `"x"`), false},
		"Number":         {payload("json/plain", `7`), false},
		"Null":           {payload("json/plain", `null`), false},
		"WrongType":      {payload("json/plain", `{"content":5}`), false},
		"NoJSON":         {payload("json/plain", `{"content":`), false},
		"BinaryNull":     {payload("binary/null", ""), false},
		"Bytes":          {payload("binary/plain", "x"), false},
		"Unknown":        {payload("what/ever", "x"), false},
		"WithoutPayload": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, newRoom("mastodon"))
			r.at(30*time.Minute, func() { r.SignalWorkflow(workflows.SignalEdit, row.input) })
			r.wantEnd(post.Posted)
			r.wantSent(due)
			refused := r.room.refusals()
			if row.isApplied && len(refused) != 0 || !row.isApplied &&
				!slices.Equal(refused, []string{workflows.SignalEdit}) {
				t.Errorf("refused %v", refused)
			}
			if revision := r.room.view.Revision; row.isApplied != (revision == 2) {
				t.Errorf("revision %d", revision)
			}
		})
	}
}

// Signals without an input of their own accept any.
func TestSignal_OthersIgnoreTheirInput(t *testing.T) {
	for _, input := range []any{
		nil, payload("json/plain", `{"a":1}`), payload("json/plain", `broken`),
		payload("what/ever", "x"),
	} {
		r := newRun(t, newRoom("mastodon"))
		r.at(10*time.Minute, func() { r.SignalWorkflow(workflows.SignalChanged, input) })
		r.at(20*time.Minute, func() { r.SignalWorkflow(workflows.SignalCancel, input) })
		r.wantEnd(post.Canceled)
		r.wantSent()
	}
}

func TestSignal_UnknownIsIgnored(t *testing.T) {
	r := newRun(t, newRoom("mastodon"))
	r.at(10*time.Minute, func() { r.SignalWorkflow("whatever", "x") })
	r.wantEnd(post.Posted)
	r.wantSent(due)
}

// What arrives while the workflow works is not overlooked by the wait that follows.
func TestSignal_ArrivesWhileTheWorkflowIsBusy(t *testing.T) {
	view := func(r *run) workflows.PostInput {
		v := r.room.current()
		return workflows.PostInput{PostID: r.room.id, View: &v}
	}
	unread := func(r *run) workflows.PostInput { return workflows.PostInput{PostID: r.room.id} }
	for name, row := range map[string]struct {
		input    func(r *run) workflows.PostInput
		activity string
		isFull   bool
	}{
		"WhileACommandIsApplied":            {view, "ApplyCommand", false},
		"WhileACommandIsAppliedUnread":      {unread, "ApplyCommand", false},
		"WhileThePostIsRead":                {unread, "ReadPost", false},
		"WhileTheLastTimeTheHistoryIsShort": {view, "ReadPost", true},
	} {
		for signal, end := range map[string]post.Status{
			workflows.SignalPublishNow: post.Posted, workflows.SignalCancel: post.Canceled,
		} {
			t.Run(name+"/"+signal, func(t *testing.T) {
				r := newRun(t, newRoom("mastodon", "bluesky"))
				input := row.input(r)
				r.room.meanwhile = map[string]func(){row.activity: func() {
					r.SetContinueAsNewSuggested(row.isFull)
					r.SignalWorkflow(signal, nil)
				}}
				zone := "Asia/Tokyo"
				r.at(0, func() { r.SignalWorkflow(workflows.SignalEdit, workflows.EditSignal{TimeZone: &zone}) })
				r.ExecuteWorkflow(workflows.PostWorkflow, input)
				if took := r.Now().Sub(opening); took > time.Minute {
					t.Errorf("it took %s, want that the signal is applied at once", took)
				}
				if err := r.GetWorkflowError(); !row.isFull && err != nil {
					t.Fatal(err)
				}
				if v := r.room.view; v.Revision != 3 || !row.isFull && v.Status != end {
					t.Errorf("revision %d is %s, want the third", v.Revision, v.Status)
				}
			})
		}
	}
}

// A post that is due is not published before a signal that arrived while it was read.
func TestSignal_ArrivesWhileADuePostIsRead(t *testing.T) {
	for name, networks := range map[string][]string{"OneTarget": {"mastodon"}, "TwoTargets": {"mastodon", "bluesky"}} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, newRoom(networks...))
			r.room.view.ScheduledTime = opening.Add(-time.Hour)
			r.room.meanwhile = map[string]func(){
				"ReadPost": func() { r.SignalWorkflow(workflows.SignalCancel, nil) },
			}
			r.wantEnd(post.Canceled)
			r.wantSent()
			if r.room.calls != 0 {
				t.Errorf("got %d attempts to publish", r.room.calls)
			}
		})
	}
}
