package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// retryForever retries until it works, with growing intervals. An outage of the
// database or of a network must delay a post, never lose it.
func retryForever(maxInterval time.Duration) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: maxInterval}
}

// unlimited outlasts every post. A local activity without a
// ScheduleToCloseTimeout would use its StartToCloseTimeout instead, and stop
// retrying after it.
const unlimited = 100 * 365 * 24 * time.Hour

// databaseOptions are for short, idempotent work on the database.
func databaseOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: unlimited,
		StartToCloseTimeout:    10 * time.Second,
		RetryPolicy:            retryForever(30 * time.Second),
		Summary:                summary,
	})
}

// publishOptions are for sending to a network. The activity counts its own
// attempts in the ledger, where waiting for a rate limit or for the database uses
// none, so Temporal sets no limit.
func publishOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 30 * time.Minute,
		HeartbeatTimeout:    publishHeartbeatTimeout,
		WaitForCancellation: true,
		RetryPolicy:         retryForever(30 * time.Second),
		Summary:             summary,
	})
}

// publishHeartbeatTimeout bounds what nothing else notices. A dead worker is
// detected within seconds from its row in the database (worker/registry.go), and a
// changed post ends its activity directly (delivery.InFlight). A heartbeat costs
// Temporal as much as a workflow step; those of a burst would cost more than
// everything else.
const publishHeartbeatTimeout = 10 * time.Minute

// prepareOptions are for work that is better done ahead of a post's time. Publishing
// does the rest.
func prepareOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 20 * time.Minute,
		HeartbeatTimeout:    15 * time.Second,
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumAttempts: 5,
		},
		Summary: summary,
	})
}

// deliveryOptions are for one attempt at a webhook's delivery. A failing endpoint is
// not an error here; errors come from the database and are temporary.
func deliveryOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         retryForever(time.Minute),
		Summary:             "Sends the event",
	})
}

// housekeepingOptions are for scheduled work that the next run would do as well.
func housekeepingOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 3},
	})
}

// crawlOptions are for crawling a domain's queue, which takes minutes. A failing
// site is not an error here; errors come from the database or from a worker that
// died.
func crawlOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 20 * time.Minute,
		HeartbeatTimeout:    10 * time.Second,
		WaitForCancellation: true,
		// After the death of a worker the retry follows soon.
		RetryPolicy: retryForever(10 * time.Second),
		Summary:     summary,
	})
}

// learnOptions are for learning selectors: seconds of work, or minutes if an LLM
// is used. The next extracted page requests it again.
func learnOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 70 * time.Minute,
		HeartbeatTimeout:    11 * time.Minute, // an LLM response may take ten
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 10,
		},
		Summary: summary,
	})
}

// longRunningOptions are for scheduled work that may take hours and continues where
// it stopped.
func longRunningOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 12 * time.Hour,
		HeartbeatTimeout:    time.Minute,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 10 * time.Second, BackoffCoefficient: 2, MaximumInterval: 5 * time.Minute,
			MaximumAttempts: 10,
		},
		Summary: summary,
	})
}
