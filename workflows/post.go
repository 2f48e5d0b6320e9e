package workflows

import (
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
)

// Post publishes one scheduled post; doc.go draws it.
func Post(ctx workflow.Context, in PostInput) (PostResult, error) {
	// A cancel request is handled like the cancel signal. It must not end a call in
	// flight, so the work has a context of its own.
	work, _ := workflow.NewDisconnectedContext(ctx)
	r := &postRun{ctx: work, in: in, inbox: newInbox(ctx, work)}
	if err := workflow.SetQueryHandler(work, QueryState, r.queryState); err != nil {
		return PostResult{}, err
	}
	if err := r.acceptUpdates(); err != nil {
		return PostResult{}, err
	}
	if in.HasSearchAttributes {
		r.visible = visibilityAtStart(work)
	}
	if in.View != nil {
		r.view, r.isCurrent, r.in.View = *in.View, true, nil
		if err := r.updateVisibility(); err != nil {
			return PostResult{}, err
		}
	}
	if err := r.run(); err != nil {
		return PostResult{}, err
	}
	if r.view.Status == post.Canceled && ctx.Err() != nil {
		return PostResult{Status: string(r.view.Status)}, ctx.Err()
	}
	return PostResult{Status: string(r.view.Status)}, nil
}

type postRun struct {
	ctx       workflow.Context
	in        PostInput
	inbox     *inbox
	view      delivery.PostView
	visible   visibility
	state     StateResult
	backoff   retryBackoff
	isCurrent bool // the view is up to date
	// notBefore is when the running activities are dispatched; zero: immediately.
	notBefore   time.Time
	preparation *preparation // of the targets; nil: not started
}

func (r *postRun) run() error {
	for {
		// Signals first: one that arrived with the timer counts as before it.
		if err := r.applyCommands(); err != nil {
			return err
		}
		if !r.isCurrent || !r.inbox.isEmpty() {
			if err := r.read(); err != nil {
				return err
			}
		}
		r.isCurrent = false
		targets := r.openTargets()
		// A draft has no time yet; scheduling it starts the workflow again.
		r.inbox.isIdle = r.view.Status.IsFinal() || r.view.Status == post.Draft || len(targets) == 0
		if r.inbox.isIdle {
			if done, err := r.park(); done || err != nil {
				return err
			}
			continue
		}
		if workflow.GetInfo(r.ctx).GetContinueAsNewSuggested() && r.inbox.isEmpty() &&
			workflow.AllHandlersFinished(r.ctx) {
			return workflow.NewContinueAsNewError(r.ctx, PostWorkflow, r.in)
		}
		if again, err := r.prepareAhead(targets); again || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		until, notBefore := r.backoff.next(r.view.Revision), time.Time{}
		if at := armAt(r.view); r.view.Status == post.Scheduled && at.After(until) {
			if r.view.Deferred && at.After(workflow.Now(r.ctx)) {
				notBefore = at
			} else {
				until = at
			}
		}
		due, err := r.wait("waiting", until)
		if err != nil {
			return err
		}
		if !due {
			continue
		}
		if err := r.publish(targets, notBefore); err != nil {
			return err
		}
	}
}

// queryState handles QueryState.
func (r *postRun) queryState() (StateResult, error) {
	state := r.state
	// No event in the history shows that its activities have been dispatched. The
	// result of a query is not part of the history, so it may read the clock.
	if now := time.Now(); state.Doing == "publishing" && now.Before(r.notBefore) { //workflowcheck:ignore
		state.Doing, state.Until = "waiting", r.notBefore.Format(time.RFC3339)
	}
	if state.Doing == "waiting" && !r.preparation.isDone() {
		state.Doing = "preparing"
	}
	return state, nil
}

// armAt is when the activities of a post are dispatched: ArmAt, or a second before
// its time if the view has none.
func armAt(v delivery.PostView) time.Time {
	if v.ArmAt.IsZero() {
		return v.ScheduledTime.Add(-time.Second)
	}
	return v.ArmAt
}

// read loads the post's current state.
func (r *postRun) read() error {
	r.state.Doing = "reading"
	r.inbox.isChanged = false
	var signals *activities.Publishing
	err := workflow.ExecuteLocalActivity(databaseOptions(r.ctx, "read the post"), signals.ReadPost, r.in.PostID).
		Get(r.ctx, &r.view)
	if err != nil {
		return err
	}
	return r.updateVisibility()
}

func (r *postRun) openTargets() []delivery.TargetView {
	return slices.DeleteFunc(slices.Clone(r.view.Targets), func(t delivery.TargetView) bool {
		return !t.Status.IsOpen()
	})
}

// wait sleeps until the given time. due is false if a signal arrived first.
func (r *postRun) wait(doing string, until time.Time) (due bool, err error) {
	left := until.Sub(workflow.Now(r.ctx))
	if left <= 0 {
		return r.inbox.isEmpty(), nil
	}
	r.state = StateResult{Doing: doing, Until: until.Format(time.RFC3339), Revision: r.view.Revision}
	timerCtx, stop := workflow.WithCancel(r.ctx)
	defer stop()
	timer := workflow.NewTimerWithOptions(timerCtx, left, workflow.TimerOptions{
		Summary: "until " + until.Format(time.RFC3339),
	})
	var timerErr error
	selector := workflow.NewSelector(r.ctx)
	selector.AddFuture(timer, func(f workflow.Future) {
		timerErr = f.Get(r.ctx, nil)
		due = true
	})
	r.inbox.listen(selector)
	selector.Select(r.ctx)
	// The timer wins over a signal that arrived with it, so check again.
	return due && timerErr == nil && r.inbox.isEmpty(), timerErr
}

// publish publishes the post to the given targets in parallel, not before the time
// given.
func (r *postRun) publish(targets []delivery.TargetView, notBefore time.Time) error {
	revision := r.view.Revision
	r.notBefore = notBefore
	r.state = StateResult{Doing: "publishing", Revision: revision}
	var publish *activities.Publishing
	ctx, cancelTargets := workflow.WithCancel(r.ctx)
	defer cancelTargets()
	selector := workflow.NewSelector(r.ctx)
	left, completed, posted, canceled, isWoken := len(targets), true, 0, 0, false
	r.inbox.isWoken = false // nothing waits yet
	for _, target := range targets {
		future := r.afterPreparation(ctx, target.ID, func(ctx workflow.Context) workflow.Future {
			return workflow.ExecuteActivity(publishOptions(ctx, "publish to "+target.Network), publish.PublishTarget,
				delivery.TargetInput{
					PostID: r.in.PostID, TargetID: target.ID, Revision: revision,
					NotBefore: notBefore,
				})
		})
		selector.AddFuture(future, func(f workflow.Future) {
			left--
			var result delivery.TargetResult
			err := f.Get(r.ctx, &result)
			if wasCanceled(err) {
				canceled++
			} else if err != nil {
				workflow.GetLogger(r.ctx).Error("publishing ended without a result; reading the post again", "target",
					target.ID, "error", err)
			}
			completed = completed && err == nil && !result.Stale
			if err == nil && result.Recorded && result.Status == post.TargetPosted {
				posted++
			}
		})
	}
	r.inbox.listen(selector)
	for left > 0 {
		selector.Select(r.ctx)
		if err := r.applyCommands(); err != nil {
			return err
		}
		// An activity that waits at Temporal ends immediately, and the next attempt
		// follows. One that has claimed its target finishes: cancellation does not
		// reach it.
		if r.inbox.isWoken && !isWoken {
			isWoken = true
			cancelTargets()
		}
		if !r.inbox.isChanged {
			continue
		}
		if err := r.read(); err != nil {
			return err
		}
		r.state.Doing = "publishing"
		// None of these activities has claimed a post that could still be changed. One
		// that waits for a long retry must not delay the current revision.
		if r.view.Revision != revision || workflow.GetInfo(r.ctx).GetContinueAsNewSuggested() {
			cancelTargets()
		}
	}
	// It was read after its change, and nothing has changed it since.
	r.isCurrent = canceled == len(targets) && !notBefore.IsZero() && !isWoken
	if !completed && !isWoken {
		r.backoff.failed(revision, workflow.Now(r.ctx))
	}
	if posted == len(targets) && r.view.Revision == revision {
		return r.finishPosted(targets)
	}
	return nil
}

// wasCanceled reports whether an activity ended because the workflow canceled it:
// immediately, or when it was about to wait at Temporal.
func wasCanceled(err error) bool {
	var failure *temporal.ApplicationError
	return temporal.IsCanceledError(err) || errors.As(err, &failure) && failure.Type() == activities.ErrNotDue
}

// finishPosted updates the view after the targets given are posted, which their
// activities have recorded: nearly every post ends this way, and need not be read
// again.
func (r *postRun) finishPosted(targets []delivery.TargetView) error {
	for i, t := range r.view.Targets {
		published := slices.ContainsFunc(targets, func(p delivery.TargetView) bool { return p.ID == t.ID })
		if !published && t.Status != post.TargetPosted {
			return nil
		}
		r.view.Targets[i].Status = post.TargetPosted
	}
	r.view.Status, r.isCurrent = post.Posted, true
	return r.updateVisibility()
}

// applyCommands applies the commands that operators sent by signals; acceptUpdates handles the others.
func (r *postRun) applyCommands() error {
	var signals *activities.Publishing
	for _, command := range r.inbox.takeCommands() {
		command.PostID = r.in.PostID
		err := workflow.ExecuteLocalActivity(databaseOptions(r.ctx, "signal "+command.Name), signals.ApplyCommand,
			command).Get(r.ctx, nil)
		if err != nil {
			return err
		}
		r.inbox.isChanged = true
	}
	return nil
}

// retryBackoff counts the attempts at one revision that ended without a result for
// every target. They should be rare and temporary; if they are not, each waits
// longer than the one before.
type retryBackoff struct {
	revision int64
	failures int
	last     time.Time
}

func (t *retryBackoff) failed(revision int64, now time.Time) {
	if t.revision != revision {
		t.revision, t.failures = revision, 0
	}
	t.failures++
	t.last = now
}

// next is when a revision may be published.
func (t *retryBackoff) next(revision int64) time.Time {
	if t.revision != revision {
		return time.Time{}
	}
	return t.last.Add(min(500*time.Millisecond<<min(t.failures, 10), 30*time.Second))
}
