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

// NewSearch prepares the worker of the search's queue.
func NewSearch(c client.Client, a *activities.Search) worker.Worker {
	w := worker.New(c, workflows.SearchQueue, worker.Options{MaxConcurrentActivityExecutionSize: 4, WorkerStopTimeout: stopTimeout})
	w.RegisterWorkflowWithOptions(workflows.IndexArticles, workflow.RegisterOptions{Name: workflows.IndexArticlesWorkflow})
	w.RegisterWorkflowWithOptions(workflows.ReindexArticles, workflow.RegisterOptions{Name: workflows.ReindexArticlesWorkflow})
	w.RegisterActivityWithOptions(a, activity.RegisterOptions{})
	return w
}

// searchSchedules are those of the search, see schedules.
func searchSchedules() []client.ScheduleOptions {
	return []client.ScheduleOptions{{
		ID:                 workflows.IndexArticlesSchedule,
		Spec:               client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Minute}}},
		Overlap:            enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow:      time.Minute,
		Action:             &client.ScheduleWorkflowAction{ID: workflows.IndexArticlesSchedule, Workflow: workflows.IndexArticlesWorkflow, TaskQueue: workflows.SearchQueue},
		TriggerImmediately: true,
	}}
}
