package delivery

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
	"dateline/internal/publishing/post"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

const (
	// clockSkew is allowed between our clock and a network's.
	clockSkew = 2 * time.Minute

	// similarPostAge is how long before a lost call a post of ours may have been
	// published that could be mistaken for it: on a network whose clock is ahead, older
	// posts look newer.
	similarPostAge = 24 * time.Hour

	// maxUnresolvedSends is how many sends of a segment may end unresolved before a
	// person decides, unless another one is harmless (network.Limits.RepeatsHarmlessly).
	maxUnresolvedSends = 2

	// unknownFinish is network.Limits.FinishesWithin of a network whose limits cannot be
	// read.
	unknownFinish = 5 * time.Minute

	// keyMargin is the time before a key's expiry at the network in which it is no
	// longer relied on: the send takes time, too.
	keyMargin = 10 * time.Minute
)

// reconciler resolves lost sends: calls whose response was lost.
type reconciler struct {
	claims   ClaimStore
	ledger   LedgerStore
	holder   *claimHolder
	outcomes *outcomes
	recorder *recorder
	clock    Clock
	timing   Timing
	log      *slog.Logger
}

// reconcile searches for a post whose response was lost. Found, it is posted;
// absent, it is sent once more; unclear, a person decides.
func (r *reconciler) reconcile(
	ctx context.Context, j *job, call post.Call, cause *network.Error,
) (TargetResult, error) {
	// The holder of the claim knows more about this call.
	if ok, err := r.claims.RenewClaim(context.WithoutCancel(ctx), j.target.ID, call.Fence,
		r.timing.Lease); err != nil || !ok {
		return TargetResult{Stale: err == nil}, err
	}
	evidence := map[string]any{"cause": cause.Message, "code": cause.Code}
	if err := r.ledger.SetCallState(context.WithoutCancel(ctx), call.OperationID, post.CallAmbiguous,
		evidence); err != nil {
		return TargetResult{}, err
	}
	if err := r.recorder.addEvent(ctx, j, post.EventAmbiguous,
		map[string]any{"message": cause.Message, "code": cause.Code, "sent": call.SentAt}); err != nil {
		return TargetResult{}, err
	}
	finding, err := r.search(ctx, j, call, cause)
	if err != nil {
		return TargetResult{}, err
	}
	if finding.Found {
		if err := r.recorder.addEvent(ctx, j, post.EventReconciled,
			withEvidence(map[string]any{"found": true, "url": finding.Receipt.URL}, finding.Evidence)); err != nil {
			return TargetResult{}, err
		}
		return r.found(ctx, j, call, finding.Receipt, withEvidence(map[string]any{}, finding.Evidence))
	}
	unresolved, err := r.ledger.CountUnresolvedSends(ctx, j.target.ID, call.Segment, call.Revision)
	if err != nil {
		return TargetResult{}, err
	}
	if !finding.isKeyed && (!finding.Conclusive || unresolved >= maxUnresolvedSends && !finding.isHarmless) {
		return r.outcomes.uncertain(ctx, j, call, cause, finding.Evidence)
	}
	if err := r.recorder.addEvent(ctx, j, post.EventReconciled,
		withEvidence(map[string]any{"found": false}, finding.Evidence)); err != nil {
		return TargetResult{}, err
	}
	again := &network.Error{
		Class: network.Transient, Code: codeAbsent,
		Message: "The network does not have the post, so it is sent once more.",
	}
	if finding.isKeyed || unresolved >= maxUnresolvedSends {
		again.Code, again.Message = codeNotShown, "The network does not show the post; sent again with the same key, "+
			"it is published once."
	}
	result, err := r.outcomes.retry(ctx, j, call, again)
	var pause *RetryError
	if errors.As(err, &pause) {
		// The searches have waited long enough, and their finding is fresh.
		return result, &inProcessRetry{0, err}
	}
	return result, err
}

// withEvidence adds what was searched for and found to the data of an event: the
// sentences, and their codes and values.
func withEvidence(data map[string]any, evidence message.Messages) map[string]any {
	if len(evidence) > 0 {
		data[post.Evidence], data[post.EvidenceParts] = evidence.Text(), evidence
	}
	return data
}

// found records a post that a lost call published.
func (r *reconciler) found(
	ctx context.Context, j *job, call post.Call, receipt network.Receipt, evidence map[string]any,
) (TargetResult, error) {
	result, err := r.outcomes.posted(ctx, j, call, receipt, post.CallReconciledOK, evidence)
	if err == nil && result.Status.IsOpen() {
		return TargetResult{}, waitFor("The thread continues.", 0)
	}
	return result, err
}

// duplicate handles a refusal because the network already has the post. If an earlier
// send of it is unresolved, that one published it.
func (r *reconciler) duplicate(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	if call.OperationID == uuid.Nil {
		return r.outcomes.failed(ctx, j, call, e)
	}
	since, unresolved, err := r.ledger.UnresolvedSince(ctx, j.target.ID, call.Segment, call.OperationID)
	if err != nil {
		return TargetResult{}, err
	}
	if !unresolved {
		return r.outcomes.failed(ctx, j, call, e)
	}
	call.SentAt = since
	if e.Existing == nil {
		return r.reconcile(ctx, j, call, e)
	}
	known, err := r.ledger.ClaimedRemoteIDs(ctx, j.target.AccountID, since.Add(-similarPostAge))
	if err != nil {
		return TargetResult{}, err
	}
	// A post that another operation published, or that is older than our first send, is
	// not this one.
	if at := e.Existing.CreatedAt; known[e.Existing.RemoteID] || !at.IsZero() && at.Before(since.Add(-clockSkew)) {
		return r.outcomes.failed(ctx, j, call, e)
	}
	evidence := message.One("first_one_named", "The network refused to publish it again and named the first one.")
	if err := r.recorder.addEvent(ctx, j, post.EventReconciled,
		withEvidence(map[string]any{"found": true, "url": e.Existing.URL}, evidence)); err != nil {
		return TargetResult{}, err
	}
	return r.found(ctx, j, call, *e.Existing, withEvidence(map[string]any{"request_id": e.RequestID}, evidence))
}

// search queries the network until the post is found or the last search is over. A
// network that does not respond is queried for longer before a person has to decide.
func (r *reconciler) search(ctx context.Context, j *job, call post.Call, cause *network.Error) (searchResult, error) {
	ctx, release := r.holder.renewUntilReleased(ctx, j, call)
	defer release()
	t := r.timing
	limits, err := j.adapter.Limits(ctx, j.account)
	if err != nil {
		limits = network.Limits{FinishesWithin: unknownFinish}
	}
	// The connection may have lasted until now: the network's time begins here.
	finished := r.clock.Now().Add(t.finish(limits))
	settled := call.SentAt.Add(t.Settled)
	until := keyValidUntil(j, call, limits)
	hasKeys := !until.IsZero()
	// A network that still remembered the key would have returned the post before it
	// checked the uploads.
	if cause.Code == network.CodeMediaExpired {
		until = time.Time{}
	}
	for n, disturbed := 0, 0; ; n++ {
		now := r.clock.Now()
		at := now.Add(t.look(n, disturbed))
		if n > 0 && at.Before(until) && settled.Before(at) {
			at = settled
		}
		if n+1 >= len(t.Looks) && at.Before(finished) {
			at = finished
		}
		if err := sleepUntil(ctx, r.clock, at); err != nil {
			return searchResult{}, err
		}
		finding, err := r.searchOnce(ctx, j, call, hasKeys)
		if err != nil {
			return searchResult{}, err
		}
		finding.isHarmless = limits.RepeatsHarmlessly
		now = r.clock.Now()
		if finding.isKeyed = now.Before(until) && !now.Before(settled); finding.isKeyed {
			return finding, nil
		}
		disturbed++
		if !finding.isDisturbed || n+1 < len(t.Looks) {
			disturbed = 0
		}
		last := n+1 >= len(t.Looks) && (finding.isSettled || now.Sub(call.SentAt) > t.Unanswered)
		if finding.Found || last {
			return finding, nil
		}
	}
}

// keyValidUntil is the time until which the network identifies a call by its key:
// sending the same again before then publishes nothing twice. Zero if it has no keys.
func keyValidUntil(j *job, call post.Call, limits network.Limits) time.Time {
	reply := call.Segment > 0 || j.post.ThreadParentID != nil
	if limits.IdempotencyWindow == 0 || reply && limits.IdempotentPostsOnly {
		return time.Time{}
	}
	return call.SentAt.Add(time.Duration(limits.IdempotencyWindow)*time.Second - keyMargin)
}

// searchResult is the result of one search.
type searchResult struct {
	network.Finding
	isSettled   bool // false: the network could not be queried, or isDisturbed
	isDisturbed bool // another call on the account may explain the listed posts
	isKeyed     bool // the network would know the same call by its key
	isHarmless  bool // the same call again makes no second post
}

// searchOnce searches the account's listing once. Other calls on the same account may
// be unresolved, too. They are read before and after the listing: if they differ, a
// post may have been assigned to another call meanwhile, and the search is
// inconclusive. If the network has keys, similar posts are distinguished by sending
// again, and never assigned by time: a post that the network returns for a key must not
// be assigned to another call.
func (r *reconciler) searchOnce(ctx context.Context, j *job, call post.Call, hasKeys bool) (searchResult, error) {
	submission := j.restored(call)
	call.ContentKey = matching.Key(submission)
	since := call.SentAt.Add(-clockSkew - similarPostAge)
	before, err := r.ledger.SimilarCalls(ctx, j.target.AccountID, call, since)
	if err != nil {
		return searchResult{}, err
	}
	window := windowOf(call, before)
	window.Unassignable = window.Unassignable || hasKeys && window.Pending > 1
	found, err := j.adapter.Reconcile(ctx, j.account, submission, window)
	if err != nil {
		r.log.WarnContext(ctx, "searching for a lost post failed", "post_id", j.post.ID, "target_id", j.target.ID,
			"error", err)
		e := network.AsError(err)
		again := e.Class == network.NotSent || e.Class == network.Transient || e.Class == network.Throttled
		return searchResult{Finding: network.Finding{Evidence: message.Messages{{
			Code: e.Code, Text: e.Message,
			Params: e.Params,
		}}}, isSettled: !again}, nil
	}
	after, err := r.ledger.SimilarCalls(ctx, j.target.AccountID, call, since)
	if err != nil {
		return searchResult{}, err
	}
	disturbed := hasSending(before) || !slices.EqualFunc(before.Calls, after.Calls, post.SimilarCall.IsUnchanged) ||
		// A matching post may belong to a call that has no response yet.
		found.Similar > 0 && (before.InFlight > 0 || !maps.Equal(before.KnownRemoteIDs, after.KnownRemoteIDs))
	if disturbed {
		found.Found, found.Conclusive = false, false
	}
	return searchResult{Finding: found, isSettled: !disturbed, isDisturbed: disturbed}, nil
}

// windowOf limits the search for a call by the other unresolved calls on its account.
func windowOf(call post.Call, similar post.SimilarCalls) network.Window {
	from, fingerprint := call.SentAt, hex.EncodeToString(call.Fingerprint)
	w := network.Window{Known: similar.KnownRemoteIDs, Pending: 1}
	for _, other := range similar.Calls {
		if other.OperationID == call.OperationID {
			continue
		}
		w.Pending++
		if other.SentAt.Before(from) {
			from = other.SentAt
		}
		if other.SentAt.Before(call.SentAt) || other.SentAt.Equal(call.SentAt) &&
			bytes.Compare(other.OperationID[:], call.OperationID[:]) < 0 {
			w.Position++
		}
		// Two posts with the same text and different pictures look alike, and a person
		// may still decide on an earlier call.
		w.Unassignable = w.Unassignable || other.Fingerprint != fingerprint || other.State == post.CallManual
	}
	w.From = from.Add(-clockSkew)
	return w
}

// hasSending reports whether another call with the same content has no response
// yet. The call that is searched for is ambiguous by now.
func hasSending(similar post.SimilarCalls) bool {
	return slices.ContainsFunc(similar.Calls, func(other post.SimilarCall) bool {
		return other.State == post.CallSending
	})
}
