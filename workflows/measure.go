package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/publishing/measure"
)

// MeasureQueue is the task queue for reading the metrics of posts. It is separate and
// has few slots, so that reading never delays a post.
const MeasureQueue = "dateline-measure"

// Workflow types of reading metrics.
const (
	MeasurePostsWorkflow   = "MeasurePosts"
	MeasureAccountWorkflow = "MeasureAccount"
)

// MeasurePostsSchedule is the id of the schedule that runs MeasurePosts.
const MeasurePostsSchedule = "measure-posts"

// MeasureID is the id of the workflow that reads the metrics of an account's posts:
// there is one at a time.
func MeasureID(account uuid.UUID) string { return "measure/" + account.String() }

// MeasureAccountInput starts a MeasureAccount workflow.
type MeasureAccountInput struct {
	AccountID uuid.UUID
}

// MeasurePosts starts MeasureAccount for every account with due readings. A schedule
// runs it every minute.
func MeasurePosts(ctx workflow.Context) (accounts int, err error) {
	var m *activities.Measure
	err = workflow.ExecuteActivity(housekeepingOptions(ctx), m.StartMeasuring).Get(ctx, &accounts)
	return accounts, err
}

// MeasureAccount reads the posts of one account that are due. Rows decide what is due
// and claims keep two runs apart, so a failed run loses nothing and a repeated one
// reads nothing twice.
func MeasureAccount(ctx workflow.Context, in MeasureAccountInput) (measure.Summary, error) {
	var m *activities.Measure
	var summary measure.Summary
	options := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 30 * time.Minute,
		HeartbeatTimeout:    5 * time.Minute, // a batch takes a call per post on some networks
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 5 * time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 5,
		},
		Summary: "Reads the metrics of posts",
	})
	err := workflow.ExecuteActivity(options, m.MeasureAccount, in.AccountID).Get(ctx, &summary)
	return summary, err
}
