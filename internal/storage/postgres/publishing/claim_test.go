package publishing_test

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

func TestClaim_OneOfTwentyWins(t *testing.T) {
	n := open(t)
	p := n.Create()
	var mu sync.Mutex
	var won []post.Call
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			c, ok, err := n.Publishing.Ledger.Claim(t.Context(), storetest.Call(p, 0, 1), time.Minute)
			if err != nil {
				t.Error(err)
			}
			if ok {
				mu.Lock()
				defer mu.Unlock()
				won = append(won, c)
			}
		})
	}
	all.Wait()
	if len(won) != 1 {
		t.Fatalf("%d claims succeeded", len(won))
	}
	var rows int
	n.Query(&rows, "select count(*) from operations")
	if rows != 1 {
		t.Errorf("the ledger has %d rows", rows)
	}
	if events := n.EventTypes(p); !slices.Equal(events, []string{post.EventCreated, post.EventSending}) {
		t.Errorf("timeline %v", events)
	}
}

func TestClaim_WritesTheLedgerFirst(t *testing.T) {
	n := open(t)
	p := n.Create()
	want := storetest.Call(p, 0, 1)
	want.Prepared = json.RawMessage(`{"media": ["7"]}`)
	claimed, ok, err := n.Publishing.Ledger.Claim(t.Context(), want, time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	// The call is planned for the post's time; the lease starts now.
	if claimed.Fence != 1 || !claimed.SentAt.Equal(p.ScheduledTime) ||
		time.Until(claimed.ClaimedUntil).Round(10*time.Second) != time.Minute {
		t.Errorf("claimed %+v", claimed)
	}
	open, found, err := n.Publishing.Ledger.OpenCall(t.Context(), want.TargetID)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	require.Equal(t, want.OperationID, open.OperationID)
	require.Equal(t, want.IdempotencyKey, open.IdempotencyKey)
	require.Equal(t, want.Fingerprint, open.Fingerprint)
	require.Equal(t, int64(1), open.Revision)
	require.Equal(t, 1, open.Epoch)
	require.Equal(t, int64(1), open.Fence)
	require.WithinDuration(t, claimed.SentAt, open.SentAt, 0)
	require.Equal(t, string(want.Prepared), string(open.Prepared))
	got, err := n.Publishing.Posts.Post(t.Context(), p.ID)
	n.Must(err)
	if got.Status != post.Publishing || got.Targets[0].Status != post.TargetPublishing ||
		!got.Targets[0].SentAt.Equal(claimed.SentAt) {
		t.Errorf("the post is %+v", got)
	}
	if epoch, err := n.Publishing.Ledger.LastEpoch(t.Context(), want.TargetID, 0, 1); err != nil || epoch != 1 {
		t.Errorf("last epoch %d, %v", epoch, err)
	}
	if epoch, err := n.Publishing.Ledger.LastEpoch(t.Context(), want.TargetID, 0, 2); err != nil || epoch != 0 {
		t.Errorf("last epoch of another revision %d, %v", epoch, err)
	}
}

func TestClaim_RequiresTheNewestRevision(t *testing.T) {
	n := open(t)
	p := n.Create()
	text := "Corrected"
	edited, err := n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{Content: &text}, nil)
	n.Must(err)
	if _, ok, err := n.Publishing.Ledger.Claim(t.Context(), storetest.Call(p, 0, 1), time.Minute); ok || err != nil {
		t.Errorf("the revision from before the edit was claimed (%v, %v)", ok, err)
	}
	if now, err := n.Publishing.Posts.Post(t.Context(), p.ID); err != nil || now.Status != post.Scheduled {
		t.Errorf("the refused claim left %+v, %v", now, err)
	}
	n.Claim(edited, 0, 1, time.Minute)
}

func TestClaim_RejectsACanceledPost(t *testing.T) {
	n := open(t)
	p := n.Create()
	canceled, err := n.Publishing.Posts.Cancel(t.Context(), n.Guard(p))
	n.Must(err)
	for _, version := range []post.Post{p, canceled} {
		if _, ok, err := n.Publishing.Ledger.Claim(t.Context(), storetest.Call(version, 0, 1), time.Minute); ok || err != nil {
			t.Errorf("revision %d was claimed (%v, %v)", version.Revision, ok, err)
		}
	}
	if now, err := n.Publishing.Posts.Post(t.Context(), p.ID); err != nil || now.Status != post.Canceled ||
		now.Version != canceled.Version {
		t.Errorf("the post is %+v, %v", now, err)
	}
}

func TestClaim_TargetsAreIndependent(t *testing.T) {
	n := open(t)
	sports := n.Connect("sports")
	p := n.Create(func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{n.Account.ID, sports.ID} })
	n.Claim(p, 0, 1, time.Minute)
	n.Claim(p, 1, 1, time.Minute)
}

func TestClaim_TakeOverRequiresAnExpiredLease(t *testing.T) {
	n := open(t)
	p := n.Create()
	first := n.Claim(p, 0, 1, time.Minute)
	if _, ok, err := n.Publishing.Ledger.TakeOver(t.Context(), first, first.Fence, time.Minute); ok || err != nil {
		t.Fatalf("taken over while the lease runs (%v)", err)
	}
	n.Exec("update post_targets set claimed_until = now() - interval '1 second'")
	var mu sync.Mutex
	var fences []int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			fence, ok, err := n.Publishing.Ledger.TakeOver(t.Context(), first, first.Fence, time.Minute)
			if err != nil {
				t.Error(err)
			}
			if ok {
				mu.Lock()
				defer mu.Unlock()
				fences = append(fences, fence)
			}
		})
	}
	all.Wait()
	if !slices.Equal(fences, []int64{first.Fence + 1}) {
		t.Fatalf("taken over with the fences %v", fences)
	}
	if _, ok, err := n.Publishing.Ledger.TakeOver(t.Context(), first, fences[0], time.Minute); ok || err != nil {
		t.Errorf("taken over from its new holder: got %v, %v, want a refusal", ok, err)
	}

	// A holder that knows only the first fencing number must not end the second claim.
	n.Exec("update post_targets set claimed_until = now() - interval '1 second'")
	if _, ok, err := n.Publishing.Ledger.TakeOver(t.Context(), first, first.Fence, time.Minute); ok || err != nil {
		t.Errorf("a take-over under an old fence: got %v, %v, want a refusal", ok, err)
	}

	// The previous holder resumes late: its results are refused.
	if _, ok, err := n.Publishing.Ledger.RecordOutcome(t.Context(), storetest.Outcome(first, "1")); ok || err != nil {
		t.Errorf("the previous holder's outcome was recorded (%v)", err)
	}
	if ok, err := n.Publishing.Ledger.RenewClaim(t.Context(), first.TargetID, first.Fence, time.Minute); ok || err != nil {
		t.Errorf("the previous holder renewed its claim (%v)", err)
	}
	second := first
	second.Fence = fences[0]
	if got := n.Finish(storetest.Outcome(second, "1")); got.Status != post.Posted || got.Targets[0].RemoteID != "1" {
		t.Errorf("got %+v", got)
	}
}

func TestRenewClaim_ExtendsLease(t *testing.T) {
	n := open(t)
	c := n.Claim(n.Create(), 0, 1, time.Second)
	ok, err := n.Publishing.Ledger.RenewClaim(t.Context(), c.TargetID, c.Fence, time.Hour)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	n.Exec("update post_targets set claimed_until = claimed_until - interval '30 minutes'")
	if _, ok, err := n.Publishing.Ledger.TakeOver(t.Context(), c, c.Fence, time.Minute); ok || err != nil {
		t.Errorf("taken over before the renewed lease ran out (%v)", err)
	}
	n.Finish(storetest.Outcome(c, "1"))
	if ok, err := n.Publishing.Ledger.RenewClaim(t.Context(), c.TargetID, c.Fence, time.Hour); ok || err != nil {
		t.Errorf("a finished claim was renewed (%v)", err)
	}
}

func TestRecordOutcome_RejectsAnOlderRevision(t *testing.T) {
	n := open(t)
	p := n.Create()
	text := "Corrected"
	_, err := n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{Content: &text}, nil)
	n.Must(err)
	// Problems from preparing the previous text do not concern the new one.
	o := post.Outcome{
		PostID: p.ID, TargetID: p.Targets[0].ID, Revision: p.Revision, Status: post.TargetFailed,
		ErrorClass: "rejected", Error: "Too long.", Event: post.EventFailed,
	}
	if _, ok, err := n.Publishing.Ledger.RecordOutcome(t.Context(), o); ok || err != nil {
		t.Errorf("it was recorded (%v)", err)
	}
	if now, err := n.Publishing.Posts.Post(t.Context(), p.ID); err != nil || now.Status != post.Scheduled {
		t.Errorf("the post is %+v, %v", now, err)
	}
}

func TestRecordOutcome_RejectionChangesNothing(t *testing.T) {
	n := open(t)
	p := n.Create()
	c := n.Claim(p, 0, 1, time.Minute)
	before := n.EventTypes(p)
	late := storetest.Outcome(c, "1")
	late.Fence--
	if _, ok, err := n.Publishing.Ledger.RecordOutcome(t.Context(), late); ok || err != nil {
		t.Fatal(ok, err)
	}
	if after := n.EventTypes(p); !slices.Equal(before, after) {
		t.Errorf("timeline %v, before %v", after, before)
	}
	var state string
	n.Query(&state, "select state from operations")
	if state != post.CallSending {
		t.Errorf("the ledger has %s", state)
	}
}

func TestClaim_RetryHasANewEpoch(t *testing.T) {
	n := open(t)
	p := n.Create()
	first := n.Claim(p, 0, 1, time.Minute)
	o := storetest.Failure(first)
	o.Status, o.Event, o.ErrorClass = post.TargetScheduled, post.EventRetrying, "transient"
	got := n.Finish(o)
	if got.Status != post.Publishing || got.RetryCount != 1 || got.Targets[0].Attempts != 1 ||
		got.Targets[0].ClaimedUntil != nil {
		t.Errorf("after the first try %+v", got)
	}
	// It does not affect other posts' claims.
	other := n.Create()
	if _, ok, err := n.Publishing.Ledger.ClaimAll(t.Context(), []post.Call{storetest.Call(got, 0, 1), storetest.Call(other, 0, 1)},
		time.Minute); err != nil || ok[0] || !ok[1] {
		t.Errorf("the same epoch once more, and another post's first: %v, %v", ok, err)
	}
	second := n.Claim(got, 0, 2, time.Minute)
	if second.Fence <= first.Fence {
		t.Errorf("fence %d after %d", second.Fence, first.Fence)
	}
	if got = n.Finish(storetest.Outcome(second, "1")); got.Status != post.Posted || got.Targets[0].Attempts != 2 ||
		got.RetryCount != 1 || got.Targets[0].ErrorMessage != "" {
		t.Errorf("after the second try %+v", got)
	}
	if _, found, err := n.Publishing.Ledger.OpenCall(t.Context(), second.TargetID); found || err != nil {
		t.Errorf("a call is still open (%v)", err)
	}
}

func TestClaim_AmbiguousCallStaysOpen(t *testing.T) {
	n := open(t)
	c := n.Claim(n.Create(), 0, 1, time.Minute)
	n.Must(n.Publishing.Ledger.SetCallState(t.Context(), c.OperationID, post.CallAmbiguous, map[string]any{"first": "timeout"}))
	if open, found, err := n.Publishing.Ledger.OpenCall(t.Context(), c.TargetID); err != nil || !found ||
		open.OperationID != c.OperationID {
		t.Fatalf("open %+v %v %v", open, found, err)
	}
	n.Must(n.Publishing.Ledger.SetCallState(t.Context(), c.OperationID, post.CallReconciledAbsent, map[string]any{"second": "not found"}))
	if _, found, err := n.Publishing.Ledger.OpenCall(t.Context(), c.TargetID); err != nil || found {
		t.Errorf("still open (%v)", err)
	}
	var evidence string
	n.Query(&evidence, "select evidence::text from operations")
	if evidence != `{"first": "timeout", "second": "not found"}` {
		t.Errorf("evidence %s", evidence)
	}
}

func TestRecordOutcome_RemotePostBelongsToOneTarget(t *testing.T) {
	n := open(t)
	since := time.Now().Add(-time.Minute)
	n.Finish(storetest.Outcome(n.Claim(n.Create(), 0, 1, time.Minute), "77"))
	known, err := n.Publishing.Ledger.ClaimedRemoteIDs(t.Context(), n.Account.ID, since)
	if err != nil || !known["77"] || len(known) != 1 {
		t.Errorf("known %v, %v", known, err)
	}
	found := storetest.Outcome(n.Claim(n.Create(), 0, 1, time.Minute), "77")
	found.Operation = post.CallReconciledOK
	if _, ok, err := n.Publishing.Ledger.RecordOutcome(t.Context(), found); ok || err == nil {
		t.Errorf("a remote post was found for two posts (%v)", err)
	}
	// The network's own response is recorded as it is.
	if _, ok, err := n.Publishing.Ledger.RecordOutcome(t.Context(), storetest.Outcome(n.Claim(n.Create(), 0, 1, time.Minute), "77")); !ok ||
		err != nil {
		t.Errorf("an accepted call was not recorded: %v %v", ok, err)
	}
}

func TestParent_ReturnsTheStateOfTheParent(t *testing.T) {
	n := open(t)
	p := n.Create()
	if status, id, err := n.Publishing.Ledger.Parent(t.Context(), p.ID, n.Account.ID); err != nil || status != post.TargetScheduled ||
		id != "" {
		t.Errorf("%s %q %v", status, id, err)
	}
	n.Finish(storetest.Outcome(n.Claim(p, 0, 1, time.Minute), "5"))
	if status, id, err := n.Publishing.Ledger.Parent(t.Context(), p.ID, n.Account.ID); err != nil || status != post.TargetPosted ||
		id != "5" {
		t.Errorf("%s %q %v", status, id, err)
	}
	if status, _, err := n.Publishing.Ledger.Parent(t.Context(), p.ID, storetest.NewID()); err != nil || status != post.TargetCanceled {
		t.Errorf("on another account: %s %v", status, err)
	}
}

// An attempt that read the open call before its holder settled it must not take over
// the claim: the target would be uncertain because of a call that cannot be decided any
// more.
func TestTakeOver_RefusedOnceTheCallIsSettled(t *testing.T) {
	n := open(t)
	settle := func(c post.Call) {
		o := storetest.Outcome(c, storetest.NewID().String())
		o.Status, o.Event = post.TargetPublishing, post.EventSegment
		n.Finish(o)
	}
	expired := func() post.Call {
		c := n.Claim(n.Create(), 0, 1, time.Minute)
		n.Exec("update post_targets set claimed_until = now() - interval '1 second' where id = $1", c.TargetID)
		return c
	}
	t.Run("Before", func(t *testing.T) {
		c := expired()
		settle(c)
		if _, ok, err := n.Publishing.Ledger.TakeOver(t.Context(), c, c.Fence, time.Minute); ok || err != nil {
			t.Errorf("got %v, %v, want a refusal", ok, err)
		}
	})
	t.Run("WhileItWaitsForTheHolder", func(t *testing.T) {
		c := expired()
		holder, err := pgx.Connect(t.Context(), n.URL)
		n.Must(err)
		defer func() { _ = holder.Close(t.Context()) }()
		tx, err := holder.Begin(t.Context())
		n.Must(err)
		_, err = tx.Exec(t.Context(), "update post_targets set claimed_until = null where id = $1", c.TargetID)
		n.Must(err)
		taken := make(chan bool)
		go func() {
			_, ok, err := n.Publishing.Ledger.TakeOver(t.Context(), c, c.Fence, time.Minute)
			if err != nil {
				t.Error(err)
			}
			taken <- ok
		}()
		for waiting := false; !waiting; time.Sleep(10 * time.Millisecond) {
			n.Query(&waiting, "select exists (select 1 from pg_stat_activity where datname = current_database() and "+
				"wait_event_type = 'Lock')")
		}
		_, err = tx.Exec(t.Context(), "update operations set state = 'reconciled_ok' where id = $1", c.OperationID)
		n.Must(err)
		n.Must(tx.Commit(t.Context()))
		if <-taken {
			t.Error("the settled call was taken over, want a refusal")
		}
	})
}
