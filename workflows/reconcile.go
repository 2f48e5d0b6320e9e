package workflows

import (
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/publishing/delivery"
)

// ReconcilePosts starts or signals posts whose workflow is missing or missed a
// change. A schedule runs it.
func ReconcilePosts(ctx workflow.Context) (delivery.RecoveryResult, error) {
	var reconciler *activities.Publishing
	var result delivery.RecoveryResult
	err := workflow.ExecuteActivity(housekeeping(ctx), reconciler.ReconcilePosts).Get(ctx, &result)
	return result, err
}
