package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// CheckWatchesWorkflow is the name of the workflow that checks watched pages.
const CheckWatchesWorkflow = "CheckWatches"

// CheckWatchesSchedule is the id of its schedule.
const CheckWatchesSchedule = "check-watches"

// CheckWatches checks watched pages that are due. A schedule runs it every minute. Rows
// decide what is due, so a failed run loses nothing.
func CheckWatches(ctx workflow.Context) (result activities.WatchResult, err error) {
	var w *activities.Watches
	options := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 30 * time.Minute,
		HeartbeatTimeout:    5 * time.Minute, // a fetch waits for its turn
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 5,
		},
		Summary: "Check watched pages",
	})
	err = workflow.ExecuteActivity(options, w.CheckWatches).Get(ctx, &result)
	return result, err
}
