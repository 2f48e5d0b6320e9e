package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// Deps are the dependencies of a Publisher.
type Deps struct {
	Store    Store
	Accounts Accounts
	Networks Networks
	Objects  media.Objects
	Links    Links // nil: networks that fetch attachments themselves get none
	Live     LiveBus
	Log      *slog.Logger
	Timing   Timing
	Clock    Clock      // nil: the host's
	Limits   RateLimits // nil: no limits
	Waker    Waker      // nil: posts that wait for a limit are not woken early
	Hosts    Hosts      // nil: every host may be called at any time
	Media    Renderer   // nil: images are sent as they are
	Metrics  Metrics    // nil: no metrics
	InFlight *InFlight  // the worker's; nil: one of its own
}

// Publisher publishes one target at a time. It is safe for concurrent use.
type Publisher struct {
	timing     Timing
	clock      Clock
	log        *slog.Logger
	inFlight   *InFlight
	claims     ClaimStore
	loader     *loader
	preparer   *preparer
	admission  *admission
	outcomes   *outcomes
	recorder   *recorder
	reconciler *reconciler
	sender     *sender
}

// New returns a Publisher.
func New(d Deps) *Publisher {
	timing := d.Timing.orDefaults()
	if d.Clock == nil {
		d.Clock = hostClock{}
	}
	if d.InFlight == nil {
		d.InFlight = &InFlight{}
	}
	rec := &recorder{store: d.Store, live: d.Live, metrics: d.Metrics}
	adm := &admission{
		limits: d.Limits, waker: d.Waker, hosts: d.Hosts, ledger: d.Store, recorder: rec, clock: d.Clock,
		maxWait: timing.MaxLimitWait, log: d.Log,
	}
	out := &outcomes{recorder: rec, admission: adm, clock: d.Clock, timing: timing}
	tok := &tokens{accounts: d.Accounts, outcomes: out, clock: d.Clock}
	stg := &stager{store: d.Store, ledger: d.Store, admission: adm, renderer: d.Media, log: d.Log}
	holder := &claimHolder{store: d.Store, lease: timing.Lease}
	lost := &reconciler{
		claims: d.Store, ledger: d.Store, holder: holder, outcomes: out, recorder: rec, clock: d.Clock,
		timing: timing, log: d.Log,
	}
	return &Publisher{
		timing: timing, clock: d.Clock, log: d.Log, inFlight: d.InFlight, claims: d.Store,
		loader: &loader{posts: d.Store, accounts: d.Accounts, networks: d.Networks, attachments: attachments{
			objects: d.Objects, links: d.Links,
		}},
		preparer:  &preparer{posts: d.Store, tokens: tok, stager: stg},
		admission: adm, outcomes: out, recorder: rec, reconciler: lost,
		sender: &sender{
			claims: d.Store, ledger: d.Store, holder: holder, admission: adm, stager: stg, tokens: tok,
			reconciler: lost,
			outcomes:   out, recorder: rec, inFlight: d.InFlight, clock: d.Clock, timing: timing, log: d.Log,
		},
	}
}

// InFlight returns the attempts that run in this process.
func (p *Publisher) InFlight() *InFlight { return p.inFlight }

// TargetInput names one target of one post. Revision is the one that the workflow
// decided on: another one makes the result Stale.
type TargetInput struct {
	PostID   uuid.UUID
	TargetID uuid.UUID
	Revision int64
	// NotBefore is when the activity is to be dispatched; zero: immediately.
	NotBefore time.Time `json:",omitzero"`
}

// TargetResult is the state of the target after an attempt.
type TargetResult struct {
	Status post.TargetStatus
	Stale  bool // the post changed meanwhile: read it and decide again
	// Recorded means that this attempt wrote the status into the post's row, so that a
	// workflow that waits for nothing else need not read it again.
	Recorded bool `json:",omitempty"`
}

// Publish publishes a post to one account: it prepares everything, waits in
// memory until the post's time, claims the row, sends once and records the
// outcome. It is safe to run again at any point: the ledger says what an earlier
// attempt may have done. An attempt without a claim ends when the post changes.
func (p *Publisher) Publish(ctx context.Context, attempt Attempt, in TargetInput) (TargetResult, error) {
	if err := notDue(p.clock, in); err != nil {
		return TargetResult{}, err
	}
	beats := startHeartbeats(ctx, attempt, p.timing.Heartbeat)
	defer beats.stop()
	watched, run, release := p.inFlight.add(ctx, attempt, in)
	defer release()
	result, err := retryInProcess(watched, func() (TargetResult, error) {
		p.inFlight.setUnclaimed(run)
		return p.publishOnce(watched, beats, run)
	})
	if err != nil && ctx.Err() == nil && p.inFlight.isChanged(run) {
		return TargetResult{Stale: true}, nil
	}
	return result, err
}

func (p *Publisher) publishOnce(ctx context.Context, beats *heartbeater, run *run) (TargetResult, error) {
	in := run.in
	job, result, err := p.loader.load(ctx, in)
	if err != nil || result != nil {
		return deref(result), err
	}
	job.run = run
	if job.isClaimedBefore() {
		call, open, err := p.claims.OpenCall(ctx, in.TargetID)
		if err != nil {
			return TargetResult{}, err
		}
		if open {
			return p.resolveOpenCall(ctx, job, call)
		}
	}
	if result, err := p.outcomes.dropIfLate(ctx, job, p.clock.Now()); result != nil || err != nil {
		return deref(result), err
	}
	if err := p.sender.untilDelayed(job); err != nil {
		return TargetResult{}, err
	}
	problem, held := p.prepareAdmitted(ctx, job)
	if held != nil {
		return TargetResult{}, held
	}
	if problem != nil {
		return p.notPrepared(ctx, job, problem)
	}
	if err := p.sender.prefetchEpoch(ctx, job); err != nil {
		return TargetResult{}, err
	}
	at := job.post.ScheduledTime
	beats.quietAround(at)
	leave := p.inFlight.armed.add(at)
	defer leave()
	// A burst acquires its rate-limit tokens while it is being armed: all at once, they
	// would take CPU time from the posts that are dispatched last.
	defer p.admission.release(ctx, job)
	if p.inFlight.armed.count(at) >= dispatchRate {
		if err := p.admission.acquireToken(ctx, job, at); err != nil {
			return TargetResult{}, err
		}
	}
	if err := p.waitUntilLead(ctx, at, admitLead); err != nil {
		return TargetResult{}, err
	}
	if err := p.admission.acquire(ctx, job, at); err != nil {
		return TargetResult{}, err
	}
	if err := p.waitUntilLead(ctx, at, claimLead); err != nil {
		return TargetResult{}, err
	}
	// Uploading may have taken long.
	if result, err := p.outcomes.dropIfLate(ctx, job, p.clock.Now()); result != nil || err != nil {
		return deref(result), err
	}
	burst := p.inFlight.armed.count(at)
	sent, err := p.sender.sendAll(ctx, job)
	if err == nil && sent.Status == post.TargetPosted {
		delayCompletion(ctx, burst)
	}
	return sent, err
}

// prepareAdmitted prepares unless the network's host is known to be down. held is the
// error that requests a later attempt.
func (p *Publisher) prepareAdmitted(ctx context.Context, j *job) (problem *network.Error, held error) {
	slot, held := p.admission.acquireSlot(ctx, j, time.Now(), false)
	if held != nil {
		return nil, held
	}
	problem = p.preparer.prepare(ctx, j)
	if slot != nil {
		slot.Release(preparedOutcome(problem))
	}
	if problem != nil && problem.Code == codeRateLimited {
		return nil, p.admission.throttled(ctx, j, problem)
	}
	return problem, nil
}

// notPrepared ends an attempt that could not be prepared.
func (p *Publisher) notPrepared(ctx context.Context, j *job, problem *network.Error) (TargetResult, error) {
	t, n := p.timing, j.run.attempt.of(j.run.in)
	switch {
	case problem.Code == codeParentWaiting:
		// Nothing happened that belongs in a log or a timeline.
		return TargetResult{}, waitFor("The post that this one replies to is not published yet.",
			doubling(t.Parent, n, t.MaxWait))
	case isInternalFailure(problem):
		p.log.ErrorContext(ctx, "post delayed by an internal failure", "post_id", j.post.ID, "code", problem.Code,
			"error", problem.Err)
		return TargetResult{}, waitFor("Database or object storage failed ("+problem.Code+").",
			doubling(t.Backoff, n, t.MaxWait))
	}
	return p.sender.settle(ctx, j, post.Call{Fence: j.target.Fence}, problem)
}

// waitUntilLead waits until lead(burst) before at. The burst grows until shortly
// before its time, so its size is read late.
func (p *Publisher) waitUntilLead(ctx context.Context, at time.Time, lead func(burst int) time.Duration) error {
	if err := sleepUntil(ctx, p.clock, at.Add(-maxClaimLead)); err != nil {
		return err
	}
	return sleepUntil(ctx, p.clock, at.Add(-lead(p.inFlight.armed.count(at))))
}

// resolveOpenCall resolves a call without a recorded response.
func (p *Publisher) resolveOpenCall(ctx context.Context, j *job, call post.Call) (TargetResult, error) {
	lease := p.timing.Lease
	fence, ok, err := p.claims.TakeOver(ctx, call, j.target.Fence, lease)
	if err != nil {
		return TargetResult{}, err
	}
	if !ok {
		return TargetResult{}, &inProcessRetry{
			lease / waitsPerLease, waitFor("Another attempt still holds the claim on this target.", lease/3),
		}
	}
	call.Fence, call.PostID = fence, j.post.ID
	return p.reconciler.reconcile(ctx, j, call, &network.Error{
		Class: network.Ambiguous, Code: "interrupted",
		Message: "The publisher stopped between sending and recording the response.",
	})
}

// Prepare does everything for one target ahead of its time that does not publish. A
// problem that only a person can fix is recorded in the timeline while there is time to
// fix it; everything is checked again when the post is published.
func (p *Publisher) Prepare(ctx context.Context, attempt Attempt, in TargetInput) error {
	beats := startHeartbeats(ctx, attempt, p.timing.Heartbeat)
	defer beats.stop()
	j, result, err := p.loader.load(ctx, in)
	if err != nil || result != nil {
		return err
	}
	problem := p.preparer.prepareAhead(ctx, j)
	switch {
	case problem == nil:
		return p.recorder.addEvent(ctx, j, post.EventPrepared, map[string]any{"attachments": j.fileCount()})
	case problem.Class == network.Rejected || problem.Class == network.Auth || problem.Class == network.Duplicate:
		data := map[string]any{"class": problem.Class, "code": problem.Code, "message": problem.Message}
		if problem.Params != nil {
			data["params"] = problem.Params
		}
		return p.recorder.addEvent(ctx, j, post.EventProblem, data)
	default:
		// The network's message may repeat the post's content, which must not
		// reach the caller's history.
		return &RetryError{Kind: RetryFailed, Message: fmt.Sprintf("Preparing did not succeed yet: %s.", problem.Class)}
	}
}

func deref(r *TargetResult) TargetResult {
	if r == nil {
		return TargetResult{}
	}
	return *r
}
