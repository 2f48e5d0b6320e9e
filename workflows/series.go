package workflows

import (
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// MaterialiseSeries makes posts of what recurs. A schedule runs it.
func MaterialiseSeries(ctx workflow.Context) (activities.MaterialiseResult, error) {
	var series *activities.Series
	var result activities.MaterialiseResult
	err := workflow.ExecuteActivity(housekeeping(ctx), series.MaterialiseSeries).Get(ctx, &result)
	return result, err
}
