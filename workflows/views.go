package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// Names of the workflows of view counting.
const (
	FlushViewsWorkflow    = "FlushViews"
	MaintainViewsWorkflow = "MaintainViews"
)

// IDs of their schedules.
const (
	FlushViewsSchedule    = "flush-views"
	MaintainViewsSchedule = "maintain-views"
)

// FlushViewsResult is the outcome of a run.
type FlushViewsResult struct {
	Flush activities.FlushResult
	Check activities.CheckResult
}

// FlushViews writes view counts from Redis to the database, and compares both
// once an hour. A schedule runs it every minute. It needs no compensation: the
// next run continues where a failed one stopped.
func FlushViews(ctx workflow.Context) (result FlushViewsResult, err error) {
	var views *activities.Views
	if err := workflow.ExecuteActivity(viewsActivityOptions(ctx, "Flush view counts to the database"),
		views.FlushViews).Get(ctx, &result.Flush); err != nil {
		return result, err
	}
	if result.Flush.Busy {
		return result, nil // another flush is in progress
	}
	err = workflow.ExecuteActivity(viewsActivityOptions(ctx, "Compare Redis with the database once an hour"),
		views.CheckViews).Get(ctx, &result.Check)
	return result, err
}

// MaintainViews rolls hours up to days and months, and deletes expired counts.
// A schedule runs it every hour.
func MaintainViews(ctx workflow.Context) (result activities.MaintainViewsResult, err error) {
	var views *activities.Views
	err = workflow.ExecuteActivity(viewsActivityOptions(ctx, "Roll up hours and days"), views.MaintainViews).Get(ctx,
		&result)
	return result, err
}

// viewsActivityOptions allows for long runs: seeding every page after a loss of
// Redis takes long. A retry continues where the last attempt stopped.
func viewsActivityOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour,
		HeartbeatTimeout:    30 * time.Second,
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second, MaximumAttempts: 5,
		},
		Summary: summary,
	})
}
