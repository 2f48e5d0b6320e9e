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

// preparation is what is being done for a revision ahead of its time.
type preparation struct {
	revision int64
	targets  map[uuid.UUID]workflow.Future
	stop     workflow.CancelFunc
}

// over says whether nothing is being prepared any more.
func (p *preparation) over() bool {
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

// prepare has attachments uploaded ahead of the post's time. again says that
// something changed while it waited for that moment.
func (r *postRun) prepare(targets []delivery.TargetView) (again bool, err error) {
	if r.ready != nil && r.ready.revision != r.view.Revision {
		r.ready.stop()
		r.ready = nil
	}
	at := r.view.PrepareAt
	// Too close to its time to gain anything: publishing prepares what is not.
	tooClose := !workflow.Now(r.ctx).Before(armAt(r.view).Add(-5 * time.Second))
	if r.ready != nil || at.IsZero() || r.view.Status != post.Scheduled || tooClose {
		return false, nil
	}
	due, err := r.wait("waiting", at)
	if err != nil || !due {
		return true, err
	}
	r.ready = r.startPreparing(targets)
	return false, nil
}

func (r *postRun) startPreparing(targets []delivery.TargetView) *preparation {
	ctx, stop := workflow.WithCancel(r.ctx)
	p := &preparation{revision: r.view.Revision, targets: map[uuid.UUID]workflow.Future{}, stop: stop}
	var publish *activities.Publishing
	for _, target := range targets {
		future := workflow.ExecuteActivity(preparing(ctx, "prepare for "+target.Network), publish.PrepareTarget,
			delivery.TargetInput{PostID: r.in.PostID, TargetID: target.ID, Revision: r.view.Revision})
		p.targets[target.ID] = future
		workflow.Go(r.ctx, func(ctx workflow.Context) {
			if err := future.Get(ctx, nil); err != nil && !temporal.IsCanceledError(err) {
				workflow.GetLogger(ctx).Warn("not prepared; publishing does it", "target", target.ID, "error", err)
			}
		})
	}
	return p
}

// prepared starts what follows a target's preparation once that is over, so that
// nothing is uploaded twice. An upload that hangs keeps the target until the
// post's time and no longer: then it is called off, and publishing uploads what
// is missing. It never keeps another target.
func (r *postRun) prepared(ctx workflow.Context, target uuid.UUID, start func(workflow.Context) workflow.Future) workflow.Future {
	if r.ready == nil {
		return start(ctx)
	}
	preparation, stop := r.ready.targets[target], r.ready.stop
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
