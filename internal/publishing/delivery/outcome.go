package delivery

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

// Metrics records the publisher's activity.
type Metrics interface {
	// Outcome counts the outcome of an attempt: posted, failed, uncertain, retrying.
	Outcome(ctx context.Context, network, outcome string)
	// Late records how long after its time a post was sent.
	Late(ctx context.Context, network string, by time.Duration)
	// Called records a call of a network's API, with its kind and its outcome class,
	// or ok.
	Called(ctx context.Context, network, kind, result string, took time.Duration)
}

// recorder writes outcomes, timeline events and metrics.
type recorder struct {
	store   OutcomeStore
	live    LiveBus
	metrics Metrics // nil: no metrics
}

// record records an outcome. A claim that was lost meanwhile makes the result
// stale: the workflow reads the post and decides again.
func (r *recorder) record(ctx context.Context, j *job, o post.Outcome) (TargetResult, error) {
	// What happened is recorded also when the worker is stopping.
	_, ok, err := r.store.RecordOutcome(context.WithoutCancel(ctx), o)
	if err != nil {
		return TargetResult{}, err
	}
	if !ok {
		return TargetResult{Stale: true}, nil
	}
	r.live.Changed(ctx, o.PostID)
	r.count(ctx, j, o)
	return TargetResult{Status: o.Status, Recorded: true}, nil
}

// addEvent adds an event to the timeline.
func (r *recorder) addEvent(ctx context.Context, j *job, event string, data map[string]any) error {
	if err := r.store.AddEvent(context.WithoutCancel(ctx), j.post.ID, &j.target.ID, event, post.ActorDateline,
		data); err != nil {
		return err
	}
	r.live.Changed(ctx, j.post.ID)
	return nil
}

// addEventOnce adds an event to the timeline, unless it repeats the last one.
func (r *recorder) addEventOnce(ctx context.Context, j *job, event string, data map[string]any) error {
	added, err := r.store.AddEventOnce(context.WithoutCancel(ctx), j.post.ID, j.target.ID, event, post.ActorDateline,
		data)
	if err == nil && added {
		r.live.Changed(ctx, j.post.ID)
	}
	return err
}

// minNoticeable is the shortest time that a person would notice.
const minNoticeable = 50 * time.Millisecond

// notifyClaimed notifies open streams of a claim. For a claim that was made ahead for a
// burst they are notified together with its outcome, a moment later: the notifications
// of thousands of claims would delay the sends.
func (r *recorder) notifyClaimed(ctx context.Context, j *job) {
	if time.Until(j.post.ScheduledTime) < minNoticeable {
		r.live.Changed(ctx, j.post.ID)
	}
}

func (r *recorder) count(ctx context.Context, j *job, o post.Outcome) {
	if r.metrics == nil {
		return
	}
	switch o.Event {
	case post.EventPosted, post.EventFailed, post.EventUncertain, post.EventRetrying:
		r.metrics.Outcome(ctx, j.target.Network, o.Event)
	}
	if o.Segment == 0 && o.SentAt != nil && (o.Event == post.EventPosted || o.Event == post.EventSegment) {
		r.metrics.Late(ctx, j.target.Network, o.SentAt.Sub(j.due()))
	}
}

func (r *recorder) countCall(
	ctx context.Context, j *job, kind network.CallKind, failure *network.Error, start time.Time,
) {
	if r.metrics == nil {
		return
	}
	result := "ok"
	if failure != nil {
		result = string(failure.Class)
	}
	r.metrics.Called(ctx, j.target.Network, string(kind), result, time.Since(start))
}

// outcomes decides what becomes of a target after a call, and records it.
type outcomes struct {
	*recorder
	admission *admission
	clock     Clock
	timing    Timing
}

// due is the time from which lateness counts: the post's time, or when a person
// requested a retry.
func (j *job) due() time.Time {
	if again := j.post.RedrivenAt; again != nil && again.After(j.post.ScheduledTime) {
		return *again
	}
	return j.post.ScheduledTime
}

// lateError returns why a target must not be sent at the time given: its post's
// late policy drops it. nil when it may be sent. A thread that was started is
// never cut off.
func lateError(j *job, at time.Time) *network.Error {
	due := j.due()
	if j.post.LateLimit == 0 || len(j.published) > 0 || !at.After(due.Add(j.post.LateLimit)) {
		return nil
	}
	return &network.Error{Class: network.Class(post.ReasonLate), Code: "too_late", Message: fmt.Sprintf(
		"It would be published more than %d minutes late, so it is dropped, as its late policy says.",
		int(j.post.LateLimit.Minutes()))}
}

// dropIfLate drops a target that is too late. A result means that it ended.
func (o *outcomes) dropIfLate(ctx context.Context, j *job, at time.Time) (*TargetResult, error) {
	late := lateError(j, at)
	if late == nil {
		return nil, nil
	}
	result, err := o.failed(ctx, j, post.Call{Fence: j.target.Fence}, late)
	return &result, err
}

// retry releases the target and requests another attempt.
func (o *outcomes) retry(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	attempts := j.target.Attempts
	if e.Class != network.Throttled && e.Code != codeUnreadable {
		attempts++
	}
	state := post.CallFailed
	if e.Code == codeAbsent || e.Code == codeNotShown {
		state = post.CallReconciledAbsent
	}
	delay, again := o.timing.retryAfterError(e, attempts, j.run.attempt.of(j.run.in))
	late := lateError(j, o.clock.Now().Add(delay))
	// Without another send the key is of no use: the post may exist without being
	// listed.
	if e.Code == codeNotShown && (attempts >= maxAttempts || late != nil) {
		return o.uncertain(ctx, j, call, &network.Error{
			Class: network.Ambiguous, Code: e.Code,
			Message: "No call had a trustworthy response, and the network does not show the post yet.",
		}, nil)
	}
	if attempts >= maxAttempts {
		return o.failedAs(ctx, j, call, e, state)
	}
	if late != nil {
		return o.failedAs(ctx, j, call, late, state)
	}
	out := outcomeOf(j, call, e)
	out.Status, out.Operation, out.Event, out.Attempts = j.target.Status, state, post.EventRetrying, attempts-
		j.target.Attempts
	if call.OperationID != uuid.Nil {
		out.Status = post.TargetPublishing
	}
	if result, err := o.record(ctx, j, out); err != nil || result.Stale {
		return result, err
	}
	if e.Class == network.Throttled && call.OperationID != uuid.Nil {
		o.admission.addWaiter(ctx, j, j.callKind(), ratelimit.Wait{Scope: e.Scope, Until: time.Now().Add(delay)})
	}
	return TargetResult{}, again
}

// failed ends the target.
func (o *outcomes) failed(ctx context.Context, j *job, call post.Call, e *network.Error) (TargetResult, error) {
	return o.failedAs(ctx, j, call, e, post.CallFailed)
}

// failedAs is failed with the state of the call.
func (o *outcomes) failedAs(
	ctx context.Context, j *job, call post.Call, e *network.Error, state string,
) (TargetResult, error) {
	out := outcomeOf(j, call, e)
	out.Status, out.Operation, out.Event, out.Attempts = post.TargetFailed, state, post.EventFailed, 1
	if i := j.next(); i > 0 && i < len(j.segments) && j.segments[i].IsComment {
		// The post is published, and does not fail because of a comment.
		last := j.published[i-1].PostedAt
		out.Status, out.Event, out.PostedAt = post.TargetPosted, post.EventNoComment, &last
		out.ErrorClass, out.ErrorCode, out.Error = "", "", ""
	}
	return o.record(ctx, j, out)
}

// uncertain leaves it to a person to decide whether the call published the post.
// evidence is what the last search found; empty: there was none.
func (o *outcomes) uncertain(
	ctx context.Context, j *job, call post.Call, cause *network.Error, evidence message.Messages,
) (TargetResult, error) {
	out := outcomeOf(j, call, cause)
	if !call.SentAt.IsZero() {
		out.EventData["sent"] = call.SentAt.UTC()
	}
	withEvidence(out.EventData, evidence)
	out.Status, out.Operation, out.Event, out.Attempts = post.TargetUncertain, post.CallManual, post.EventUncertain, 1
	return o.record(ctx, j, out)
}

// posted records that a segment is published. The target is posted with its last
// one.
func (o *outcomes) posted(
	ctx context.Context, j *job, call post.Call, receipt network.Receipt, state string, evidence map[string]any,
) (TargetResult, error) {
	now := o.clock.Now().UTC()
	sent := call.SentAt
	if !receipt.SentAt.IsZero() {
		sent = o.clock.FromHost(receipt.SentAt)
	}
	out := post.Outcome{
		PostID: j.post.ID, TargetID: j.target.ID, Revision: j.post.Revision, Segment: call.Segment,
		Fence: call.Fence, OperationID: call.OperationID, Operation: state, Evidence: evidence,
		Status:   post.TargetPosted,
		Attempts: 1, RemoteID: receipt.RemoteID, RemoteURL: receipt.URL, SentAt: &sent, PostedAt: &now,
		Event: post.EventPosted,
		EventData: map[string]any{
			"remote_id": receipt.RemoteID, "url": receipt.URL,
			"sent": sent, "late_ms": sent.Sub(j.post.ScheduledTime).Milliseconds(), "answered": now,
		},
		Differences: receipt.Differences,
	}
	if last := call.Segment+1 >= len(j.segments); !last {
		out.Status, out.Event, out.PostedAt = post.TargetPublishing, post.EventSegment, nil
		out.EventData["segment"], out.EventData["of"] = call.Segment, len(j.segments)
		if minutes := j.segments[call.Segment+1].AfterMinutes; minutes > 0 {
			next := sent.Add(time.Duration(minutes) * time.Minute)
			out.WaitsUntil = &next
		}
	}
	result, err := o.record(ctx, j, out)
	if err == nil && result.Status.IsOpen() {
		j.published = append(j.published, post.PublishedSegment{
			Segment: call.Segment, RemoteID: receipt.RemoteID, RemoteURL: receipt.URL, SentAt: &sent, PostedAt: now,
		})
		j.target.Status, j.target.Fence, j.target.Attempts = result.Status, call.Fence, 0
	}
	return result, err
}

// nothingLeft ends a target whose thread is published: a person confirmed its
// last segment, or removed the remaining ones.
func (o *outcomes) nothingLeft(ctx context.Context, j *job) (TargetResult, error) {
	first := j.published[0]
	return o.record(ctx, j, post.Outcome{
		PostID: j.post.ID, TargetID: j.target.ID, Revision: j.post.Revision,
		Fence:  j.target.Fence,
		Status: post.TargetPosted, RemoteURL: first.RemoteURL, SentAt: first.SentAt,
		PostedAt: &j.published[len(j.published)-1].PostedAt,
		Event:    post.EventPosted, EventData: map[string]any{"remote_id": first.RemoteID, "url": first.RemoteURL},
	})
}

// outcomeOf returns what an error says, without deciding what becomes of the
// target.
func outcomeOf(j *job, call post.Call, e *network.Error) post.Outcome {
	data := map[string]any{"class": e.Class, "code": e.Code, "message": e.Message}
	if e.Params != nil {
		data["params"] = e.Params
	}
	if e.Status != 0 {
		data["http_status"] = e.Status
	}
	if !e.RetryAt.IsZero() {
		data["retry_at"] = e.RetryAt.UTC()
	}
	return post.Outcome{
		PostID: j.post.ID, TargetID: j.target.ID, Revision: j.post.Revision, Segment: call.Segment,
		Fence:       call.Fence,
		OperationID: call.OperationID, ErrorClass: string(e.Class), ErrorCode: e.Code, Error: e.Message,
		Evidence:  map[string]any{"http_status": e.Status, "request_id": e.RequestID, "message": e.Message},
		EventData: data,
	}
}
