package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/post"
)

// preparation is what is being done for a revision ahead of its time.
type preparation struct {
	revision int64
	over     workflow.Future // when every target is prepared, or could not be
	stop     workflow.CancelFunc
}

// prepare has attachments uploaded ahead of the post's time. again says that
// something changed while it waited for that moment.
func (r *postRun) prepare(targets []activities.TargetView) (again bool, err error) {
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

func (r *postRun) startPreparing(targets []activities.TargetView) *preparation {
	ctx, stop := workflow.WithCancel(r.ctx)
	over, end := workflow.NewFuture(r.ctx)
	var publish *activities.Publish
	var futures []workflow.Future
	for _, target := range targets {
		futures = append(futures, workflow.ExecuteActivity(preparing(ctx, "prepare for "+target.Network), publish.PrepareTarget,
			activities.TargetInput{PostID: r.in.PostID, TargetID: target.ID, Revision: r.view.Revision}))
	}
	workflow.Go(r.ctx, func(ctx workflow.Context) {
		for _, f := range futures {
			if err := f.Get(ctx, nil); err != nil && !temporal.IsCanceledError(err) {
				workflow.GetLogger(ctx).Warn("not prepared; publishing does it", "error", err)
			}
		}
		end.SetValue(nil)
	})
	return &preparation{revision: r.view.Revision, over: over, stop: stop}
}

// prepared waits for uploads that are under way, so that they are not made
// twice. false means that something came in first.
func (r *postRun) prepared() bool {
	if r.ready == nil || r.ready.over.IsReady() {
		return r.inbox.empty()
	}
	r.state.Doing = "preparing"
	selector := workflow.NewSelector(r.ctx)
	selector.AddFuture(r.ready.over, func(workflow.Future) {})
	r.inbox.listen(selector)
	selector.Select(r.ctx)
	return r.ready.over.IsReady() && r.inbox.empty()
}
