package workflows

import (
	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/publishing/delivery"
)

// preparation is the work on a revision ahead of its time.
type preparation struct {
	targets map[uuid.UUID]workflow.Future
	stop    workflow.CancelFunc
}

// isDone reports whether no target is being prepared.
func (p *preparation) isDone() bool {
	if p == nil {
		return true
	}
	for _, f := range p.targets { //workflowcheck:ignore // the order makes no difference
		if !f.IsReady() {
			return false
		}
	}
	return true
}

// prepare uploads attachments ahead of the post's time.
func (r *postRun) prepare(s step) (event, error) {
	if due, err := r.wait("waiting", s.at); !due || err != nil {
		return r.receiveAgain(), err
	}
	r.preparation = r.startPreparing(s.targets)
	r.prepared = r.view.Revision
	return eventUnchanged, nil
}

// stopPreparing cancels what prepare started.
func (r *postRun) stopPreparing() event {
	r.preparation.stop()
	r.preparation, r.prepared = nil, 0
	return eventUnchanged
}

func (r *postRun) startPreparing(targets []delivery.TargetView) *preparation {
	ctx, stop := workflow.WithCancel(r.ctx)
	p := &preparation{targets: map[uuid.UUID]workflow.Future{}, stop: stop}
	var publish *activities.Publishing
	for _, target := range targets {
		future := workflow.ExecuteActivity(prepareOptions(ctx, "prepare for "+target.Network), publish.PrepareTarget,
			delivery.TargetInput{PostID: r.in.PostID, TargetID: target.ID, Revision: r.view.Revision})
		p.targets[target.ID] = future
		workflow.Go(r.ctx, func(ctx workflow.Context) {
			if err := future.Get(ctx, nil); err != nil && !temporal.IsCanceledError(err) {
				workflow.GetLogger(ctx).Warn("not prepared ahead; publishing prepares it", "target", target.ID, "error",
					err)
			}
		})
	}
	return p
}

// afterPreparation starts what follows a target's preparation once that is done, so
// that nothing is uploaded twice. An upload that hangs delays its target until the
// post's time and no longer: then it is canceled, and publishing uploads what is
// missing. It never delays another target.
func (r *postRun) afterPreparation(
	ctx workflow.Context, target uuid.UUID, start func(workflow.Context) workflow.Future,
) workflow.Future {
	if r.preparation == nil {
		return start(ctx)
	}
	preparation, stop := r.preparation.targets[target], r.preparation.stop
	left := r.view.ScheduledTime.Sub(workflow.Now(r.ctx))
	if preparation == nil || preparation.IsReady() || left <= 0 {
		return start(ctx)
	}
	started, settable := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		timerCtx, stopTimer := workflow.WithCancel(ctx)
		defer stopTimer()
		workflow.NewSelector(ctx).
			AddFuture(preparation, func(workflow.Future) {}).
			AddFuture(workflow.NewTimer(timerCtx, left), func(workflow.Future) { stop() }).
			Select(ctx)
		settable.Chain(start(ctx))
	})
	return started
}
