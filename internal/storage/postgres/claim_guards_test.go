package postgres_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/post"
)

// A claim's lease limits how long its holder may take; it does not show whether the
// call reached the network. Until that is known, no other attempt may send.
func TestClaim_RefusedWhileAnEarlierCallIsOpen(t *testing.T) {
	for _, state := range []string{post.CallSending, post.CallAmbiguous} {
		t.Run(state, func(t *testing.T) {
			n := open(t)
			p := n.create()
			first := n.claim(p, 0, 1, time.Minute)
			n.must(n.SetCallState(t.Context(), first.OperationID, state, nil))
			n.exec("update post_targets set claimed_until = now() - interval '1 second'")
			other := n.create()
			if _, ok, err := n.ClaimAll(t.Context(), []post.Call{call(p, 0, 2), call(other, 0, 1)},
				time.Minute); err != nil || ok[0] || !ok[1] {
				t.Errorf("claim with an open call, claim of another post: got %v, %v, want [false true]", ok, err)
			}
			var calls int
			n.query(&calls, "select count(*) from operations where target_id = $1", first.TargetID)
			if calls != 1 {
				t.Errorf("calls in the ledger: got %d, want 1", calls)
			}
			n.must(n.SetCallState(t.Context(), first.OperationID, post.CallReconciledAbsent, nil))
			n.claim(p, 0, 2, time.Minute)
			if last, err := n.LastEpoch(t.Context(), first.TargetID, 0, 1); err != nil || last != 2 {
				t.Errorf("sends after the second claim: got %d, %v, want 2", last, err)
			}
		})
	}
}

// A claim is taken over only together with the open call that it was made for.
func TestTakeOver_RequiresTheOpenCallOfTheTarget(t *testing.T) {
	n := open(t)
	first, other := n.claim(n.create(), 0, 1, time.Minute), n.claim(n.create(), 0, 1, time.Minute)
	n.exec("update post_targets set claimed_until = now() - interval '1 second'")
	refuses := func(name string, c post.Call) {
		t.Helper()
		if _, ok, err := n.TakeOver(t.Context(), c, c.Fence, time.Minute); ok || err != nil {
			t.Errorf("%s: got %v, %v, want a refusal", name, ok, err)
		}
	}
	unknown, foreign := first, first
	unknown.OperationID, foreign.OperationID = newID(), other.OperationID
	refuses("an unknown call", unknown)
	refuses("the call of another target", foreign)
	n.exec("update post_targets set status = 'uncertain' where id = $1", first.TargetID)
	refuses("a target that is not being published", first)
	n.exec("update post_targets set status = 'publishing' where id = $1", first.TargetID)
	if fence, ok, err := n.TakeOver(t.Context(), first, first.Fence, time.Minute); !ok || err != nil ||
		fence != first.Fence+1 {
		t.Errorf("the open call: got %d, %v, %v, want fence %d", fence, ok, err, first.Fence+1)
	}
}

// Only approved and scheduled posts are published, whatever their targets' status.
func TestClaim_RefusedForAPostThatIsNotScheduled(t *testing.T) {
	n := open(t)
	for _, status := range []post.Status{post.Draft, post.Posted, post.PartlyPosted, post.Failed, post.Canceled} {
		p := n.create()
		n.exec("update scheduled_posts set status = $2::text::post_status where post_id = $1", p.ID, string(status))
		if _, ok, err := n.Claim(t.Context(), call(p, 0, 1), time.Minute); ok || err != nil {
			t.Errorf("claim of a post that is %s: got %v, %v, want a refusal", status, ok, err)
		}
	}
}

// A refused claim changes nothing: clients would see a post in flight although nothing
// is sent.
func TestClaim_RefusedChangesNothing(t *testing.T) {
	for name, prepare := range map[string]func(n *newsroom, c post.Call) post.Call{
		"TargetHasFailed": func(n *newsroom, c post.Call) post.Call {
			n.finish(failure(c))
			return c
		},
		"LeaseStillRuns": func(n *newsroom, c post.Call) post.Call {
			n.must(n.SetCallState(n.t.Context(), c.OperationID, post.CallReconciledAbsent, nil))
			return c
		},
		"TargetOfAnotherPost": func(n *newsroom, c post.Call) post.Call {
			c.TargetID = n.create().Targets[0].ID
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := open(t)
			sports := n.connect("sports")
			p := n.create(func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{n.account.ID, sports.ID} })
			c := prepare(n, n.claim(p, 0, 1, time.Minute))
			before, err := n.Post(t.Context(), p.ID)
			n.must(err)
			c.OperationID, c.Epoch = newID(), 2
			if _, ok, err := n.Claim(t.Context(), c, time.Minute); ok || err != nil {
				t.Fatalf("got %v, %v, want a refusal", ok, err)
			}
			after, err := n.Post(t.Context(), p.ID)
			n.must(err)
			if after.Version != before.Version || after.Status != before.Status {
				t.Errorf("the post: got version %d, %s, want version %d, %s", after.Version, after.Status,
					before.Version, before.Status)
			}
		})
	}
}

// Each segment of a thread is sent once. Claims are counted by segment and revision.
func TestClaim_SegmentsAndRevisionsAreSentOnce(t *testing.T) {
	n := open(t)
	p := n.create()
	first := n.claim(p, 0, 1, time.Minute)
	if got := n.reread(p); got.Version <= p.Version {
		t.Errorf("version after the claim: got %d, want more than %d", got.Version, p.Version)
	}
	retried := failure(first)
	retried.Status, retried.Event = post.TargetScheduled, post.EventRetrying
	n.finish(retried)
	first = n.claim(p, 0, 2, time.Minute)
	o := outcome(first, "1")
	o.Status, o.Event = post.TargetScheduled, post.EventSegment
	if got := n.finish(o).Targets[0]; got.Attempts != 0 {
		t.Errorf("tries of the next segment: got %d, want 0", got.Attempts)
	}
	// The next segment is planned for another time
	n.exec("update scheduled_posts set scheduled_time = scheduled_time + interval '1 hour'")
	again := call(p, 0, 3)
	if _, ok, err := n.Claim(t.Context(), again, time.Minute); ok || err != nil {
		t.Errorf("a segment that is published: got %v, %v, want a refusal", ok, err)
	}
	next := call(p, 0, 1)
	next.Segment = 1
	next, ok, err := n.Claim(t.Context(), next, time.Minute)
	if !ok || err != nil {
		t.Fatalf("the next segment: got %v, %v, want a claim", ok, err)
	}
	if got, err := n.Post(t.Context(), p.ID); err != nil || !got.Targets[0].SentAt.Equal(first.SentAt) {
		t.Errorf("a thread was sent when its first segment was: got %v, %v, want %s", got.Targets[0].SentAt, err,
			first.SentAt)
	}
	failed := failure(next)
	failed.Segment, failed.Status, failed.Event = 1, post.TargetScheduled, post.EventRetrying
	n.finish(failed)
	n.exec("update scheduled_posts set revision = revision + 1")
	edited := call(p, 0, 1)
	edited.Segment, edited.Revision = 1, p.Revision+1
	edited, ok, err = n.Claim(t.Context(), edited, time.Minute)
	if !ok || err != nil {
		t.Fatalf("the first send of a new revision: got %v, %v, want a claim", ok, err)
	}
	last := outcome(edited, "2")
	last.Segment = 1
	if last, err := n.LastEpoch(t.Context(), edited.TargetID, 0, edited.Revision); err != nil || last != 0 {
		t.Errorf("sends of the first segment in this revision: got %d, %v, want 0", last, err)
	}
	// Clients get the URL of the first segment.
	if got := n.finish(last).Targets[0]; got.RemoteID != "1" || got.RemoteURL != o.RemoteURL ||
		!got.SentAt.Equal(first.SentAt) {
		t.Errorf("the thread is shown as %q, %q, sent at %s, want %q, %q, %s", got.RemoteID, got.RemoteURL, got.SentAt,
			"1", o.RemoteURL, first.SentAt)
	}
	published, err := n.PublishedSegments(t.Context(), edited.TargetID)
	require.NoError(t, err)
	require.Len(t, published, 2)
	require.Equal(t, "1", published[0].RemoteID)
	require.Equal(t, "2", published[1].RemoteID)
	require.Equal(t, 1, published[1].Segment)
}

// A late call is planned for now: listed posts are compared with that time.
func TestClaim_OfALatePostIsPlannedForNow(t *testing.T) {
	n := open(t)
	p := n.create()
	n.exec("update scheduled_posts set scheduled_time = now() - interval '2 hours'")
	if c := n.claim(p, 0, 1, time.Minute); time.Since(c.SentAt).Abs() > time.Minute {
		t.Errorf("planned for %s, want now", c.SentAt)
	}
}

// The outcome of a call is recorded once, whichever attempt reports it.
func TestFinish_OutcomesAreFinal(t *testing.T) {
	n := open(t)
	finishers := map[string]func(o post.Outcome) bool{
		"Finish": func(o post.Outcome) bool {
			_, ok, err := n.RecordOutcome(t.Context(), o)
			n.must(err)
			return ok
		},
		"FinishPosted": func(o post.Outcome) bool {
			ok, err := n.RecordPosted(t.Context(), []post.Outcome{o})
			n.must(err)
			return ok[0]
		},
	}
	for name, finish := range finishers {
		p := n.create()
		c := n.claim(p, 0, 1, time.Minute)
		n.must(n.SetCallState(t.Context(), c.OperationID, post.CallAmbiguous, map[string]any{"cause": "timeout"}))
		o := posted(c, newID().String())
		o.Evidence = map[string]any{"request": "7"}
		if !finish(o) {
			t.Errorf("%s: refused", name)
		}
		var ledger string
		n.query(&ledger, "select concat_ws(' ', state, remote_id, evidence->>'cause', evidence->>'request', "+
			"finished_at > now() - interval '1 minute') from operations where id = $1", c.OperationID)
		if want := "accepted " + o.RemoteID + " timeout 7 t"; ledger != want {
			t.Errorf("%s: the ledger has %q, want %q", name, ledger, want)
		}
		for again, finish := range finishers {
			if finish(o) {
				t.Errorf("%s, then %s: the outcome was recorded twice", name, again)
			}
		}
		// A late response does not change the ledger either.
		n.must(n.SetCallState(t.Context(), c.OperationID, post.CallReconciledAbsent, map[string]any{"late": true}))
		var state string
		if n.query(&state, "select state from operations where id = $1", c.OperationID); state != post.CallAccepted {
			t.Errorf("%s: the ledger has %s after a late response, want accepted", name, state)
		}
		if _, ok, err := n.TakeOver(t.Context(), c, c.Fence, time.Minute); ok || err != nil {
			t.Errorf("%s: a published target was taken over: %v, %v", name, ok, err)
		}
		if got := n.reread(p); got.Version <= p.Version+1 {
			t.Errorf("%s: got version %d, want more than after the claim", name, got.Version)
		}
	}
}

func TestFinishPosted_ClearsEarlierErrors(t *testing.T) {
	n := open(t)
	p := n.create()
	first := failure(n.claim(p, 0, 1, time.Minute))
	first.Status, first.Event = post.TargetScheduled, post.EventRetrying
	n.finish(first)
	ok, err := n.RecordPosted(t.Context(), []post.Outcome{posted(n.claim(p, 0, 2, time.Minute), "1")})
	n.must(err)
	if got := n.reread(p).Targets[0]; !ok[0] || got.ErrorClass != "" || got.ErrorCode != "" || got.ErrorMessage != "" {
		t.Errorf("got %v, %+v, want no error left", ok, got)
	}
}
