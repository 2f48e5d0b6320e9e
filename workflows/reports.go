package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/notify/email"
)

// SendReportsWorkflow is the name of the workflow that sends reports and alerts.
const SendReportsWorkflow = "SendReports"

// SendReportsSchedule is the id of its schedule.
const SendReportsSchedule = "send-reports"

// SendReportsResult is the outcome of a run.
type SendReportsResult struct {
	Alerts, Reports int
	Emails          email.SendResult
}

// SendReports raises alerts, adds the reports that are due to the outbox, and sends
// its emails. A schedule runs it every minute. The rows decide what is due, so a
// failed run loses nothing and a repeated one adds nothing. A step that fails does not
// hold back the others.
func SendReports(ctx workflow.Context) (result SendReportsResult, err error) {
	var reports *activities.Reports
	step := func(summary string) workflow.Context {
		return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: 30 * time.Minute,
			HeartbeatTimeout:    time.Minute, // sending an email takes at most 30 s
			WaitForCancellation: true,
			RetryPolicy: &temporal.RetryPolicy{
				InitialInterval: time.Second, BackoffCoefficient: 2, MaximumAttempts: 3,
			},
			Summary: summary,
		})
	}
	err = errors.Join(
		workflow.ExecuteActivity(step("Raise alerts"), reports.CheckAlerts).Get(ctx, &result.Alerts),
		workflow.ExecuteActivity(step("Add due reports to the outbox"), reports.EnqueueReports).Get(ctx,
			&result.Reports),
		workflow.ExecuteActivity(step("Send due emails"), reports.SendEmails).Get(ctx, &result.Emails))
	return result, err
}
