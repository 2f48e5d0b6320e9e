package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// SubscribeToHubsWorkflow is the name of the workflow that subscribes to the hubs of feeds.
const SubscribeToHubsWorkflow = "SubscribeToHubs"

// SubscribeToHubsSchedule is the id of its schedule.
const SubscribeToHubsSchedule = "subscribe-to-hubs"

// SubscribeToHubs requests and renews the subscriptions to hubs that are due. A schedule
// runs it every minute. Rows decide what is due, so a failed run loses nothing.
func SubscribeToHubs(ctx workflow.Context) (requested int, err error) {
	var w *activities.WebSub
	options := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 30 * time.Minute,
		HeartbeatTimeout:    5 * time.Minute, // a feed is fetched in its turn
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 5,
		},
		Summary: "Subscribe to the hubs of feeds",
	})
	err = workflow.ExecuteActivity(options, w.SubscribeToHubs).Get(ctx, &requested)
	return requested, err
}
