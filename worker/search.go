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

// NewSearch prepares the worker of the search's queue, which also places articles in
// stories.
func NewSearch(c client.Client, a *activities.Search, stories *activities.Stories) worker.Worker {
	w := worker.New(c, workflows.SearchQueue, worker.Options{
		MaxConcurrentActivityExecutionSize: 4, WorkerStopTimeout: stopTimeout,
	})
	w.RegisterWorkflowWithOptions(workflows.IndexArticles, workflow.RegisterOptions{
		Name: workflows.IndexArticlesWorkflow,
	})
	w.RegisterWorkflowWithOptions(workflows.ReindexArticles, workflow.RegisterOptions{
		Name: workflows.ReindexArticlesWorkflow,
	})
	w.RegisterActivityWithOptions(a, activity.RegisterOptions{})
	if stories != nil {
		w.RegisterWorkflowWithOptions(workflows.PlaceStories, workflow.RegisterOptions{
			Name: workflows.PlaceStoriesWorkflow,
		})
		w.RegisterWorkflowWithOptions(workflows.ReviewStories, workflow.RegisterOptions{
			Name: workflows.ReviewStoriesWorkflow,
		})
		w.RegisterActivityWithOptions(stories, activity.RegisterOptions{})
	}
	return w
}

// searchSchedules are those of the search, see schedules.
func searchSchedules() []client.ScheduleOptions {
	return []client.ScheduleOptions{{
		ID:            workflows.IndexArticlesSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Minute}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID: workflows.IndexArticlesSchedule, Workflow: workflows.IndexArticlesWorkflow,
			TaskQueue: workflows.SearchQueue,
		},
		TriggerImmediately: true,
	}}
}

// storySchedules are those of stories, see schedules.
func storySchedules() []client.ScheduleOptions {
	return []client.ScheduleOptions{{
		ID:            workflows.PlaceStoriesSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Minute}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID: workflows.PlaceStoriesSchedule, Workflow: workflows.PlaceStoriesWorkflow,
			TaskQueue: workflows.SearchQueue,
		},
		TriggerImmediately: true,
	}, {
		ID: workflows.ReviewStoriesSchedule,
		// At 02:30 UTC.
		Spec: client.ScheduleSpec{
			Calendars: []client.ScheduleCalendarSpec{
				{Hour: []client.ScheduleRange{{Start: 2}}, Minute: []client.ScheduleRange{{Start: 30}}},
			},
		},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: 12 * time.Hour,
		Action: &client.ScheduleWorkflowAction{
			ID: workflows.ReviewStoriesSchedule, Workflow: workflows.ReviewStoriesWorkflow,
			TaskQueue: workflows.SearchQueue,
		},
	}}
}
