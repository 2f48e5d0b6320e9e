package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// Names of the workflows that keep the counts of views.
const (
	FlushViewsWorkflow    = "FlushViews"
	MaintainViewsWorkflow = "MaintainViews"
)

// Ids of the schedules that run them.
const (
	FlushViewsSchedule    = "flush-views"
	MaintainViewsSchedule = "maintain-views"
)

// FlushViewsResult is what a round did.
type FlushViewsResult struct {
	Flush activities.FlushResult
	Check activities.CheckResult
}

// FlushViews brings the counts from Redis to the database, and once an hour
// compares both. A schedule runs it every minute. What a run leaves, the next
// one finds; so there is nothing to decide but to go on.
func FlushViews(ctx workflow.Context) (result FlushViewsResult, err error) {
	var views *activities.Views
	if err := workflow.ExecuteActivity(viewsActivityOptions(ctx, "Brings the counts to the database"), views.FlushViews).Get(ctx, &result.Flush); err != nil {
		return result, err
	}
	if result.Flush.Busy {
		return result, nil // somebody else is at it
	}
	err = workflow.ExecuteActivity(viewsActivityOptions(ctx, "Compares Redis with the database, once an hour"), views.CheckViews).Get(ctx, &result.Check)
	return result, err
}

// MaintainViews rolls hours up to days and months, and drops what is too old. A
// schedule runs it every hour.
func MaintainViews(ctx workflow.Context) (result activities.MaintainViewsResult, err error) {
	var views *activities.Views
	err = workflow.ExecuteActivity(viewsActivityOptions(ctx, "Rolls up hours and days"), views.MaintainViews).Get(ctx, &result)
	return result, err
}

// viewsActivityOptions is for work on counts: short as a rule, long after a loss of Redis,
// when every page is filled in again. Each attempt goes on where the last one
// was.
func viewsActivityOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour,
		HeartbeatTimeout:    30 * time.Second,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second, MaximumAttempts: 5},
		Summary:             summary,
	})
}
