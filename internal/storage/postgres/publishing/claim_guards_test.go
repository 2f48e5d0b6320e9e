package publishing_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

// A claim's lease limits how long its holder may take; it does not show whether the
// call reached the network. Until that is known, no other attempt may send.
func TestClaim_RefusedWhileAnEarlierCallIsOpen(t *testing.T) {
	for _, state := range []string{post.CallSending, post.CallAmbiguous} {
		t.Run(state, func(t *testing.T) {
			n := open(t)
			p := n.Create()
			first := n.Claim(p, 0, 1, time.Minute)
			n.Must(n.Publishing.Ledger.SetCallState(t.Context(), first.OperationID, state, nil))
			n.Exec("update post_targets set claimed_until = now() - interval '1 second'")
			other := n.Create()
			if _, ok, err := n.Publishing.Ledger.ClaimAll(t.Context(), []post.Call{storetest.Call(p, 0, 2), storetest.Call(other, 0, 1)},
				time.Minute); err != nil || ok[0] || !ok[1] {
				t.Errorf("claim with an open call, claim of another post: got %v, %v, want [false true]", ok, err)
			}
			var calls int
			n.Query(&calls, "select count(*) from operations where target_id = $1", first.TargetID)
			if calls != 1 {
				t.Errorf("calls in the ledger: got %d, want 1", calls)
			}
			n.Must(n.Publishing.Ledger.SetCallState(t.Context(), first.OperationID, post.CallReconciledAbsent, nil))
			n.Claim(p, 0, 2, time.Minute)
			if last, err := n.Publishing.Ledger.LastEpoch(t.Context(), first.TargetID, 0, 1); err != nil || last != 2 {
				t.Errorf("sends after the second claim: got %d, %v, want 2", last, err)
			}
		})
	}
}

// A claim is taken over only together with the open call that it was made for.
func TestTakeOver_RequiresTheOpenCallOfTheTarget(t *testing.T) {
	n := open(t)
	first, other := n.Claim(n.Create(), 0, 1, time.Minute), n.Claim(n.Create(), 0, 1, time.Minute)
	n.Exec("update post_targets set claimed_until = now() - interval '1 second'")
	refuses := func(name string, c post.Call) {
		t.Helper()
		if _, ok, err := n.Publishing.Ledger.TakeOver(t.Context(), c, c.Fence, time.Minute); ok || err != nil {
			t.Errorf("%s: got %v, %v, want a refusal", name, ok, err)
		}
	}
	unknown, foreign := first, first
	unknown.OperationID, foreign.OperationID = storetest.NewID(), other.OperationID
	refuses("an unknown call", unknown)
	refuses("the call of another target", foreign)
	n.Exec("update post_targets set status = 'uncertain' where id = $1", first.TargetID)
	refuses("a target that is not being published", first)
	n.Exec("update post_targets set status = 'publishing' where id = $1", first.TargetID)
	if fence, ok, err := n.Publishing.Ledger.TakeOver(t.Context(), first, first.Fence, time.Minute); !ok || err != nil ||
		fence != first.Fence+1 {
		t.Errorf("the open call: got %d, %v, %v, want fence %d", fence, ok, err, first.Fence+1)
	}
}

// Only approved and scheduled posts are published, whatever their targets' status.
func TestClaim_RefusedForAPostThatIsNotScheduled(t *testing.T) {
	n := open(t)
	for _, status := range []post.Status{post.Draft, post.Posted, post.PartlyPosted, post.Failed, post.Canceled} {
		p := n.Create()
		n.Exec("update scheduled_posts set status = $2::text::post_status where post_id = $1", p.ID, string(status))
		if _, ok, err := n.Publishing.Ledger.Claim(t.Context(), storetest.Call(p, 0, 1), time.Minute); ok || err != nil {
			t.Errorf("claim of a post that is %s: got %v, %v, want a refusal", status, ok, err)
		}
	}
}

// A refused claim changes nothing: clients would see a post in flight although nothing
// is sent.
func TestClaim_RefusedChangesNothing(t *testing.T) {
	for name, prepare := range map[string]func(n *newsroom, c post.Call) post.Call{
		"TargetHasFailed": func(n *newsroom, c post.Call) post.Call {
			n.Finish(storetest.Failure(c))
			return c
		},
		"LeaseStillRuns": func(n *newsroom, c post.Call) post.Call {
			n.Must(n.Publishing.Ledger.SetCallState(n.T.Context(), c.OperationID, post.CallReconciledAbsent, nil))
			return c
		},
		"TargetOfAnotherPost": func(n *newsroom, c post.Call) post.Call {
			c.TargetID = n.Create().Targets[0].ID
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := open(t)
			sports := n.Connect("sports")
			p := n.Create(func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{n.Account.ID, sports.ID} })
			c := prepare(n, n.Claim(p, 0, 1, time.Minute))
			before, err := n.Publishing.Posts.Post(t.Context(), p.ID)
			n.Must(err)
			c.OperationID, c.Epoch = storetest.NewID(), 2
			if _, ok, err := n.Publishing.Ledger.Claim(t.Context(), c, time.Minute); ok || err != nil {
				t.Fatalf("got %v, %v, want a refusal", ok, err)
			}
			after, err := n.Publishing.Posts.Post(t.Context(), p.ID)
			n.Must(err)
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
	p := n.Create()
	first := n.Claim(p, 0, 1, time.Minute)
	if got := n.Reread(p); got.Version <= p.Version {
		t.Errorf("version after the claim: got %d, want more than %d", got.Version, p.Version)
	}
	retried := storetest.Failure(first)
	retried.Status, retried.Event = post.TargetScheduled, post.EventRetrying
	n.Finish(retried)
	first = n.Claim(p, 0, 2, time.Minute)
	o := storetest.Outcome(first, "1")
	o.Status, o.Event = post.TargetScheduled, post.EventSegment
	if got := n.Finish(o).Targets[0]; got.Attempts != 0 {
		t.Errorf("tries of the next segment: got %d, want 0", got.Attempts)
	}
	// The next segment is planned for another time
	n.Exec("update scheduled_posts set scheduled_time = scheduled_time + interval '1 hour'")
	again := storetest.Call(p, 0, 3)
	if _, ok, err := n.Publishing.Ledger.Claim(t.Context(), again, time.Minute); ok || err != nil {
		t.Errorf("a segment that is published: got %v, %v, want a refusal", ok, err)
	}
	next := storetest.Call(p, 0, 1)
	next.Segment = 1
	next, ok, err := n.Publishing.Ledger.Claim(t.Context(), next, time.Minute)
	if !ok || err != nil {
		t.Fatalf("the next segment: got %v, %v, want a claim", ok, err)
	}
	if got, err := n.Publishing.Posts.Post(t.Context(), p.ID); err != nil || !got.Targets[0].SentAt.Equal(first.SentAt) {
		t.Errorf("a thread was sent when its first segment was: got %v, %v, want %s", got.Targets[0].SentAt, err,
			first.SentAt)
	}
	failed := storetest.Failure(next)
	failed.Segment, failed.Status, failed.Event = 1, post.TargetScheduled, post.EventRetrying
	n.Finish(failed)
	n.Exec("update scheduled_posts set revision = revision + 1")
	edited := storetest.Call(p, 0, 1)
	edited.Segment, edited.Revision = 1, p.Revision+1
	edited, ok, err = n.Publishing.Ledger.Claim(t.Context(), edited, time.Minute)
	if !ok || err != nil {
		t.Fatalf("the first send of a new revision: got %v, %v, want a claim", ok, err)
	}
	last := storetest.Outcome(edited, "2")
	last.Segment = 1
	if last, err := n.Publishing.Ledger.LastEpoch(t.Context(), edited.TargetID, 0, edited.Revision); err != nil || last != 0 {
		t.Errorf("sends of the first segment in this revision: got %d, %v, want 0", last, err)
	}
	// Clients get the URL of the first segment.
	if got := n.Finish(last).Targets[0]; got.RemoteID != "1" || got.RemoteURL != o.RemoteURL ||
		!got.SentAt.Equal(first.SentAt) {
		t.Errorf("the thread is shown as %q, %q, sent at %s, want %q, %q, %s", got.RemoteID, got.RemoteURL, got.SentAt,
			"1", o.RemoteURL, first.SentAt)
	}
	published, err := n.Publishing.Ledger.PublishedSegments(t.Context(), edited.TargetID)
	require.NoError(t, err)
	require.Len(t, published, 2)
	require.Equal(t, "1", published[0].RemoteID)
	require.Equal(t, "2", published[1].RemoteID)
	require.Equal(t, 1, published[1].Segment)
}

// A late call is planned for now: listed posts are compared with that time.
func TestClaim_OfALatePostIsPlannedForNow(t *testing.T) {
	n := open(t)
	p := n.Create()
	n.Exec("update scheduled_posts set scheduled_time = now() - interval '2 hours'")
	if c := n.Claim(p, 0, 1, time.Minute); time.Since(c.SentAt).Abs() > time.Minute {
		t.Errorf("planned for %s, want now", c.SentAt)
	}
}

// The outcome of a call is recorded once, whichever attempt reports it.
func TestFinish_OutcomesAreFinal(t *testing.T) {
	n := open(t)
	finishers := map[string]func(o post.Outcome) bool{
		"Finish": func(o post.Outcome) bool {
			_, ok, err := n.Publishing.Ledger.RecordOutcome(t.Context(), o)
			n.Must(err)
			return ok
		},
		"FinishPosted": func(o post.Outcome) bool {
			ok, err := n.Publishing.Ledger.RecordPosted(t.Context(), []post.Outcome{o})
			n.Must(err)
			return ok[0]
		},
	}
	for name, finish := range finishers {
		p := n.Create()
		c := n.Claim(p, 0, 1, time.Minute)
		n.Must(n.Publishing.Ledger.SetCallState(t.Context(), c.OperationID, post.CallAmbiguous, map[string]any{"cause": "timeout"}))
		o := storetest.Posted(c, storetest.NewID().String())
		o.Evidence = map[string]any{"request": "7"}
		if !finish(o) {
			t.Errorf("%s: refused", name)
		}
		var ledger string
		n.Query(&ledger, "select concat_ws(' ', state, remote_id, evidence->>'cause', evidence->>'request', "+
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
		n.Must(n.Publishing.Ledger.SetCallState(t.Context(), c.OperationID, post.CallReconciledAbsent, map[string]any{"late": true}))
		var state string
		if n.Query(&state, "select state from operations where id = $1", c.OperationID); state != post.CallAccepted {
			t.Errorf("%s: the ledger has %s after a late response, want accepted", name, state)
		}
		if _, ok, err := n.Publishing.Ledger.TakeOver(t.Context(), c, c.Fence, time.Minute); ok || err != nil {
			t.Errorf("%s: a published target was taken over: %v, %v", name, ok, err)
		}
		if got := n.Reread(p); got.Version <= p.Version+1 {
			t.Errorf("%s: got version %d, want more than after the claim", name, got.Version)
		}
	}
}

func TestFinishPosted_ClearsEarlierErrors(t *testing.T) {
	n := open(t)
	p := n.Create()
	first := storetest.Failure(n.Claim(p, 0, 1, time.Minute))
	first.Status, first.Event = post.TargetScheduled, post.EventRetrying
	n.Finish(first)
	ok, err := n.Publishing.Ledger.RecordPosted(t.Context(), []post.Outcome{storetest.Posted(n.Claim(p, 0, 2, time.Minute), "1")})
	n.Must(err)
	if got := n.Reread(p).Targets[0]; !ok[0] || got.ErrorClass != "" || got.ErrorCode != "" || got.ErrorMessage != "" {
		t.Errorf("got %v, %+v, want no error left", ok, got)
	}
}
