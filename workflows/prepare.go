package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
)

// preparation is the work on a revision ahead of its time.
type preparation struct {
	revision int64
	targets  map[uuid.UUID]workflow.Future
	stop     workflow.CancelFunc
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

// prepareAhead uploads attachments ahead of the post's time. again means that
// something changed while it waited.
func (r *postRun) prepareAhead(targets []delivery.TargetView) (again bool, err error) {
	if r.preparation != nil && r.preparation.revision != r.view.Revision {
		r.preparation.stop()
		r.preparation = nil
	}
	at := r.view.PrepareAt
	// Close to its time there is nothing to gain: publishing prepares what is missing.
	tooClose := !workflow.Now(r.ctx).Before(armAt(r.view).Add(-5 * time.Second))
	if r.preparation != nil || at.IsZero() || r.view.Status != post.Scheduled || tooClose {
		return false, nil
	}
	due, err := r.wait("waiting", at)
	if err != nil || !due {
		return true, err
	}
	r.preparation = r.startPreparing(targets)
	return false, nil
}

func (r *postRun) startPreparing(targets []delivery.TargetView) *preparation {
	ctx, stop := workflow.WithCancel(r.ctx)
	p := &preparation{revision: r.view.Revision, targets: map[uuid.UUID]workflow.Future{}, stop: stop}
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
