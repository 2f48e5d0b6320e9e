package publishing_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

// The status of a post is derived from its targets'.
func TestRecordOutcome_PostStatusFollowsItsTargets(t *testing.T) {
	n := open(t)
	sports := n.Connect("sports")
	uncertain := func(c post.Call) post.Outcome {
		o := storetest.Failure(c)
		o.Status, o.Operation, o.Event = post.TargetUncertain, post.CallManual, post.EventUncertain
		return o
	}
	retrying := func(c post.Call) post.Outcome {
		o := storetest.Failure(c)
		o.Status, o.Event = post.TargetScheduled, post.EventRetrying
		return o
	}
	posted := func(c post.Call) post.Outcome { return storetest.Outcome(c, storetest.NewID().String()) }
	for name, c := range map[string]struct {
		outcomes []func(post.Call) post.Outcome
		want     post.Status
	}{
		"both posted":               {[]func(post.Call) post.Outcome{posted, posted}, post.Posted},
		"one posted, one failed":    {[]func(post.Call) post.Outcome{posted, storetest.Failure}, post.PartlyPosted},
		"one failed, one posted":    {[]func(post.Call) post.Outcome{storetest.Failure, posted}, post.PartlyPosted},
		"both failed":               {[]func(post.Call) post.Outcome{storetest.Failure, storetest.Failure}, post.Failed},
		"one posted, one uncertain": {[]func(post.Call) post.Outcome{posted, uncertain}, post.Publishing},
		"one failed, one uncertain": {[]func(post.Call) post.Outcome{storetest.Failure, uncertain}, post.Publishing},
		"one posted, one to come":   {[]func(post.Call) post.Outcome{posted}, post.Publishing},
		"one failed, one retrying":  {[]func(post.Call) post.Outcome{storetest.Failure, retrying}, post.Publishing},
	} {
		t.Run(name, func(t *testing.T) {
			n.T = t
			p := n.Create(func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{n.Account.ID, sports.ID} })
			var got post.Post
			for i, finish := range c.outcomes {
				got = n.Finish(finish(n.Claim(p, i, 1, time.Minute)))
			}
			if got.Status != c.want {
				t.Errorf("the post is %s, want %s", got.Status, c.want)
			}
			if (got.PostedAt != nil) != (c.want == post.Posted || c.want == post.PartlyPosted) {
				t.Errorf("%s, posted at %v", got.Status, got.PostedAt)
			}
			if final := slices.Contains(n.EventTypes(p), post.EventStatus); final != c.want.IsFinal() {
				t.Errorf("%s, and the timeline is %v", got.Status, n.EventTypes(p))
			}
		})
	}
}

func TestRecordOutcome_FailureBeforeSending(t *testing.T) {
	n := open(t)
	p := n.Create()
	got := n.Finish(post.Outcome{
		PostID: p.ID, TargetID: p.Targets[0].ID, Revision: p.Revision,
		Status:     post.TargetFailed,
		ErrorClass: "auth", ErrorCode: "token", Error: "Connect the account again.", Event: post.EventFailed,
	})
	if got.Status != post.Failed || got.Targets[0].ErrorClass != "auth" ||
		got.Targets[0].ErrorMessage != "Connect the account again." {
		t.Errorf("got %+v", got)
	}
	if want := []string{post.EventCreated, post.EventFailed, post.EventStatus}; !slices.Equal(n.EventTypes(p), want) {
		t.Errorf("timeline %v", n.EventTypes(p))
	}
}

func TestRecordOutcome_TransientFailureKeepsThePostEditable(t *testing.T) {
	n := open(t)
	p := n.Create()
	got := n.Finish(post.Outcome{
		PostID: p.ID, TargetID: p.Targets[0].ID, Revision: p.Revision,
		Status:     post.TargetScheduled,
		ErrorClass: "transient", Error: "The instance is down.", Event: post.EventRetrying,
	})
	if got.Status != post.Scheduled || got.RetryCount != 1 {
		t.Fatalf("got %+v", got)
	}
	text := "Still mine"
	_, err := n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{Content: &text}, nil)
	n.Must(err)
}

func TestRecordOutcome_IsRecordedOnce(t *testing.T) {
	n := open(t)
	c := n.Claim(n.Create(), 0, 1, time.Minute)
	n.Finish(storetest.Outcome(c, "1"))
	if _, ok, err := n.Publishing.Ledger.RecordOutcome(t.Context(), storetest.Failure(c)); ok || err != nil {
		t.Errorf("a posted target failed afterwards (%v)", err)
	}
}
