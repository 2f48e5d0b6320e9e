package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/retry"
	"dateline/internal/publishing/hostguard"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

// RateLimits issues tokens for calls, and learns from their responses.
type RateLimits interface {
	Acquire(ctx context.Context, c ratelimit.Caller, kind network.CallKind) ratelimit.Grant
	Release(ctx context.Context, t ratelimit.Token)
	Observe(ctx context.Context, c ratelimit.Caller, kind network.CallKind, rates []network.RateStatus,
		failure *network.Error) (wake []uuid.UUID)
	AddWaiter(ctx context.Context, c ratelimit.Caller, kind network.CallKind, w ratelimit.Wait, post uuid.UUID)
}

// Waker wakes a post that waits at Temporal for a rate limit.
type Waker interface {
	Wake(ctx context.Context, post uuid.UUID) error
}

// Hosts issues slots for calls to a network's host.
type Hosts interface {
	Acquire(host string, planned time.Time, probe bool) (slot *hostguard.Slot, retry time.Time, reason hostguard.Reason)
}

// admission acquires and releases the rate-limit token and the host slot of a call.
// They are acquired before the claim: a waiting post has no claim.
type admission struct {
	limits   RateLimits // nil: no limits
	waker    Waker      // nil: no post is woken
	hosts    Hosts      // nil: every host may be called
	ledger   LedgerStore
	recorder *recorder
	clock    Clock
	maxWait  time.Duration // in memory, past the post's time
	log      *slog.Logger
}

// admitted is what a call has acquired.
type admitted struct {
	slot     *hostguard.Slot
	hasSlot  bool // also without hosts, where slot is nil
	token    ratelimit.Token
	hasToken bool
}

func (j *job) host() string { return j.target.Network + " " + j.account.BaseURL }

func (j *job) caller() ratelimit.Caller {
	return ratelimit.Caller{
		Network: j.target.Network, BaseURL: j.account.BaseURL, RemoteID: j.account.RemoteID,
		Quotas: j.limits.Quotas,
	}
}

func (j *job) callKind() network.CallKind {
	if j.parent != "" || j.next() > 0 {
		return network.CallReply
	}
	return network.CallPublish
}

// acquire acquires a host slot and a rate-limit token for one call. release returns
// unused ones. Each segment of a thread acquires its own.
func (a *admission) acquire(ctx context.Context, j *job, at time.Time) error {
	if j.admitted != nil && j.admitted.hasSlot || j.next() >= len(j.segments) {
		return nil
	}
	slot, held := a.acquireSlot(ctx, j, onHost(a.clock, at), true)
	if held != nil {
		return held
	}
	if j.admitted == nil {
		j.admitted = &admitted{}
	}
	j.admitted.slot, j.admitted.hasSlot = slot, true
	return a.acquireToken(ctx, j, at)
}

// acquireToken acquires the rate-limit token only. A post may have it long before its
// call; a host slot would be missing to other posts meanwhile.
func (a *admission) acquireToken(ctx context.Context, j *job, at time.Time) error {
	if j.admitted != nil && j.admitted.hasToken || j.next() >= len(j.segments) {
		return nil
	}
	token, refused, err := a.token(ctx, j, j.callKind(), onHost(a.clock, at))
	if err != nil {
		return err
	}
	if refused != nil {
		unresolved, err := a.hasUnresolvedSend(ctx, j)
		if err != nil {
			return err
		}
		if !unresolved {
			return a.throttled(ctx, j, refused)
		}
	}
	if j.admitted == nil {
		j.admitted = &admitted{}
	}
	j.admitted.token, j.admitted.hasToken = token, true
	return nil
}

// hasUnresolvedSend reports whether an earlier call for the next segment may have
// published it. It is sent again while the network remembers its key, which is shorter
// than limits and failures last: nothing may delay it.
func (a *admission) hasUnresolvedSend(ctx context.Context, j *job) (bool, error) {
	if j.target.Attempts == 0 {
		return false, nil // an unresolved send has used up an attempt
	}
	n, err := a.ledger.CountUnresolvedSends(ctx, j.target.ID, j.next(), j.post.Revision)
	return n > 0, err
}

// release returns what acquire acquired and no call has used.
func (a *admission) release(ctx context.Context, j *job) {
	if j.admitted == nil {
		return
	}
	if j.admitted.slot != nil {
		j.admitted.slot.Release(hostguard.Unknown)
	}
	if a.limits != nil {
		a.limits.Release(context.WithoutCancel(ctx), j.admitted.token)
	}
	j.admitted = nil
}

// publish makes the call, and updates circuit breaker and limits with its response. The limits are updated meanwhile
// after a success, whose outcome is to be recorded at once: j.observed ends then. They learn in the order of
// responses, because a success that precedes a 429 must not end it.
func (a *admission) publish(ctx context.Context, j *job, s network.Submission) (network.Receipt, error) {
	start := time.Now()
	receipt, err := j.adapter.Publish(ctx, j.account, s)
	failure := network.AsError(err)
	a.recorder.countCall(ctx, j, j.callKind(), failure, start)
	if j.admitted.slot != nil {
		j.admitted.slot.Release(hostOutcome(failure))
	}
	if failure != nil && failure.Class == network.NotSent {
		return receipt, err // the network did not count it
	}
	j.admitted = nil
	caller, kind := j.caller(), j.callKind()
	if failure != nil {
		a.learn(ctx, caller, kind, failure.Rates, failure)
		return receipt, err
	}
	j.observed.Go(func() { a.learn(ctx, caller, kind, receipt.Rates, nil) })
	return receipt, nil
}

// upload stages one attachment within the limits of uploads.
func (a *admission) upload(ctx context.Context, j *job, media network.Media) (network.Staged, error) {
	token, refused, err := a.token(ctx, j, network.CallUpload, time.Now())
	switch {
	case err != nil:
		return network.Staged{}, interruptedUpload(err)
	case refused != nil:
		return network.Staged{}, refused
	}
	start := time.Now()
	staged, err := j.adapter.Stage(ctx, j.account, media)
	failure := network.AsError(err)
	a.recorder.countCall(ctx, j, network.CallUpload, failure, start)
	if failure != nil && failure.Class == network.NotSent {
		if a.limits != nil {
			a.limits.Release(context.WithoutCancel(ctx), token)
		}
		return staged, err
	}
	a.observe(ctx, j, network.CallUpload, staged.Rates, failure)
	return staged, err
}

func (a *admission) observe(
	ctx context.Context, j *job, kind network.CallKind, rates []network.RateStatus, failure *network.Error,
) {
	if failure != nil {
		rates = failure.Rates
	}
	a.learn(ctx, j.caller(), kind, rates, failure)
}

func (a *admission) learn(
	ctx context.Context, caller ratelimit.Caller, kind network.CallKind, rates []network.RateStatus,
	failure *network.Error,
) {
	if a.limits != nil {
		a.wakeAll(ctx, a.limits.Observe(ctx, caller, kind, rates, failure))
	}
}

// wakeAll wakes posts in the background: the outcome of this one is not recorded yet. A
// post that is not woken retries later by itself.
func (a *admission) wakeAll(ctx context.Context, posts []uuid.UUID) {
	if a.waker == nil || len(posts) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	go func() {
		for _, id := range posts {
			if err := a.waker.Wake(ctx, id); err != nil {
				a.log.WarnContext(ctx, "waking a post failed; it retries at its own time", "post_id", id, "error", err)
			}
		}
	}()
}

// minRegisteredWait is the shortest wait that other processes need to know of.
const minRegisteredWait = 2 * time.Second

// addWaiter registers a post that waits at Temporal, so that it is woken when a
// response shows that it can be sent.
func (a *admission) addWaiter(ctx context.Context, j *job, kind network.CallKind, w ratelimit.Wait) {
	if a.limits != nil && time.Until(w.Until) > minRegisteredWait {
		a.limits.AddWaiter(ctx, j.caller(), kind, w, j.post.ID)
	}
}

// minTokenInterval is the shortest interval at which a post in memory tries again
// to acquire a token.
const minTokenInterval = 200 * time.Millisecond

// token acquires a token, waiting briefly for it. refused means that it takes
// longer.
func (a *admission) token(
	ctx context.Context, j *job, kind network.CallKind, at time.Time,
) (token ratelimit.Token, refused *network.Error, err error) {
	if a.limits == nil {
		return ratelimit.Token{}, nil, nil
	}
	until := later(at, time.Now()).Add(a.maxWait)
	for {
		grant := a.limits.Acquire(ctx, j.caller(), kind)
		if grant.OK {
			return grant.Token, nil, nil
		}
		if grant.RetryAt.After(until) {
			a.addWaiter(ctx, j, kind, ratelimit.Wait{Scope: grant.Scope, Bucket: grant.Bucket, Until: grant.RetryAt})
			owner := j.account.Handle
			if grant.Scope == network.ScopeApp {
				owner = "Dateline at " + j.limits.AllowedBy
			}
			return ratelimit.Token{}, &network.Error{
				Class: network.Throttled, Code: codeRateLimited,
				Scope: grant.Scope, RetryAt: grant.RetryAt,
				Message: fmt.Sprintf("The rate limit %q of %s is used up until %s.", grant.Bucket, owner,
					grant.RetryAt.UTC().Format(time.RFC3339)),
			}, nil
		}
		// Meanwhile another call may learn that the bucket is open.
		wait := time.Until(grant.RetryAt)
		if err := retry.Sleep(ctx, min(wait+time.Millisecond, max(wait/8, minTokenInterval))); err != nil {
			return ratelimit.Token{}, nil, err
		}
	}
}

// acquireSlot acquires a host slot, waiting briefly for it.
func (a *admission) acquireSlot(ctx context.Context, j *job, at time.Time, probe bool) (*hostguard.Slot, error) {
	if a.hosts == nil {
		return nil, nil
	}
	until := later(at, time.Now()).Add(a.maxWait)
	for {
		slot, retryTime, reason := a.hosts.Acquire(j.host(), at, probe)
		if slot != nil {
			return slot, nil
		}
		if retryTime.After(until) {
			if unresolved, err := a.hasUnresolvedSend(ctx, j); unresolved || err != nil {
				return nil, err
			}
			message := "The network has failed many times in a row. The post waits until it responds again."
			if reason == hostguard.Saturated {
				message = "The network responds so slowly that no more calls are made for now. The post waits."
			}
			if err := a.recorder.addEventOnce(ctx, j, post.EventNetworkWait,
				map[string]any{"code": reason, "message": message, "retry_at": retryTime.UTC()}); err != nil {
				return nil, err
			}
			return nil, retryAt(RetryHostDown, "The network does not respond.", retryTime)
		}
		if err := retry.Sleep(ctx, time.Until(retryTime)+time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// throttled makes a post wait for a rate limit. No attempt is used up.
func (a *admission) throttled(ctx context.Context, j *job, e *network.Error) error {
	err := a.recorder.addEventOnce(ctx, j, post.EventThrottled, map[string]any{
		"class": e.Class, "code": e.Code, "message": e.Message, "retry_at": e.RetryAt.UTC(),
	})
	if err != nil {
		return err
	}
	return retryAt(RetryThrottled, "A rate limit is used up.", e.RetryAt)
}

// hostOutcome returns what a call shows about the host.
func hostOutcome(e *network.Error) hostguard.Outcome {
	switch {
	case e == nil:
		return hostguard.Responded
	case isInternalFailure(e) || errors.Is(e, context.Canceled):
		return hostguard.Unknown
	case e.Status >= 500:
		return hostguard.Failed
	case e.Status > 0:
		return hostguard.Responded
	case e.Code == "connection_failed" || e.Code == "timeout":
		return hostguard.Failed
	default:
		return hostguard.Unknown
	}
}

// preparedOutcome returns what preparing shows about the host. Success shows
// nothing: everything may have been known already.
func preparedOutcome(e *network.Error) hostguard.Outcome {
	if o := hostOutcome(e); o != hostguard.Responded {
		return o
	}
	return hostguard.Unknown
}
