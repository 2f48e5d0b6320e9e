package publishing_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

// key is the content key of a text.
func key(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// sent claims a new post on an account and leaves its call in a state.
func (n *newsroom) sent(on account.Account, contentKey []byte, state string, evidence map[string]any) post.Call {
	n.T.Helper()
	p := n.Create(func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{on.ID} })
	c := storetest.Call(p, 0, 1)
	c.ContentKey = contentKey
	c, ok, err := n.Publishing.Ledger.Claim(n.T.Context(), c, time.Minute)
	n.Must(err)
	if !ok {
		n.T.Fatal("the claim was refused")
	}
	if state != post.CallSending {
		n.Must(n.Publishing.Ledger.SetCallState(n.T.Context(), c.OperationID, state, evidence))
	}
	return c
}

// Each case is another call on the account, next to the one that is searched for.
func TestSimilarCalls_AreUnresolvedCallsThatLookTheSame(t *testing.T) {
	n := open(t)
	since := time.Now().Add(-time.Hour)
	decided := map[string]any{"decided_by": "user:1"}
	for name, row := range map[string]struct {
		text, state  string
		evidence     map[string]any
		change       string // of the row in the ledger
		otherAccount bool
		listed       bool
		inFlight     int
	}{
		"Sending":      {text: "same", state: post.CallSending, listed: true, inFlight: 1},
		"AmbiguousNow": {text: "same", state: post.CallAmbiguous, listed: true, inFlight: 1},
		"AmbiguousBefore": {
			text: "same", state: post.CallAmbiguous, change: "finished_at = now() - interval '31 seconds'",
			listed: true,
		},
		"AmbiguousAlmost": {
			text: "same", state: post.CallAmbiguous, change: "finished_at = now() - interval '20 seconds'",
			listed: true, inFlight: 1,
		},
		"AmbiguousAndOld": {
			text: "same", state: post.CallAmbiguous,
			change: "sent_at = now() - interval '2 hours', finished_at = now() - interval '2 hours'", listed: true,
		},
		"Manual":              {text: "same", state: post.CallManual, change: "sent_at = now()", listed: true},
		"ManualAndOld":        {text: "same", state: post.CallManual, change: "sent_at = now() - interval '2 hours'"},
		"Decided":             {text: "same", state: post.CallManual, evidence: decided, change: "sent_at = now()"},
		"Accepted":            {text: "same", state: post.CallAccepted},
		"Failed":              {text: "same", state: post.CallFailed},
		"Found":               {text: "same", state: post.CallReconciledOK},
		"Absent":              {text: "same", state: post.CallReconciledAbsent},
		"OtherText":           {text: "other", state: post.CallSending, inFlight: 1},
		"OtherTextAmbiguous":  {text: "other", state: post.CallAmbiguous, inFlight: 1},
		"OtherTextManual":     {text: "other", state: post.CallManual, change: "sent_at = now()"},
		"OtherAccount":        {text: "same", state: post.CallSending, otherAccount: true},
		"OtherAccountManual":  {text: "same", state: post.CallManual, change: "sent_at = now()", otherAccount: true},
		"OtherAccountAndText": {text: "other", state: post.CallAmbiguous, otherAccount: true},
	} {
		mine := n.Connect(name)
		lost := n.sent(mine, key("same"), post.CallAmbiguous, nil)
		n.Exec("update operations set sent_at = now() - interval '3 hours', finished_at = now() where id = $1",
			lost.OperationID)
		on := mine
		if row.otherAccount {
			on = n.Connect(name + "2")
		}
		other := n.sent(on, key(row.text), row.state, row.evidence)
		if row.change != "" {
			n.Exec("update operations set "+row.change+" where id = $1", other.OperationID)
		}
		got, err := n.Publishing.Ledger.SimilarCalls(t.Context(), mine.ID, lost, since)
		n.Must(err)
		want := []uuid.UUID{lost.OperationID}
		if row.listed {
			want = append(want, other.OperationID)
		}
		var ids []uuid.UUID
		for _, c := range got.Calls {
			ids = append(ids, c.OperationID)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%s: got calls %v, want %v", name, ids, want)
		}
		if got.InFlight != row.inFlight {
			t.Errorf("%s: got %d calls in flight, want %d", name, got.InFlight, row.inFlight)
		}
	}
}

// Calls are assigned to listed posts in the order in which they were sent.
func TestSimilarCalls_AreOldestFirst(t *testing.T) {
	n := open(t)
	third := n.sent(n.Account, key("same"), post.CallManual, nil)
	first := n.sent(n.Account, key("same"), post.CallAmbiguous, nil)
	second := n.sent(n.Account, key("same"), post.CallSending, nil)
	fourth := n.sent(n.Account, key("same"), post.CallSending, nil)
	at := time.Now().UTC().Truncate(time.Microsecond)
	for c, sent := range map[uuid.UUID]time.Time{
		first.OperationID: at.Add(-time.Minute), second.OperationID: at,
		third.OperationID: at.Add(time.Second), fourth.OperationID: at.Add(time.Second),
	} {
		n.Exec("update operations set sent_at = $2 where id = $1", c, sent)
	}
	got, err := n.Publishing.Ledger.SimilarCalls(t.Context(), n.Account.ID, second, at.Add(-time.Hour))
	n.Must(err)
	want := []post.SimilarCall{
		{OperationID: first.OperationID, State: post.CallAmbiguous, SentAt: at.Add(-time.Minute)},
		{OperationID: second.OperationID, State: post.CallSending, SentAt: at},
		{OperationID: third.OperationID, State: post.CallManual, SentAt: at.Add(time.Second)}, // ids increase
		{OperationID: fourth.OperationID, State: post.CallSending, SentAt: at.Add(time.Second)},
	}
	for i := range want {
		want[i].Fingerprint = hex.EncodeToString(first.Fingerprint)
	}
	same := func(a, b post.SimilarCall) bool {
		return a.IsUnchanged(b) && a.Fingerprint == b.Fingerprint && a.SentAt.Equal(b.SentAt)
	}
	if !slices.EqualFunc(got.Calls, want, same) {
		t.Errorf("got %+v, want %+v", got.Calls, want)
	}
}

// Posts that already belong to a call are never assigned to another.
func TestSimilarCalls_KnowsTheRemotePostsOfTheAccount(t *testing.T) {
	n := open(t)
	sports := n.Connect("sports")
	now := time.Now().UTC()
	for remoteID, row := range map[string]struct {
		on account.Account
		at time.Time
	}{
		"recent": {n.Account, now},
		"older":  {n.Account, now.Add(-2 * time.Hour)},
		"theirs": {sports, now},
	} {
		p := n.Create(func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{row.on.ID} })
		o := storetest.Outcome(n.Claim(p, 0, 1, time.Minute), remoteID)
		o.PostedAt = &row.at
		n.Finish(o)
	}
	lost := n.sent(n.Account, key("same"), post.CallAmbiguous, nil)
	since := now.Add(-time.Hour)
	got, err := n.Publishing.Ledger.SimilarCalls(t.Context(), n.Account.ID, lost, since)
	n.Must(err)
	claimed, err := n.Publishing.Ledger.ClaimedRemoteIDs(t.Context(), n.Account.ID, since)
	n.Must(err)
	for name, known := range map[string]map[string]bool{
		"SimilarCalls":     got.KnownRemoteIDs,
		"ClaimedRemoteIDs": claimed,
	} {
		if len(known) != 1 || !known["recent"] {
			t.Errorf("%s: got remote posts %v, want recent", name, known)
		}
	}
}

// A send without a reliable response counts until somebody decides on it: after two of
// them nothing is sent again.
func TestUnresolvedSends_CountUntilDecided(t *testing.T) {
	n := open(t)
	decided := map[string]any{"decided_by": "user:1"}
	for state, unresolved := range map[string]bool{
		post.CallSending: false, post.CallAccepted: false, post.CallFailed: false, post.CallReconciledOK: false,
		post.CallAmbiguous: true, post.CallReconciledAbsent: true, post.CallManual: true,
	} {
		c := n.sent(n.Account, key("same"), state, nil)
		want := 0
		if unresolved {
			want = 1
		}
		count := func(target uuid.UUID, segment int, revision int64) int {
			got, err := n.Publishing.Ledger.CountUnresolvedSends(t.Context(), target, segment, revision)
			n.Must(err)
			return got
		}
		if got := count(c.TargetID, 0, 1); got != want {
			t.Errorf("%s: got %d unresolved sends, want %d", state, got, want)
		}
		if got := count(c.TargetID, 1, 1) + count(c.TargetID, 0, 2) + count(storetest.NewID(), 0, 1); got != 0 {
			t.Errorf("%s: got %d unresolved sends of another segment, revision or target, want 0", state, got)
		}
		at, found, err := n.Publishing.Ledger.UnresolvedSince(t.Context(), c.TargetID, 0, uuid.Nil)
		n.Must(err)
		if found != unresolved || found && !at.Equal(c.SentAt) {
			t.Errorf("%s: got unresolved since %v, %v, want %v", state, at, found, unresolved)
		}
		if !unresolved {
			continue
		}
		decision := n.sent(n.Account, key("same"), state, decided)
		if got := count(decision.TargetID, 0, 1); got != 0 {
			t.Errorf("%s, decided: got %d unresolved sends, want 0", state, got)
		}
		if _, found, err := n.Publishing.Ledger.UnresolvedSince(t.Context(), decision.TargetID, 0, uuid.Nil); found || err != nil {
			t.Errorf("%s, decided: got unresolved, %v, want none", state, err)
		}
	}
}

// A refused send may be a duplicate of the first one that is unresolved, whatever its
// revision.
func TestUnresolvedSince_IsTheFirstOtherSend(t *testing.T) {
	n := open(t)
	p := n.Create()
	at := time.Now().UTC().Truncate(time.Microsecond)
	var calls []post.Call
	for i, row := range []struct {
		segment  int
		revision int64
		state    string
		sent     time.Time
	}{
		{0, 1, post.CallFailed, at.Add(-9 * time.Minute)},
		{0, 2, post.CallReconciledAbsent, at.Add(-5 * time.Minute)},
		{0, 1, post.CallAmbiguous, at.Add(-7 * time.Minute)},
		{1, 1, post.CallAmbiguous, at.Add(-8 * time.Minute)},
	} {
		c := storetest.Call(p, 0, i+1)
		n.Exec(
			`insert into operations (id, target_id, segment, revision, epoch, fence, idempotency_key, fingerprint, state, sent_at)
			values ($1, $2, $3, $4, $5, 1, $6, $7, $8, $9)`, c.OperationID, c.TargetID, row.segment, row.revision,
			c.Epoch, c.IdempotencyKey, c.Fingerprint, row.state, row.sent)
		calls = append(calls, c)
	}
	for name, row := range map[string]struct {
		segment int
		except  uuid.UUID
		want    time.Time
	}{
		"All":             {0, uuid.Nil, at.Add(-7 * time.Minute)},
		"ExceptTheFirst":  {0, calls[2].OperationID, at.Add(-5 * time.Minute)},
		"ExceptTheSecond": {0, calls[1].OperationID, at.Add(-7 * time.Minute)},
		"OtherSegment":    {1, uuid.Nil, at.Add(-8 * time.Minute)},
	} {
		got, found, err := n.Publishing.Ledger.UnresolvedSince(t.Context(), calls[0].TargetID, row.segment, row.except)
		n.Must(err)
		if !found || !got.Equal(row.want) {
			t.Errorf("%s: got %s, %v, want %s", name, got, found, row.want)
		}
	}
	if got, found, err := n.Publishing.Ledger.UnresolvedSince(t.Context(), calls[0].TargetID, 1, calls[3].OperationID); found ||
		err != nil {
		t.Errorf("without another send: got %s, %v, %v, want none", got, found, err)
	}
	if got, found, err := n.Publishing.Ledger.UnresolvedSince(t.Context(), storetest.NewID(), 0, uuid.Nil); found || err != nil {
		t.Errorf("another target: got %s, %v, %v, want none", got, found, err)
	}
}
