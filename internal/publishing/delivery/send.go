package delivery

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

// sendAll publishes what is not out yet, segment after segment.
func (p *Publisher) sendAll(ctx context.Context, j *job) (TargetResult, error) {
	if j.next() >= len(j.segments) {
		return p.nothingLeft(ctx, j)
	}
	for {
		if problem := p.ready(ctx, j); problem != nil {
			return p.settle(ctx, j, post.Call{Segment: j.next(), Fence: j.target.Fence}, problem)
		}
		if err := p.admit(ctx, j, j.post.ScheduledTime); err != nil {
			return TargetResult{}, err
		}
		result, err := p.send(ctx, j)
		if err != nil || result.Stale || !result.Status.Open() {
			return result, err
		}
	}
}

// nothingLeft ends a target whose thread is out: a person confirmed its last
// segment, or took away what was left.
func (p *Publisher) nothingLeft(ctx context.Context, j *job) (TargetResult, error) {
	first := j.published[0]
	return p.finish(ctx, j, post.Outcome{PostID: j.post.ID, TargetID: j.target.ID, Revision: j.post.Revision, Fence: j.target.Fence,
		Status: post.TargetPosted, RemoteURL: first.RemoteURL, SentAt: first.SentAt, PostedAt: &j.published[len(j.published)-1].PostedAt,
		Event: post.EventPosted, EventData: map[string]any{"remote_id": first.RemoteID, "url": first.RemoteURL}})
}

// send claims the target and makes the one call that cannot be taken back.
func (p *Publisher) send(ctx context.Context, j *job) (TargetResult, error) {
	i := j.next()
	epoch, err := p.lastEpoch(ctx, j, i)
	if err != nil {
		return TargetResult{}, err
	}
	submission := j.submission(i)
	lease, before := p.Timing.orDefaults().Lease, time.Now()
	call, ok, err := p.Store.Claim(ctx, post.Call{OperationID: uuid.Must(uuid.NewV7()), PostID: j.post.ID, TargetID: j.target.ID, Segment: i,
		Revision: j.post.Revision, Epoch: epoch + 1, IdempotencyKey: submission.Key,
		Fingerprint: j.fingerprint(i, submission), ContentKey: matching.Key(submission), Prepared: preparedOf(submission), Due: before.Add(j.post.ScheduledTime.Sub(p.clock().Now()))}, lease)
	if err != nil {
		return TargetResult{}, err
	}
	if !ok {
		// Edited, cancelled or claimed by another attempt: reading it anew tells.
		return TargetResult{Stale: true}, nil
	}
	p.inFlight().claimed(j.hold)
	p.tellClaimed(ctx, j)
	if call.Fence != j.target.Fence+1 {
		return p.overtaken(ctx, j, call)
	}
	// Once claimed it goes out, also from a worker that is told to stop: a claim
	// without a call would have to be looked for at the network.
	if err := p.sleepUntil(context.WithoutCancel(ctx), j.post.ScheduledTime); err != nil {
		return TargetResult{}, err
	}
	// A worker that was frozen may have lost the claim that it just got; whoever
	// has it now looks for a post that must not appear afterwards.
	if time.Since(before) > lease/2 {
		if ok, err := p.Store.RenewClaim(ctx, j.target.ID, call.Fence, lease); err != nil || !ok {
			return TargetResult{Stale: true}, err
		}
	}
	receipt, err := p.callUnderClaim(ctx, j, call, submission)
	if err != nil {
		return p.settle(ctx, j, call, network.AsError(err))
	}
	return p.posted(ctx, j, call, receipt, post.CallAccepted, map[string]any{"request_id": receipt.RequestID})
}

// overtaken gives back a claim without using it: since the target was read,
// another attempt has claimed it too. What that one sent is looked for first.
func (p *Publisher) overtaken(ctx context.Context, j *job, call post.Call) (TargetResult, error) {
	o := outcome(j, call, &network.Error{Class: network.NotSent, Code: "overtaken", Message: "Another attempt at this post was faster."})
	o.Status, o.Operation, o.Event = post.TargetPublishing, post.CallFailed, post.EventRetrying
	if result, err := p.finish(ctx, j, o); err != nil || result.Stale {
		return result, err
	}
	return TargetResult{}, waitFor("Another attempt at this target was faster.", p.Timing.orDefaults().Backoff)
}

// callUnderClaim publishes while holding the claim. Nothing but the loss of the
// claim ends the call: one that is cut off has to be looked for, and Temporal
// may only have lost sight of this worker.
func (p *Publisher) callUnderClaim(ctx context.Context, j *job, call post.Call, s network.Submission) (network.Receipt, error) {
	ctx, release := p.hold(context.WithoutCancel(ctx), j, call)
	defer release()
	unreadable := &reading{}
	for i := range s.Media {
		s.Media[i] = unreadable.watch(s.Media[i])
	}
	receipt, err := p.metered(ctx, j, s)
	if e := network.AsError(err); e != nil && e.Class == network.NotSent && unreadable.failed() != nil {
		return receipt, unreadable.problem()
	}
	return receipt, err
}

// hold renews a claim until release is called. Losing it ends the context:
// whoever has it now will look for the post before sending again.
func (p *Publisher) hold(ctx context.Context, j *job, call post.Call) (held context.Context, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	lease := p.Timing.orDefaults().Lease
	go func() {
		tick := time.NewTicker(lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if ok, err := p.Store.RenewClaim(ctx, j.target.ID, call.Fence, lease); err == nil && !ok {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}

// settle records an error and decides how it goes on. call has no operation
// when nothing was sent.
func (p *Publisher) settle(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	p.Log.WarnContext(ctx, "publishing did not succeed", "post_id", j.post.ID, "target_id", j.target.ID, "network", j.target.Network,
		"class", e.Class, "code", e.Code, "status", e.Status, "request_id", e.RequestID, "error", e)
	sent := call.OperationID != uuid.Nil
	switch e.Class {
	case network.Ambiguous:
		if sent {
			return p.reconcile(ctx, j, call, e)
		}
		return p.retry(ctx, j, call, notPublished(e))
	case network.Duplicate:
		return p.duplicate(ctx, j, call, e)
	case network.NotSent, network.Transient, network.Throttled:
		if e.Code == network.CodeMediaExpired && sent {
			return p.stageAgain(ctx, j, call, e)
		}
		return p.retry(ctx, j, call, e)
	case network.Auth:
		return p.refused(ctx, j, call, e)
	default:
		return p.failed(ctx, j, call, e)
	}
}

// retry gives the target back and lets Temporal run the activity again.
func (p *Publisher) retry(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	tries := j.target.Attempts
	if e.Class != network.Throttled && e.Code != codeUnreadable {
		tries++
	}
	state := post.CallFailed
	if e.Code == codeAbsent || e.Code == codeNotShown {
		state = post.CallReconciledAbsent
	}
	delay, again := p.Timing.orDefaults().retryLater(e, tries, j.hold.attempt.of(j.hold.in))
	late := lateBy(j, p.clock().Now().Add(delay))
	// Without another send the key helps nobody: the post may live unseen.
	if e.Code == codeNotShown && (tries >= maxTries || late != nil) {
		return p.uncertain(ctx, j, call, &network.Error{Class: network.Ambiguous, Code: e.Code,
			Message: "No call had a trustworthy answer, and the network does not show the post yet."})
	}
	if tries >= maxTries {
		return p.failedAs(ctx, j, call, e, state)
	}
	if late != nil {
		return p.failedAs(ctx, j, call, late, state)
	}
	o := outcome(j, call, e)
	o.Status, o.Operation, o.Event, o.Tries = j.target.Status, state, post.EventRetrying, tries-j.target.Attempts
	if call.OperationID != uuid.Nil {
		o.Status = post.TargetPublishing
	}
	if result, err := p.finish(ctx, j, o); err != nil || result.Stale {
		return result, err
	}
	if e.Class == network.Throttled && call.OperationID != uuid.Nil {
		p.awaitLimit(ctx, j, j.use(), ratelimit.Wait{Scope: e.Scope, Until: time.Now().Add(delay)})
	}
	return TargetResult{}, again
}

// failed is the end for this target.
func (p *Publisher) failed(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	return p.failedAs(ctx, j, call, e, post.CallFailed)
}

// failedAs is failed with what is known of the call.
func (p *Publisher) failedAs(ctx context.Context, j *job, call post.Call, e *network.Error, state string) (TargetResult, error) {
	o := outcome(j, call, e)
	o.Status, o.Operation, o.Event, o.Tries = post.TargetFailed, state, post.EventFailed, 1
	return p.finish(ctx, j, o)
}

// posted records that a segment is out. The target is posted with its last one.
func (p *Publisher) posted(ctx context.Context, j *job, call post.Call, receipt network.Receipt, state string, evidence map[string]any) (TargetResult, error) {
	now := p.clock().Now().UTC()
	sent := call.SentAt
	if !receipt.SentAt.IsZero() {
		sent = p.clock().FromHost(receipt.SentAt)
	}
	o := post.Outcome{PostID: j.post.ID, TargetID: j.target.ID, Revision: j.post.Revision, Segment: call.Segment,
		Fence: call.Fence, OperationID: call.OperationID, Operation: state, Evidence: evidence, Status: post.TargetPosted,
		Tries: 1, RemoteID: receipt.RemoteID, RemoteURL: receipt.URL, SentAt: &sent, PostedAt: &now, Event: post.EventPosted,
		EventData: map[string]any{"remote_id": receipt.RemoteID, "url": receipt.URL,
			"sent": sent, "late_ms": sent.Sub(j.post.ScheduledTime).Milliseconds(), "answered": now}}
	if last := call.Segment+1 >= len(j.segments); !last {
		o.Status, o.Event, o.PostedAt = post.TargetPublishing, post.EventSegment, nil
		o.EventData["segment"], o.EventData["of"] = call.Segment, len(j.segments)
	}
	result, err := p.finish(ctx, j, o)
	if err == nil && result.Status.Open() {
		j.published = append(j.published, post.Published{Segment: call.Segment, RemoteID: receipt.RemoteID, RemoteURL: receipt.URL, SentAt: &sent, PostedAt: now})
		j.target.Status, j.target.Fence, j.target.Attempts = result.Status, call.Fence, 0
	}
	return result, err
}

func outcome(j *job, call post.Call, e *network.Error) post.Outcome {
	data := map[string]any{"class": e.Class, "code": e.Code, "message": e.Message}
	if e.Status != 0 {
		data["http_status"] = e.Status
	}
	if !e.RetryAt.IsZero() {
		data["retry_at"] = e.RetryAt.UTC()
	}
	return post.Outcome{PostID: j.post.ID, TargetID: j.target.ID, Revision: j.post.Revision, Segment: call.Segment, Fence: call.Fence,
		OperationID: call.OperationID, ErrorClass: string(e.Class), ErrorCode: e.Code, Error: e.Message,
		Evidence:  map[string]any{"http_status": e.Status, "request_id": e.RequestID, "message": e.Message},
		EventData: data}
}

// finish records an outcome. A claim that was lost meanwhile makes the result
// stale: the workflow reads the post and decides anew.
func (p *Publisher) finish(ctx context.Context, j *job, o post.Outcome) (TargetResult, error) {
	// What happened is recorded also when the worker is stopping.
	_, ok, err := p.Store.RecordOutcome(context.WithoutCancel(ctx), o)
	if err != nil {
		return TargetResult{}, err
	}
	if !ok {
		return TargetResult{Stale: true}, nil
	}
	p.Live.Changed(ctx, o.PostID)
	p.count(ctx, j, o)
	return TargetResult{Status: o.Status, Recorded: true}, nil
}
