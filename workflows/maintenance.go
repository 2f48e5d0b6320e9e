package workflows

import (
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/publishing/delivery"
)

// ReconcilePosts starts or signals posts whose workflow is missing or missed a
// change. A schedule runs it.
func ReconcilePosts(ctx workflow.Context) (delivery.RecoveryResult, error) {
	var publishing *activities.Publishing
	var result delivery.RecoveryResult
	err := workflow.ExecuteActivity(housekeepingOptions(ctx), publishing.ReconcilePosts).Get(ctx, &result)
	return result, err
}

// MaterializeSeries creates the posts of recurring series. A schedule runs it.
func MaterializeSeries(ctx workflow.Context) (activities.MaterializeResult, error) {
	var series *activities.Series
	var result activities.MaterializeResult
	err := workflow.ExecuteActivity(housekeepingOptions(ctx), series.MaterializeSeries).Get(ctx, &result)
	return result, err
}

// SweepMedia deletes unused media. A schedule runs it.
func SweepMedia(ctx workflow.Context) (activities.SweepResult, error) {
	var library *activities.Library
	var result activities.SweepResult
	err := workflow.ExecuteActivity(housekeepingOptions(ctx), library.SweepMedia).Get(ctx, &result)
	return result, err
}
