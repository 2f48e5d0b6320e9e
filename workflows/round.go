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

// round is one publication of a revision, to all of its targets in parallel.
type round struct {
	run       *postRun
	revision  int64
	notBefore time.Time
	targets   []delivery.TargetView
	results   results
	ctx       workflow.Context
	cancel    workflow.CancelFunc // of targets that have not claimed the post
}

// publish waits for a publication's time, and publishes.
func (r *postRun) publish(s step) (event, error) {
	if due, err := r.wait("waiting", s.at); !due || err != nil {
		return r.receiveAgain(), err
	}
	ctx, cancel := workflow.WithCancel(r.ctx)
	defer cancel()
	once := round{
		run: r, revision: r.view.Revision, notBefore: s.notBefore, targets: s.targets,
		results: results{targets: len(s.targets)}, ctx: ctx, cancel: cancel,
	}
	r.round = &once
	r.doing = StateResult{Doing: "publishing", Revision: once.revision}
	r.inbox.isWoken = false // nothing waits yet
	if err := once.publish(); err != nil {
		return eventChanged, err
	}
	return r.conclude(once)
}

// publish handles signals until every target has ended.
func (p *round) publish() error {
	ended := workflow.NewSelector(p.run.ctx)
	for _, target := range p.targets {
		ended.AddFuture(p.start(target), func(f workflow.Future) { p.end(target, f) })
	}
	p.run.inbox.listen(ended)
	for !p.results.isOver() {
		ended.Select(p.run.ctx)
		if err := p.handleSignals(); err != nil {
			return err
		}
	}
	return nil
}

// start dispatches the activity of a target.
func (p *round) start(target delivery.TargetView) workflow.Future {
	var publishing *activities.Publishing
	return p.run.afterPreparation(p.ctx, target.ID, func(ctx workflow.Context) workflow.Future {
		return workflow.ExecuteActivity(publishOptions(ctx, "publish to "+target.Network), publishing.PublishTarget,
			delivery.TargetInput{
				PostID: p.run.in.PostID, TargetID: target.ID, Revision: p.revision, NotBefore: p.notBefore,
			})
	})
}

// end counts the result of a target.
func (p *round) end(target delivery.TargetView, f workflow.Future) {
	var result delivery.TargetResult
	err := f.Get(p.run.ctx, &result)
	if err != nil && !wasCanceled(err) {
		workflow.GetLogger(p.run.ctx).Error("publishing ended without a result; reading the post again", "target",
			target.ID, "error", err)
	}
	p.results.add(endOf(result, err))
}

// handleSignals applies what has arrived while targets are published.
func (p *round) handleSignals() error {
	r := p.run
	if err := r.applyCommands(); err != nil {
		return err
	}
	// An activity that waits at Temporal ends immediately, and the next attempt
	// follows. One that has claimed its target finishes: cancellation does not
	// reach it.
	if r.inbox.isWoken {
		p.results.isWoken = true
		p.cancel()
	}
	if !r.inbox.isChanged {
		return nil
	}
	if err := r.read(); err != nil {
		return err
	}
	r.doing.Doing = "publishing"
	// None of these activities has claimed a post that could still be changed. One
	// that waits for a long retry must not delay the current revision.
	if r.view.Revision != p.revision || isFull(r.ctx) {
		p.cancel()
	}
	return nil
}

// conclude draws the conclusions from a round that is over.
func (r *postRun) conclude(p round) (event, error) {
	switch p.results.outcome() {
	case outcomePosted:
		if r.view.Revision == p.revision && r.allPosted(p.targets) {
			r.view.Status = post.Posted
			err := r.updateVisibility()
			return r.receive(), err
		}
	case outcomeCanceled:
		r.backoff.failed(p.revision, workflow.Now(r.ctx))
		if !p.notBefore.IsZero() {
			// It was read after its change, and nothing has changed it since.
			return r.receive(), nil
		}
	case outcomeIncomplete:
		r.backoff.failed(p.revision, workflow.Now(r.ctx))
	case outcomeComplete, outcomeWoken:
	}
	return r.receiveAgain(), nil
}

// allPosted updates the view after the targets given are posted, which their
// activities have recorded: nearly every post ends this way, and need not be read
// again.
func (r *postRun) allPosted(targets []delivery.TargetView) bool {
	for i, t := range r.view.Targets {
		published := slices.ContainsFunc(targets, func(p delivery.TargetView) bool { return p.ID == t.ID })
		if !published && t.Status != post.TargetPosted {
			return false
		}
		r.view.Targets[i].Status = post.TargetPosted
	}
	return true
}

// wasCanceled reports whether an activity ended because the workflow canceled it:
// immediately, or when it was about to wait at Temporal.
func wasCanceled(err error) bool {
	var failure *temporal.ApplicationError
	return temporal.IsCanceledError(err) || errors.As(err, &failure) && failure.Type() == activities.ErrNotDue
}

// end is how a target's activity ended.
type end int

const (
	endPosted     end = iota // posted, and its activity has recorded that
	endComplete              // with another result, which is in the database
	endCanceled              // by the workflow
	endIncomplete            // without a result, or the post has changed
)

func endOf(result delivery.TargetResult, err error) end {
	switch {
	case wasCanceled(err):
		return endCanceled
	case err != nil || result.Stale:
		return endIncomplete
	case result.Recorded && result.Status == post.TargetPosted:
		return endPosted
	default:
		return endComplete
	}
}

// results counts how the targets of a round have ended.
type results struct {
	targets int
	ended   [endIncomplete + 1]int
	isWoken bool // targets that waited at Temporal were canceled, to try again
}

func (r *results) add(e end) { r.ended[e]++ }

func (r *results) isOver() bool {
	left := r.targets
	for _, n := range r.ended {
		left -= n
	}
	return left == 0
}

// outcome is how a round ended.
type outcome int

const (
	outcomePosted     outcome = iota // every target is posted
	outcomeComplete                  // every target has a result
	outcomeWoken                     // what waited tries again at once
	outcomeCanceled                  // no target has begun
	outcomeIncomplete                // a target has no result: it is tried again, a little later
)

func (r *results) outcome() outcome {
	switch {
	case r.ended[endPosted] == r.targets:
		return outcomePosted
	case r.isWoken:
		return outcomeWoken
	case r.ended[endCanceled] == r.targets:
		return outcomeCanceled
	case r.ended[endCanceled]+r.ended[endIncomplete] > 0:
		return outcomeIncomplete
	default:
		return outcomeComplete
	}
}
