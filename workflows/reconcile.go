package workflows

import (
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// ReconcilePosts starts or nudges posts whose workflow is missing or missed a
// change. A schedule runs it.
func ReconcilePosts(ctx workflow.Context) (activities.ReconcileResult, error) {
	var reconciler *activities.Reconciler
	var result activities.ReconcileResult
	err := workflow.ExecuteActivity(housekeeping(ctx), reconciler.ReconcilePosts).Get(ctx, &result)
	return result, err
}
