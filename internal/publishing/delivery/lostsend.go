package delivery

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// clockSkew is allowed between our clock and a network's.
const clockSkew = 2 * time.Minute

// knownFor is how long before a lost call a post of ours may have been made that
// could still be taken for it: on a network whose clock is ahead, older posts
// seem to be new ones.
const knownFor = 24 * time.Hour

// codeAbsent marks a call that provably published nothing.
const codeAbsent = "absent"

// codeNotShown marks a call that the network would know by its key, should it
// have made a post that is not shown yet.
const codeNotShown = "not_shown"

// maxUnclearSends is how many sends of a segment may end unclear before a person
// decides.
const maxUnclearSends = 2

// reconcile looks for a post whose answer was lost. Found, it is done; absent,
// it is sent once more; unclear, it waits for a person.
func (p *Publisher) reconcile(ctx context.Context, j *job, call post.Call, cause *network.Error) (TargetResult, error) {
	// Whoever holds the claim by now knows more of this call.
	if ok, err := p.Store.RenewClaim(context.WithoutCancel(ctx), j.target.ID, call.Fence, p.Timing.orDefaults().Lease); err != nil || !ok {
		return TargetResult{Stale: err == nil}, err
	}
	evidence := map[string]any{"cause": cause.Message, "code": cause.Code}
	if err := p.Store.SetCallState(context.WithoutCancel(ctx), call.OperationID, post.CallAmbiguous, evidence); err != nil {
		return TargetResult{}, err
	}
	if err := p.note(ctx, j, post.EventAmbiguous, map[string]any{"message": cause.Message, "code": cause.Code, "sent": call.SentAt}); err != nil {
		return TargetResult{}, err
	}
	finding, err := p.look(ctx, j, call, cause)
	if err != nil {
		return TargetResult{}, err
	}
	if finding.Found {
		if err := p.note(ctx, j, post.EventReconciled, map[string]any{"found": true, "evidence": finding.Evidence, "url": finding.Receipt.URL}); err != nil {
			return TargetResult{}, err
		}
		result, err := p.posted(ctx, j, call, finding.Receipt, post.CallReconciledOK, map[string]any{"evidence": finding.Evidence})
		if err == nil && result.Status.Open() {
			return TargetResult{}, waitFor("The thread goes on.", 0)
		}
		return result, err
	}
	unclear, err := p.Store.CountUnresolvedSends(ctx, j.target.ID, call.Segment, call.Revision)
	if err != nil {
		return TargetResult{}, err
	}
	if !finding.keyed && (!finding.Conclusive || unclear >= maxUnclearSends) {
		return p.uncertain(ctx, j, call, cause)
	}
	if err := p.note(ctx, j, post.EventReconciled, map[string]any{"found": false, "evidence": finding.Evidence}); err != nil {
		return TargetResult{}, err
	}
	again := &network.Error{Class: network.Transient, Code: codeAbsent, Message: "The network does not have the post, so it is sent once more."}
	if finding.keyed {
		again.Code, again.Message = codeNotShown, "The network does not show the post; sent again with the same key, it is published once."
	}
	result, err := p.retry(ctx, j, call, again)
	var pause *RetryError
	if errors.As(err, &pause) && pause.Kind == RetryFailed {
		// It has been waited for long enough, and what was found is fresh.
		return result, &onward{0, err}
	}
	return result, err
}

// duplicate follows a refusal because the network has the post already. Where an
// earlier send of it is unclear, that one made it.
func (p *Publisher) duplicate(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	if call.OperationID == uuid.Nil || call.Epoch == 1 {
		return p.failed(ctx, j, call, e)
	}
	since, unclear, err := p.Store.UnresolvedSince(ctx, j.target.ID, call.Segment, call.OperationID)
	if err != nil {
		return TargetResult{}, err
	}
	if !unclear {
		return p.failed(ctx, j, call, e)
	}
	call.SentAt = since
	if e.Existing == nil {
		return p.reconcile(ctx, j, call, e)
	}
	known, err := p.Store.ClaimedRemoteIDs(ctx, j.target.AccountID, since.Add(-knownFor))
	if err != nil {
		return TargetResult{}, err
	}
	// A post that another operation made, or that is older than our first send, is
	// not ours.
	if at := e.Existing.CreatedAt; known[e.Existing.RemoteID] || !at.IsZero() && at.Before(since.Add(-clockSkew)) {
		return p.failed(ctx, j, call, e)
	}
	evidence := "The network refused to publish it again and named the first one."
	if err := p.note(ctx, j, post.EventReconciled, map[string]any{"found": true, "evidence": evidence, "url": e.Existing.URL}); err != nil {
		return TargetResult{}, err
	}
	result, err := p.posted(ctx, j, call, *e.Existing, post.CallReconciledOK, map[string]any{"evidence": evidence, "request_id": e.RequestID})
	if err == nil && result.Status.Open() {
		return TargetResult{}, waitFor("The thread goes on.", 0)
	}
	return result, err
}

// uncertain leaves it to a person to say whether the call made a post.
func (p *Publisher) uncertain(ctx context.Context, j *job, call post.Call, cause *network.Error) (TargetResult, error) {
	o := outcome(j, call, cause)
	o.Status, o.Operation, o.Event, o.Tries = post.TargetUncertain, post.CallManual, post.EventUncertain, 1
	return p.finish(ctx, j, o)
}

// look asks the network until the post is found or the last look is over. A
// network that does not answer is asked for longer: what it does not say is no
// reason to bother a person yet.
func (p *Publisher) look(ctx context.Context, j *job, call post.Call, cause *network.Error) (looked, error) {
	ctx, release := p.hold(ctx, j, call)
	defer release()
	t := p.Timing.orDefaults()
	until := p.keyGoodUntil(ctx, j, call)
	hasKeys := !until.IsZero()
	// A network that still knew the key would have named the post before it
	// looked at the uploads.
	if cause.Code == network.CodeMediaExpired {
		until = time.Time{}
	}
	for n := 0; ; n++ {
		now := p.clock().Now()
		at := now.Add(t.Looks[min(n, len(t.Looks)-1)])
		if settled := call.SentAt.Add(t.Settled); n > 0 && at.Before(until) && settled.Before(at) {
			at = later(now, settled)
		}
		if err := p.sleepUntil(ctx, at); err != nil {
			return looked{}, err
		}
		finding, err := p.lookOnce(ctx, j, call, hasKeys)
		if err != nil {
			return looked{}, err
		}
		now = p.clock().Now()
		if finding.keyed = now.Before(until) && !now.Before(call.SentAt.Add(t.Settled)); finding.keyed {
			return finding, nil
		}
		last := n+1 >= len(t.Looks) && (finding.settled || now.Sub(call.SentAt) > t.Unanswered)
		if finding.Found || last {
			return finding, nil
		}
	}
}

// keyMargin is how long before its end a network's memory of keys is not relied
// on any more: the send takes its time, too.
const keyMargin = 10 * time.Minute

// keyGoodUntil is how long the network knows a call by its key: sending the same
// again before then publishes nothing twice. Zero when it has no keys.
func (p *Publisher) keyGoodUntil(ctx context.Context, j *job, call post.Call) time.Time {
	limits, err := j.adapter.Limits(ctx, j.account)
	reply := call.Segment > 0 || j.post.ThreadParentID != nil
	if err != nil || limits.IdempotencyWindow == 0 || reply && limits.IdempotentPostsOnly {
		return time.Time{}
	}
	return call.SentAt.Add(time.Duration(limits.IdempotencyWindow)*time.Second - keyMargin)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// looked is the result of one look.
type looked struct {
	network.Finding
	settled bool // false: the network could not be asked, or another call may still explain what it lists
	keyed   bool // the network would know the same call by its key
}

// lookOnce searches the account's listing once. Other calls of ours on the same
// account may be unresolved, too. What is known of them is read before and after
// the listing: when it differs, a post may have changed hands meanwhile, and
// nothing is concluded. Where the network has keys, posts that look alike are
// told apart by sending again, and never assigned by time: a network that names
// the post of a key must not find it assigned to another call.
func (p *Publisher) lookOnce(ctx context.Context, j *job, call post.Call, hasKeys bool) (looked, error) {
	submission := j.restored(call)
	call.ContentKey = matching.Key(submission)
	since := call.SentAt.Add(-clockSkew - knownFor)
	before, err := p.Store.SimilarCalls(ctx, j.target.AccountID, call, since)
	if err != nil {
		return looked{}, err
	}
	window := windowOf(call, before)
	window.Unassignable = window.Unassignable || hasKeys && window.Pending > 1
	found, err := j.adapter.Reconcile(ctx, j.account, submission, window)
	if err != nil {
		p.Log.WarnContext(ctx, "looking for a lost post failed", "post_id", j.post.ID, "target_id", j.target.ID, "error", err)
		e := network.AsError(err)
		again := e.Class == network.NotSent || e.Class == network.Transient || e.Class == network.Throttled
		return looked{Finding: network.Finding{Evidence: e.Message}, settled: !again}, nil
	}
	after, err := p.Store.SimilarCalls(ctx, j.target.AccountID, call, since)
	if err != nil {
		return looked{}, err
	}
	unsettled := sending(before, call) || !slices.EqualFunc(before.Calls, after.Calls, post.SimilarCall.Unchanged) ||
		// What looks like this post may belong to a call that has no answer yet.
		found.Similar > 0 && (before.InFlight > 0 || !maps.Equal(before.Known, after.Known))
	if unsettled {
		found.Found, found.Conclusive = false, false
	}
	return looked{Finding: found, settled: !unsettled}, nil
}

// windowOf bounds the search for a call by what else is unresolved on its account.
func windowOf(call post.Call, similar post.SimilarCalls) network.Window {
	from, fingerprint := call.SentAt, hex.EncodeToString(call.Fingerprint)
	w := network.Window{Known: similar.Known, Pending: 1}
	for _, other := range similar.Calls {
		if other.OperationID == call.OperationID {
			continue
		}
		w.Pending++
		if other.SentAt.Before(from) {
			from = other.SentAt
		}
		if other.SentAt.Before(call.SentAt) || other.SentAt.Equal(call.SentAt) && bytes.Compare(other.OperationID[:], call.OperationID[:]) < 0 {
			w.Position++
		}
		// Two posts with the same text and different pictures look alike, and a
		// person may yet decide on an earlier call.
		w.Unassignable = w.Unassignable || other.Fingerprint != fingerprint || other.State == post.CallManual
	}
	w.From = from.Add(-clockSkew)
	return w
}

// sending says whether another call with the same content has no answer yet.
func sending(similar post.SimilarCalls, call post.Call) bool {
	return slices.ContainsFunc(similar.Calls, func(other post.SimilarCall) bool {
		return other.State == post.CallSending && other.OperationID != call.OperationID
	})
}

func (p *Publisher) note(ctx context.Context, j *job, event string, data map[string]any) error {
	if err := p.Store.AddEvent(context.WithoutCancel(ctx), j.post.ID, &j.target.ID, event, post.ActorDateline, data); err != nil {
		return err
	}
	p.Live.Changed(ctx, j.post.ID)
	return nil
}
