package workflows

import (
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// SweepMedia deletes media that nothing needs. A schedule runs it.
func SweepMedia(ctx workflow.Context) (activities.SweepResult, error) {
	var library *activities.Library
	var result activities.SweepResult
	err := workflow.ExecuteActivity(housekeeping(ctx), library.SweepMedia).Get(ctx, &result)
	return result, err
}
