package delivery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/retry"
	"dateline/internal/publishing/hostguard"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

// RateLimits gives permits for calls, and learns from their answers.
type RateLimits interface {
	Acquire(ctx context.Context, c ratelimit.Caller, use network.CallKind) ratelimit.Grant
	Release(ctx context.Context, p ratelimit.Token)
	Observe(ctx context.Context, c ratelimit.Caller, use network.CallKind, rates []network.RateStatus, failure *network.Error) (wake []uuid.UUID)
	AddWaiter(ctx context.Context, c ratelimit.Caller, use network.CallKind, r ratelimit.Wait, post uuid.UUID)
}

// Waker makes a post that waits at Temporal for a rate limit ask again.
type Waker interface {
	Wake(ctx context.Context, post uuid.UUID) error
}

// Hosts says whether a network's host may be called.
type Hosts interface {
	Acquire(host string, planned time.Time, probe bool) (call *hostguard.Slot, retry time.Time, reason hostguard.Reason)
}

// pass is what admit got: the permit and the place for one call.
type pass struct {
	call      *hostguard.Slot
	entered   bool
	permit    ratelimit.Token
	permitted bool
}

func (j *job) host() string { return j.target.Network + " " + j.account.BaseURL }

func (j *job) caller() ratelimit.Caller {
	return ratelimit.Caller{Network: j.target.Network, BaseURL: j.account.BaseURL, RemoteID: j.account.RemoteID, Quotas: j.limits.Quotas}
}

func (j *job) use() network.CallKind {
	if j.parent != "" || j.next() > 0 {
		return network.CallReply
	}
	return network.CallPublish
}

// prepareWithin prepares unless the network's host is known not to answer. held
// is the error that makes Temporal come back later.
func (p *Publisher) prepareWithin(ctx context.Context, j *job) (problem *network.Error, held error) {
	call, held := p.enter(ctx, j, time.Now(), false)
	if held != nil {
		return nil, held
	}
	problem = p.prepare(ctx, j)
	if call != nil {
		// That it worked says nothing: all may have been known already.
		v := verdict(problem)
		if v == hostguard.Responded {
			v = hostguard.Unknown
		}
		call.Release(v)
	}
	if problem != nil && problem.Code == codeNoPermit {
		return nil, p.throttled(ctx, j, problem)
	}
	return problem, nil
}

// admit gets a permit from the rate limits and a place at the host for one
// call, before the claim: a post that has to wait holds none. What is not used
// goes back by dismiss. A thread needs it for every segment anew.
func (p *Publisher) admit(ctx context.Context, j *job, at time.Time) error {
	if j.pass != nil && j.pass.entered || j.next() >= len(j.segments) {
		return nil
	}
	call, held := p.enter(ctx, j, p.onHost(at), true)
	if held != nil {
		p.dismiss(ctx, j)
		return held
	}
	if j.pass == nil {
		j.pass = &pass{}
	}
	j.pass.call, j.pass.entered = call, true
	return p.reserve(ctx, j, at)
}

// reserve gets the permit alone. A post may have it long before its call; a
// place at the host would be taken from others meanwhile.
func (p *Publisher) reserve(ctx context.Context, j *job, at time.Time) error {
	if j.pass != nil && j.pass.permitted || j.next() >= len(j.segments) {
		return nil
	}
	permit, refused, err := p.permit(ctx, j, j.use(), p.onHost(at))
	if err == nil && refused != nil {
		var pressing bool
		if pressing, err = p.pressing(ctx, j); pressing {
			refused = nil
		}
	}
	if err != nil || refused != nil {
		p.dismiss(ctx, j)
		if err == nil {
			err = p.throttled(ctx, j, refused)
		}
		return err
	}
	if j.pass == nil {
		j.pass = &pass{}
	}
	j.pass.permit, j.pass.permitted = permit, true
	return nil
}

// onHost turns a time by the database's clock into one by the host's, by which
// limits and pauses go.
func (p *Publisher) onHost(at time.Time) time.Time { return time.Now().Add(at.Sub(p.clock().Now())) }

// pressing says that an earlier call for what comes next may have published it.
// It is sent again because the network still knows it by its key, which does not
// last as long as limits and failures do.
func (p *Publisher) pressing(ctx context.Context, j *job) (bool, error) {
	if j.target.Attempts == 0 {
		return false, nil // an unclear call has used up a try
	}
	n, err := p.Store.CountUnresolvedSends(ctx, j.target.ID, j.next(), j.post.Revision)
	return n > 0, err
}

// dismiss gives back what admit got and no call has used.
func (p *Publisher) dismiss(ctx context.Context, j *job) {
	if j.pass == nil {
		return
	}
	if j.pass.call != nil {
		j.pass.call.Release(hostguard.Unknown)
	}
	if p.Limits != nil {
		p.Limits.Release(context.WithoutCancel(ctx), j.pass.permit)
	}
	j.pass = nil
}

// metered publishes, and lets limits and breaker learn from the answer.
func (p *Publisher) metered(ctx context.Context, j *job, s network.Submission) (network.Receipt, error) {
	began := time.Now()
	receipt, err := j.adapter.Publish(ctx, j.account, s)
	failure := network.AsError(err)
	p.called(ctx, j, j.use(), failure, began)
	if j.pass != nil && j.pass.call != nil {
		j.pass.call.Release(verdict(failure))
	}
	if failure != nil && failure.Class == network.NotSent {
		return receipt, err // the network did not count it
	}
	j.pass = nil
	p.observe(ctx, j, j.use(), receipt.Rates, failure)
	return receipt, err
}

// meteredUpload stages one attachment within the limits of uploads.
func (p *Publisher) meteredUpload(ctx context.Context, j *job, media network.Media) (network.Staged, error) {
	permit, refused, err := p.permit(ctx, j, network.CallUpload, time.Now())
	switch {
	case err != nil:
		return network.Staged{}, &network.Error{Class: network.NotSent, Code: "interrupted", Message: "The upload was interrupted.", Err: err}
	case refused != nil:
		return network.Staged{}, refused
	}
	began := time.Now()
	staged, err := j.adapter.Stage(ctx, j.account, media)
	failure := network.AsError(err)
	p.called(ctx, j, network.CallUpload, failure, began)
	if failure != nil && failure.Class == network.NotSent {
		if p.Limits != nil {
			p.Limits.Release(context.WithoutCancel(ctx), permit)
		}
		return staged, err
	}
	p.observe(ctx, j, network.CallUpload, staged.Rates, failure)
	return staged, err
}

func (p *Publisher) observe(ctx context.Context, j *job, use network.CallKind, rates []network.RateStatus, failure *network.Error) {
	if p.Limits == nil {
		return
	}
	if failure != nil {
		rates = failure.Rates
	}
	p.wakeAll(ctx, p.Limits.Observe(ctx, j.caller(), use, rates, failure))
}

// wakeAll wakes posts beside what this one still has to do: its outcome is not
// recorded yet. One that is not woken comes by itself, later.
func (p *Publisher) wakeAll(ctx context.Context, posts []uuid.UUID) {
	if p.Waker == nil || len(posts) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	go func() {
		for _, id := range posts {
			if err := p.Waker.Wake(ctx, id); err != nil {
				p.Log.WarnContext(ctx, "a post that could go out sooner waits as long as it was told", "post_id", id, "error", err)
			}
		}
	}()
}

// noticedAtOnce is how long a wait may be of which no other process need know.
const noticedAtOnce = 2 * time.Second

// awaitLimit registers a post that waits at Temporal until the time given, so
// that it can be woken when a response shows that it need not.
func (p *Publisher) awaitLimit(ctx context.Context, j *job, use network.CallKind, r ratelimit.Wait) {
	if p.Limits != nil && time.Until(r.Until) > noticedAtOnce {
		p.Limits.AddWaiter(ctx, j.caller(), use, r, j.post.ID)
	}
}

// codeNoPermit marks a post that a rate limit holds back before anything is
// sent.
const codeNoPermit = "rate_limited"

// permit takes a permit, waiting a moment for it. refused says that it takes
// longer.
func (p *Publisher) permit(ctx context.Context, j *job, use network.CallKind, at time.Time) (permit ratelimit.Token, refused *network.Error, err error) {
	if p.Limits == nil {
		return ratelimit.Token{}, nil, nil
	}
	until := later(at, time.Now()).Add(p.Timing.orDefaults().Patience)
	for {
		grant := p.Limits.Acquire(ctx, j.caller(), use)
		if grant.OK {
			return grant.Token, nil, nil
		}
		if grant.RetryAt.After(until) {
			p.awaitLimit(ctx, j, use, ratelimit.Wait{Scope: grant.Scope, Bucket: grant.Bucket, Until: grant.RetryAt})
			whose := j.account.Handle
			if grant.Scope == network.ScopeApp {
				whose = "Dateline at " + j.limits.AllowedBy
			}
			return ratelimit.Token{}, &network.Error{Class: network.Throttled, Code: codeNoPermit, Scope: grant.Scope, RetryAt: grant.RetryAt,
				Message: fmt.Sprintf("The rate limit %q of %s is used up until %s.", grant.Bucket, whose, grant.RetryAt.UTC().Format(time.RFC3339))}, nil
		}
		// Meanwhile another call may learn that the bucket is open.
		wait := time.Until(grant.RetryAt)
		if err := retry.Sleep(ctx, min(wait+time.Millisecond, max(wait/8, shortestLook))); err != nil {
			return ratelimit.Token{}, nil, err
		}
	}
}

// shortestLook is how often a post in memory asks for a permit, at most.
const shortestLook = 200 * time.Millisecond

// enter asks for a place at the host, waiting a moment for it.
func (p *Publisher) enter(ctx context.Context, j *job, at time.Time, probe bool) (*hostguard.Slot, error) {
	if p.Hosts == nil {
		return nil, nil
	}
	until := later(at, time.Now()).Add(p.Timing.orDefaults().Patience)
	for {
		call, retryAt, reason := p.Hosts.Acquire(j.host(), at, probe)
		if call != nil {
			return call, nil
		}
		if retryAt.After(until) {
			if pressing, err := p.pressing(ctx, j); pressing || err != nil {
				return nil, err
			}
			message := "The network has failed many times in a row. The post waits until it answers again."
			if reason == hostguard.Saturated {
				message = "The network answers so slowly that no more calls are made for now. The post waits."
			}
			if err := p.tell(ctx, j, post.EventHeld, map[string]any{"code": reason, "message": message, "retry_at": retryAt.UTC()}); err != nil {
				return nil, err
			}
			return nil, comeBack(RetryHostDown, "The network does not answer.", retryAt)
		}
		if err := retry.Sleep(ctx, time.Until(retryAt)+time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// throttled lets a post wait for a rate limit. No try is used up.
func (p *Publisher) throttled(ctx context.Context, j *job, e *network.Error) error {
	err := p.tell(ctx, j, post.EventThrottled, map[string]any{"class": e.Class, "code": e.Code, "message": e.Message, "retry_at": e.RetryAt.UTC()})
	if err != nil {
		return err
	}
	return comeBack(RetryThrottled, "A rate limit is used up.", e.RetryAt)
}

// tell adds a line to the timeline, unless the last one says the same.
func (p *Publisher) tell(ctx context.Context, j *job, event string, data map[string]any) error {
	said, err := p.Store.AddEventOnce(context.WithoutCancel(ctx), j.post.ID, j.target.ID, event, post.ActorDateline, data)
	if err == nil && said {
		p.Live.Changed(ctx, j.post.ID)
	}
	return err
}

// comeBack makes Temporal run the activity again soon after a time. The spread
// is small: who waited for hours for a reset should not wait much longer.
func comeBack(kind, what string, at time.Time) error {
	wait := max(time.Until(at), 0) + 10*time.Millisecond
	wait += time.Duration(rand.Int64N(int64(min(wait/5, 10*time.Second)) + 1)) //nolint:gosec // not a secret
	return &RetryError{Kind: kind, Message: what + " The post's timeline says more.", Delay: wait}
}

// verdict says what an outcome tells about the host.
func verdict(e *network.Error) hostguard.Outcome {
	switch {
	case e == nil:
		return hostguard.Responded
	case ours(e) || errors.Is(e, context.Canceled) || e.Code == codeNoPermit || e.Code == codeParentWaiting:
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
