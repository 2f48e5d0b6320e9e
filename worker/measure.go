package worker

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/workflows"
)

// maxMeasured is how many accounts a worker reads concurrently.
const maxMeasured = 4

// NewMeasure prepares the worker of the queue for reading metrics.
func NewMeasure(c client.Client, a *activities.Measure) worker.Worker {
	w := worker.New(c, workflows.MeasureQueue, worker.Options{
		MaxConcurrentActivityExecutionSize: maxMeasured, WorkerStopTimeout: stopTimeout,
	})
	w.RegisterWorkflowWithOptions(workflows.MeasurePosts, workflow.RegisterOptions{
		Name: workflows.MeasurePostsWorkflow,
	})
	w.RegisterWorkflowWithOptions(workflows.MeasureAccount, workflow.RegisterOptions{
		Name: workflows.MeasureAccountWorkflow,
	})
	w.RegisterActivityWithOptions(a, activity.RegisterOptions{})
	return w
}

// measureSchedules are those for reading metrics, see schedules.
func measureSchedules() []client.ScheduleOptions {
	return []client.ScheduleOptions{{
		ID:            workflows.MeasurePostsSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Minute}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID: workflows.MeasurePostsSchedule, Workflow: workflows.MeasurePostsWorkflow,
			TaskQueue: workflows.MeasureQueue,
		},
	}}
}
