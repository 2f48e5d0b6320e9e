package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/publishing/post"
)

// Post publishes one scheduled post; doc.go draws it.
func Post(ctx workflow.Context, in PostInput) (PostResult, error) {
	// A cancel request is handled like the cancel signal. It must not end a call in
	// flight, so the work has a context of its own.
	work, _ := workflow.NewDisconnectedContext(ctx)
	r := &postRun{ctx: work, in: in, inbox: newInbox(ctx, work)}
	if err := r.setUp(); err != nil {
		return PostResult{}, err
	}
	if err := r.run(); err != nil {
		return PostResult{}, err
	}
	if r.view.Status == post.Canceled && ctx.Err() != nil {
		return PostResult{Status: string(r.view.Status)}, ctx.Err()
	}
	return PostResult{Status: string(r.view.Status)}, nil
}

// postRun executes what next decides.
type postRun struct {
	state
	ctx         workflow.Context
	in          PostInput
	inbox       *inbox
	visible     visibility
	doing       StateResult
	round       *round       // the last one; nil: nothing was published yet
	preparation *preparation // of the targets; nil: not started
	isAnswered  bool         // an update was answered, and the server may not know it yet
}

func (r *postRun) setUp() error {
	if err := workflow.SetQueryHandler(r.ctx, QueryState, r.queryState); err != nil {
		return err
	}
	if err := r.acceptUpdates(); err != nil {
		return err
	}
	if r.in.HasSearchAttributes {
		r.visible = visibilityAtStart(r.ctx)
	}
	if r.in.View == nil {
		r.inbox.isChanged = true // it was never read
		return nil
	}
	r.view, r.in.View = *r.in.View, nil
	return r.updateVisibility()
}

func (r *postRun) run() error {
	for e := r.receive(); ; {
		var err error
		switch s := next(r.state, e, workflow.Now(r.ctx)); s.do {
		case doApply:
			e, err = eventChanged, r.applyCommands()
		case doRead:
			err = r.read()
			e = r.observe()
		case doAnswer:
			err = r.answerUpdates()
			e = r.receiveAgain()
		case doStopPreparing:
			e = r.stopPreparing()
		case doPrepare:
			e, err = r.prepare(s)
		case doPublish:
			e, err = r.publish(s)
		case doPark:
			e, err = r.park(s)
		case doContinueAsNew, doEnd, doEndCanceled:
			if !r.mustDeliverAnswers() {
				return r.end(s)
			}
			err = r.deliverAnswers()
			e = r.receiveAgain()
		}
		if err != nil {
			return err
		}
	}
}

// receive returns what has arrived. A signal that arrived with a timer counts as before
// it.
func (r *postRun) receive() event {
	if e := r.inbox.news(); e != eventUnchanged {
		return e
	}
	return r.observe()
}

// receiveAgain is receive after a wait, in which the post may have changed without a
// signal.
func (r *postRun) receiveAgain() event {
	r.inbox.isChanged = true
	return r.receive()
}

// observe returns what else concerns the next step once the post is known.
func (r *postRun) observe() event {
	r.inbox.isIdle = r.isIdle()
	if !r.inbox.isIdle && !isFull(r.ctx) {
		return eventUnchanged // what arrives from now on ends the wait that follows
	}
	if !workflow.AllHandlersFinished(r.ctx) {
		return eventAnswering
	}
	e := r.inbox.news()
	switch {
	case e != eventUnchanged:
		return e
	case r.inbox.isIdle && r.inbox.outer.Err() != nil:
		return eventCanceled
	case isFull(r.ctx):
		return eventFull
	default:
		return eventUnchanged
	}
}

func isFull(ctx workflow.Context) bool { return workflow.GetInfo(ctx).GetContinueAsNewSuggested() }

// queryState handles QueryState.
func (r *postRun) queryState() (StateResult, error) {
	state := r.doing
	// No event in the history shows that its activities have been dispatched. The
	// result of a query is not part of the history, so it may read the clock.
	if state.Doing == "publishing" && time.Now().Before(r.round.notBefore) { //workflowcheck:ignore
		state.Doing, state.Until = "waiting", r.round.notBefore.Format(time.RFC3339)
	}
	if state.Doing == "waiting" && !r.preparation.isDone() {
		state.Doing = "preparing"
	}
	return state, nil
}

// read loads the post's current state.
func (r *postRun) read() error {
	r.doing.Doing = "reading"
	r.inbox.isChanged = false
	var publishing *activities.Publishing
	err := workflow.ExecuteLocalActivity(databaseOptions(r.ctx, "read the post"), publishing.ReadPost, r.in.PostID).
		Get(r.ctx, &r.view)
	if err != nil {
		return err
	}
	return r.updateVisibility()
}

// applyCommands applies the commands that operators sent by signals; acceptUpdates handles the others.
func (r *postRun) applyCommands() error {
	var publishing *activities.Publishing
	for _, command := range r.inbox.takeCommands() {
		command.PostID = r.in.PostID
		err := workflow.ExecuteLocalActivity(databaseOptions(r.ctx, "signal "+command.Name), publishing.ApplyCommand,
			command).Get(r.ctx, nil)
		if err != nil {
			return err
		}
		r.inbox.isChanged = true
	}
	return nil
}

// wait sleeps until the given time. due is false if something arrived first.
func (r *postRun) wait(doing string, until time.Time) (due bool, err error) {
	left := until.Sub(workflow.Now(r.ctx))
	if left <= 0 {
		return r.inbox.isEmpty(), nil
	}
	r.doing = StateResult{Doing: doing, Until: until.Format(time.RFC3339), Revision: r.view.Revision}
	timerCtx, stop := workflow.WithCancel(r.ctx)
	defer stop()
	timer := workflow.NewTimerWithOptions(timerCtx, left, workflow.TimerOptions{
		Summary: "until " + until.Format(time.RFC3339),
	})
	selector := workflow.NewSelector(r.ctx)
	selector.AddFuture(timer, func(f workflow.Future) { due, err = true, f.Get(r.ctx, nil) })
	r.inbox.listen(selector)
	selector.Select(r.ctx)
	// The timer wins over a signal that arrived with it, so check again.
	return due && err == nil && r.inbox.isEmpty(), err
}

// end ends the workflow, or this run of it.
func (r *postRun) end(s step) error {
	if s.do == doContinueAsNew {
		return workflow.NewContinueAsNewError(r.ctx, PostWorkflow, r.in)
	}
	r.doing = StateResult{Doing: "done", Revision: r.view.Revision}
	if s.do == doEndCanceled {
		return r.inbox.outer.Err()
	}
	return nil
}
