package workflows

import (
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// MaterializeSeries makes posts of what recurs. A schedule runs it.
func MaterializeSeries(ctx workflow.Context) (activities.MaterializeResult, error) {
	var series *activities.Series
	var result activities.MaterializeResult
	err := workflow.ExecuteActivity(housekeeping(ctx), series.MaterializeSeries).Get(ctx, &result)
	return result, err
}
