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
	// A cancel request is heard like the cancel signal. It must not tear down
	// a call that is under way, so the work has a context of its own.
	work, _ := workflow.NewDisconnectedContext(ctx)
	r := &postRun{ctx: work, in: in, inbox: newInbox(ctx, work)}
	if err := workflow.SetQueryHandler(work, QueryState, r.doing); err != nil {
		return PostResult{}, err
	}
	if in.Shown {
		r.shown = shownAtStart(work)
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
	ctx   workflow.Context
	in    PostInput
	inbox *inbox
	view  delivery.PostView
	shown shown
	state StateResult
	tries tries
	known bool // the view is what the post is now
	// notBefore is when the activities under way are dispatched; zero: at once.
	notBefore time.Time
	ready     *preparation // what is, or was, prepared; nil: nothing yet
}

func (r *postRun) run() error {
	for {
		// Signals first: one that came with the timer counts as before it.
		if err := r.applyCommands(); err != nil {
			return err
		}
		if !r.known || !r.inbox.empty() {
			if err := r.read(); err != nil {
				return err
			}
		}
		r.known = false
		targets := r.openTargets()
		// A draft has no time yet; scheduling it starts the workflow anew.
		r.inbox.idle = r.view.Status.IsFinal() || r.view.Status == post.Draft || len(targets) == 0
		if r.inbox.idle {
			if done, err := r.park(); done || err != nil {
				return err
			}
			continue
		}
		if workflow.GetInfo(r.ctx).GetContinueAsNewSuggested() && r.inbox.empty() {
			return workflow.NewContinueAsNewError(r.ctx, PostWorkflow, r.in)
		}
		if again, err := r.prepare(targets); again || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		until, notBefore := r.tries.next(r.view.Revision), time.Time{}
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

// doing answers QueryState.
func (r *postRun) doing() (StateResult, error) {
	state := r.state
	// No step of the workflow tells that its activities have been dispatched. The
	// answer to a query is not part of the history, so it may look at the clock.
	if now := time.Now(); state.Doing == "publishing" && now.Before(r.notBefore) { //workflowcheck:ignore
		state.Doing, state.Until = "waiting", r.notBefore.Format(time.RFC3339)
	}
	if state.Doing == "waiting" && !r.ready.over() {
		state.Doing = "preparing"
	}
	return state, nil
}

// armAt is when the activities of a post are dispatched. Views of an older
// build do not say; those posts were armed a second before their time.
func armAt(v delivery.PostView) time.Time {
	if v.ArmAt.IsZero() {
		return v.ScheduledTime.Add(-time.Second)
	}
	return v.ArmAt
}

// read loads the post as it stands now.
func (r *postRun) read() error {
	r.state.Doing = "reading"
	r.inbox.changed = false
	var signals *activities.Publishing
	err := workflow.ExecuteLocalActivity(rows(r.ctx, "read the post"), signals.ReadPost, r.in.PostID).Get(r.ctx, &r.view)
	if err != nil {
		return err
	}
	return r.show()
}

func (r *postRun) openTargets() []delivery.TargetView {
	return slices.DeleteFunc(slices.Clone(r.view.Targets), func(t delivery.TargetView) bool { return !t.Status.IsOpen() })
}

// wait sleeps until the time given. due is false when a signal came first.
func (r *postRun) wait(doing string, until time.Time) (due bool, err error) {
	left := until.Sub(workflow.Now(r.ctx))
	if left <= 0 {
		return r.inbox.empty(), nil
	}
	r.state = StateResult{Doing: doing, Until: until.Format(time.RFC3339), Revision: r.view.Revision}
	timerCtx, stop := workflow.WithCancel(r.ctx)
	defer stop()
	timer := workflow.NewTimerWithOptions(timerCtx, left, workflow.TimerOptions{Summary: "until " + until.Format(time.RFC3339)})
	var timerErr error
	selector := workflow.NewSelector(r.ctx)
	selector.AddFuture(timer, func(f workflow.Future) {
		timerErr = f.Get(r.ctx, nil)
		due = true
	})
	r.inbox.listen(selector)
	selector.Select(r.ctx)
	// The timer wins over a signal that came with it, so look again.
	return due && timerErr == nil && r.inbox.empty(), timerErr
}

// publish brings the post to the given targets, side by side, not before the
// time given.
func (r *postRun) publish(targets []delivery.TargetView, notBefore time.Time) error {
	revision := r.view.Revision
	r.notBefore = notBefore
	r.state = StateResult{Doing: "publishing", Revision: revision}
	var publish *activities.Publishing
	ctx, callOff := workflow.WithCancel(r.ctx)
	defer callOff()
	selector := workflow.NewSelector(r.ctx)
	left, answered, posted, calledOff, woken := len(targets), true, 0, 0, false
	r.inbox.woken = false // nothing waits yet
	for _, target := range targets {
		future := r.prepared(ctx, target.ID, func(ctx workflow.Context) workflow.Future {
			return workflow.ExecuteActivity(publishing(ctx, "publish to "+target.Network), publish.PublishTarget,
				delivery.TargetInput{PostID: r.in.PostID, TargetID: target.ID, Revision: revision, NotBefore: notBefore})
		})
		selector.AddFuture(future, func(f workflow.Future) {
			left--
			var result delivery.TargetResult
			err := f.Get(r.ctx, &result)
			if wasCalledOff(err) {
				calledOff++
			} else if err != nil {
				workflow.GetLogger(r.ctx).Error("publishing ended without an answer; reading the post anew", "target", target.ID, "error", err)
			}
			answered = answered && err == nil && !result.Stale
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
		// An activity that waits at Temporal ends at once, and the next round asks
		// anew. One that has claimed its target finishes: cancellation
		// does not reach it.
		if r.inbox.woken && !woken {
			woken = true
			callOff()
		}
		if !r.inbox.changed {
			continue
		}
		if err := r.read(); err != nil {
			return err
		}
		r.state.Doing = "publishing"
		// A post that could still be changed was claimed by none of these
		// activities. One that sits out a long pause must not hold back what the
		// post is now.
		if r.view.Revision != revision || workflow.GetInfo(r.ctx).GetContinueAsNewSuggested() {
			callOff()
		}
	}
	// It was read when it had changed, and nothing has been done to it since.
	r.known = calledOff == len(targets) && !notBefore.IsZero() && !woken
	if !answered && !woken {
		r.tries.failed(revision, workflow.Now(r.ctx))
	}
	if posted == len(targets) && r.view.Revision == revision {
		return r.ended(targets)
	}
	return nil
}

// wasCalledOff says whether an activity ended because the workflow no longer
// wanted it: at once, or as it was about to wait at Temporal.
func wasCalledOff(err error) bool {
	var failure *temporal.ApplicationError
	return temporal.IsCanceledError(err) || errors.As(err, &failure) && failure.Type() == activities.ErrNotDue
}

// ended notes that the targets given are posted, which their activities have
// recorded: nearly every post ends so, and need not be read once more.
func (r *postRun) ended(targets []delivery.TargetView) error {
	for i, t := range r.view.Targets {
		published := slices.ContainsFunc(targets, func(p delivery.TargetView) bool { return p.ID == t.ID })
		if !published && t.Status != post.TargetPosted {
			return nil
		}
		r.view.Targets[i].Status = post.TargetPosted
	}
	r.view.Status, r.known = post.Posted, true
	return r.show()
}

// applyCommands applies the commands that operators sent by signals.
func (r *postRun) applyCommands() error {
	var signals *activities.Publishing
	for _, command := range r.inbox.take() {
		command.PostID = r.in.PostID
		err := workflow.ExecuteLocalActivity(rows(r.ctx, "signal "+command.Name), signals.ApplyCommand, command).Get(r.ctx, nil)
		if err != nil {
			return err
		}
		r.inbox.changed = true
	}
	return nil
}

// tries counts the rounds of publishing one revision that ended without an
// answer for every target. They should be rare and cure themselves; should they
// not, each waits longer than the one before.
type tries struct {
	revision int64
	rounds   int
	last     time.Time
}

func (t *tries) failed(revision int64, now time.Time) {
	if t.revision != revision {
		t.revision, t.rounds = revision, 0
	}
	t.rounds++
	t.last = now
}

// next is when a revision may be tried.
func (t *tries) next(revision int64) time.Time {
	if t.revision != revision {
		return time.Time{}
	}
	return t.last.Add(min(500*time.Millisecond<<min(t.rounds, 10), 30*time.Second))
}
