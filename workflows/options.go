package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// forever retries until it works, ever less often. The database or a network
// being away must delay a post, never lose it.
func forever(most time.Duration) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: most}
}

// untilItWorks outlasts every post. A local activity without a
// ScheduleToCloseTimeout would take its StartToCloseTimeout for one, and give up
// retrying after it.
const untilItWorks = 100 * 365 * 24 * time.Hour

// rows is for short, idempotent work on the database.
func rows(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: untilItWorks,
		StartToCloseTimeout:    10 * time.Second,
		RetryPolicy:            forever(30 * time.Second),
		Summary:                summary,
	})
}

// publishing is for sending to a network. The activity counts its own tries in
// the ledger, where waiting for a rate limit or for the database does not use
// them up; so Temporal sets no limit.
func publishing(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 30 * time.Minute,
		HeartbeatTimeout:    noSign,
		WaitForCancellation: true,
		RetryPolicy:         forever(30 * time.Second),
		Summary:             summary,
	})
}

// noSign is how long an activity may give no sign of life. It bounds what
// nothing else notices: that a worker is gone is seen from its silence in the
// database within seconds (worker/roster.go), and that a post has changed is
// told to the activity directly (activities/held.go). A heartbeat costs Temporal
// as much as a step of a workflow; those of a crowd would cost more than all else.
const noSign = 10 * time.Minute

// preparing is for what is better done ahead of a post's time. Whatever it does
// not get done, publishing does.
func preparing(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 20 * time.Minute,
		HeartbeatTimeout:    15 * time.Second,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumAttempts: 5},
		Summary:             summary,
	})
}

// delivering is for one attempt at a webhook's delivery. What an endpoint does
// is no error here; errors are of the database, and pass.
func delivering(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         forever(time.Minute),
		Summary:             "Sends the event",
	})
}

// housekeeping is for scheduled work that the next run would do as well.
func housekeeping(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		HeartbeatTimeout:    30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 3},
	})
}

// crawling is for draining a domain, which goes on for minutes. What a site does
// is no error here; errors are of the database or of a worker that died.
func crawling(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 20 * time.Minute,
		HeartbeatTimeout:    10 * time.Second,
		WaitForCancellation: true,
		// A worker that died is no reason to wait long.
		RetryPolicy: forever(10 * time.Second),
		Summary:     summary,
	})
}

// learning is for learning selectors: seconds of work, or minutes where a
// language model is asked. The next page that is read asks for it anew.
func learning(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 70 * time.Minute,
		HeartbeatTimeout:    11 * time.Minute, // an answer of a model may take ten
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 10},
		Summary:             summary,
	})
}

// lengthy is for scheduled work that may take hours and goes on where it was.
func lengthy(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 12 * time.Hour,
		HeartbeatTimeout:    time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 10 * time.Second, BackoffCoefficient: 2, MaximumInterval: 5 * time.Minute, MaximumAttempts: 10},
		Summary:             summary,
	})
}
