package delivery

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// sender claims a target and makes the calls that cannot be undone.
type sender struct {
	claims     ClaimStore
	ledger     LedgerStore
	holder     *claimHolder
	admission  *admission
	stager     *stager
	tokens     *tokens
	reconciler *reconciler
	outcomes   *outcomes
	recorder   *recorder
	inFlight   *InFlight
	clock      Clock
	timing     Timing
	log        *slog.Logger
}

// prefetchedEpoch is the last epoch of a segment, read before its time.
type prefetchedEpoch struct{ segment, epoch int }

// prefetchEpoch reads the data for the next claim, so that a burst reads nothing when
// it is due. If another attempt sends meanwhile, the claim fails or its fencing number
// shows it.
func (s *sender) prefetchEpoch(ctx context.Context, j *job) error {
	if !j.isClaimedBefore() {
		j.epoch = &prefetchedEpoch{segment: j.next()}
		return nil
	}
	epoch, err := s.claims.LastEpoch(ctx, j.target.ID, j.next(), j.post.Revision)
	j.epoch = &prefetchedEpoch{j.next(), epoch}
	return err
}

func (s *sender) lastEpoch(ctx context.Context, j *job, segment int) (int, error) {
	if ahead := j.epoch; ahead != nil && ahead.segment == segment {
		j.epoch = nil
		return ahead.epoch, nil
	}
	return s.claims.LastEpoch(ctx, j.target.ID, segment, j.post.Revision)
}

// sendAll publishes the remaining segments, one after the other.
func (s *sender) sendAll(ctx context.Context, j *job) (TargetResult, error) {
	if j.next() >= len(j.segments) {
		return s.outcomes.nothingLeft(ctx, j)
	}
	for {
		if err := s.untilDelayed(j); err != nil {
			return TargetResult{}, err
		}
		if problem := s.stager.prepareSegment(ctx, j); problem != nil {
			return s.settle(ctx, j, post.Call{Segment: j.next(), Fence: j.target.Fence}, problem)
		}
		if err := s.admission.acquire(ctx, j, j.post.ScheduledTime); err != nil {
			return TargetResult{}, err
		}
		result, err := s.send(ctx, j)
		if err != nil || result.Stale || !result.Status.IsOpen() {
			return result, err
		}
	}
}

// untilDelayed requests a later attempt if the next segment follows some time after the
// previous one. Temporal waits: no worker is busy meanwhile.
func (s *sender) untilDelayed(j *job) error {
	i := j.next()
	if i == 0 || i >= len(j.segments) || j.segments[i].AfterMinutes == 0 {
		return nil
	}
	before := j.published[i-1]
	at := before.PostedAt
	if before.SentAt != nil {
		at = *before.SentAt
	}
	if at = at.Add(time.Duration(j.segments[i].AfterMinutes) * time.Minute); !at.After(s.clock.Now()) {
		return nil
	}
	return retryAt(RetryWaiting, "The next part of the thread follows later.", onHost(s.clock, at))
}

// send claims the target and makes the one call that cannot be undone.
func (s *sender) send(ctx context.Context, j *job) (TargetResult, error) {
	i := j.next()
	epoch, err := s.lastEpoch(ctx, j, i)
	if err != nil {
		return TargetResult{}, err
	}
	submission := j.submission(i)
	lease, before := s.timing.Lease, time.Now()
	call, ok, err := s.claims.Claim(ctx, post.Call{
		OperationID: uuid.Must(uuid.NewV7()), PostID: j.post.ID,
		TargetID: j.target.ID, Segment: i,
		Revision: j.post.Revision, Epoch: epoch + 1, IdempotencyKey: submission.Key,
		Fingerprint: j.fingerprint(i, submission), ContentKey: matching.Key(submission),
		Prepared: preparedOf(submission), Due: before.Add(j.post.ScheduledTime.Sub(s.clock.Now())),
	}, lease)
	if err != nil {
		return TargetResult{}, err
	}
	if !ok {
		// Edited, canceled or claimed by another attempt: reading it again shows which.
		return TargetResult{Stale: true}, nil
	}
	s.inFlight.setClaimed(j.run)
	s.recorder.notifyClaimed(ctx, j)
	if call.Fence != j.target.Fence+1 {
		return s.overtaken(ctx, j, call)
	}
	// Once claimed it is sent, also from a worker that is stopping: a claim without
	// a call would have to be reconciled with the network.
	if err := sleepUntil(context.WithoutCancel(ctx), s.clock, j.post.ScheduledTime); err != nil {
		return TargetResult{}, err
	}
	// A worker that was frozen may have lost the claim that it just got; the new holder
	// searches for a post that must not appear afterwards.
	if time.Since(before) > lease/2 {
		if ok, err := s.claims.RenewClaim(ctx, j.target.ID, call.Fence, lease); err != nil || !ok {
			return TargetResult{Stale: true}, err
		}
	}
	receipt, err := s.callUnderClaim(ctx, j, call, submission)
	if err != nil {
		return s.settle(ctx, j, call, network.AsError(err))
	}
	result, err := s.outcomes.posted(ctx, j, call, receipt, post.CallAccepted,
		map[string]any{"request_id": receipt.RequestID})
	j.observed.Wait()
	return result, err
}

// overtaken releases a claim without using it: since the target was read, another
// attempt has claimed it too. What that one sent is resolved first.
func (s *sender) overtaken(ctx context.Context, j *job, call post.Call) (TargetResult, error) {
	o := outcomeOf(j, call, &network.Error{
		Class: network.NotSent, Code: "overtaken", Message: "Another attempt at this post was faster.",
	})
	o.Status, o.Operation, o.Event = post.TargetPublishing, post.CallFailed, post.EventRetrying
	if result, err := s.recorder.record(ctx, j, o); err != nil || result.Stale {
		return result, err
	}
	return TargetResult{}, waitFor("Another attempt at this target was faster.", s.timing.Backoff)
}

// callUnderClaim publishes while holding the claim. Only the loss of the claim
// ends the call: a call that is cut off has to be reconciled, and Temporal may
// only have lost contact with this worker.
func (s *sender) callUnderClaim(
	ctx context.Context, j *job, call post.Call, submission network.Submission,
) (network.Receipt, error) {
	ctx, release := s.holder.renewUntilReleased(context.WithoutCancel(ctx), j, call)
	defer release()
	reads := &readMonitor{}
	for i := range submission.Media {
		submission.Media[i] = reads.watch(submission.Media[i])
	}
	receipt, err := s.admission.publish(ctx, j, submission)
	if e := network.AsError(err); e != nil && e.Class == network.NotSent && reads.hasFailed() {
		return receipt, reads.problem()
	}
	return receipt, err
}

// claimHolder renews claims.
type claimHolder struct {
	store ClaimStore
	lease time.Duration
}

// renewUntilReleased renews a claim until release is called. Losing it ends the
// context: the new holder searches for the post before sending again.
func (h *claimHolder) renewUntilReleased(
	ctx context.Context, j *job, call post.Call,
) (held context.Context, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(h.lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if ok, err := h.store.RenewClaim(ctx, j.target.ID, call.Fence, h.lease); err == nil && !ok {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}

// settle records an error and decides what follows. call has no operation if nothing
// was sent.
func (s *sender) settle(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	s.log.WarnContext(ctx, "publishing failed", "post_id", j.post.ID, "target_id", j.target.ID, "network",
		j.target.Network,
		"class", e.Class, "code", e.Code, "status", e.Status, "request_id", e.RequestID, "error", e)
	sent := call.OperationID != uuid.Nil
	switch e.Class {
	case network.Ambiguous:
		if sent {
			return s.reconciler.reconcile(ctx, j, call, e)
		}
		return s.outcomes.retry(ctx, j, call, notPublished(e))
	case network.Duplicate:
		return s.reconciler.duplicate(ctx, j, call, e)
	case network.NotSent, network.Transient, network.Throttled:
		if e.Code == network.CodeMediaExpired && sent {
			return s.mediaExpired(ctx, j, call, e)
		}
		return s.outcomes.retry(ctx, j, call, e)
	case network.Auth:
		return s.tokens.rejected(ctx, j, call, e)
	default:
		return s.outcomes.failed(ctx, j, call, e)
	}
}

// mediaExpired handles a send that was rejected because the network has dropped the
// uploads. If it is not certain that all earlier sends failed, one of them may have
// published a post with them: it is reconciled.
func (s *sender) mediaExpired(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	since, unresolved, err := s.ledger.UnresolvedSince(ctx, j.target.ID, call.Segment, call.OperationID)
	if err != nil {
		return TargetResult{}, err
	}
	if unresolved {
		call.SentAt = since
		return s.reconciler.reconcile(ctx, j, call, e)
	}
	s.stager.dropHandles(ctx, j, call.Segment)
	return s.outcomes.retry(ctx, j, call, e)
}
