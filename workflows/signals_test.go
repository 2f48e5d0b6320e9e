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
