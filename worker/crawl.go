package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/workflows"
)

// CrawlActivities are the activities of the crawler's worker.
type CrawlActivities struct {
	Crawl       *activities.Crawl
	Maintenance *activities.CrawlMaintenance
	Articles    *activities.Articles
	Watches     *activities.Watches
	WebSub      *activities.WebSub // nil: WebSub is off
}

// NewCrawl creates the worker of the crawler's task queue. Its activities
// mostly wait.
func NewCrawl(c client.Client, a CrawlActivities) worker.Worker {
	w := worker.New(c, workflows.CrawlQueue, worker.Options{
		MaxConcurrentActivityExecutionSize: a.Crawl.MaxDomains + 20,
		WorkerStopTimeout:                  stopTimeout,
		WorkflowTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(
			worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
	})
	RegisterCrawl(w)
	w.RegisterActivityWithOptions(a.Crawl, activity.RegisterOptions{})
	w.RegisterActivityWithOptions(a.Maintenance, activity.RegisterOptions{})
	if a.Articles != nil {
		w.RegisterActivityWithOptions(a.Articles, activity.RegisterOptions{})
	}
	if a.Watches != nil {
		w.RegisterActivityWithOptions(a.Watches, activity.RegisterOptions{})
	}
	if a.WebSub != nil {
		w.RegisterActivityWithOptions(a.WebSub, activity.RegisterOptions{})
	}
	return w
}

// RegisterCrawl registers the crawler's workflows.
func RegisterCrawl(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(workflows.Crawl, workflow.RegisterOptions{Name: workflows.CrawlWorkflow})
	r.RegisterWorkflowWithOptions(workflows.CrawlDomain, workflow.RegisterOptions{Name: workflows.CrawlDomainWorkflow})
	r.RegisterWorkflowWithOptions(workflows.RebuildURLFilter, workflow.RegisterOptions{
		Name: workflows.RebuildURLFilterWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.DeleteOldPageVersions, workflow.RegisterOptions{
		Name: workflows.DeleteOldPageVersionsWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.ExportPages, workflow.RegisterOptions{Name: workflows.ExportPagesWorkflow})
	r.RegisterWorkflowWithOptions(workflows.ExtractArticles, workflow.RegisterOptions{
		Name: workflows.ExtractArticlesWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.LearnSelectors, workflow.RegisterOptions{
		Name: workflows.LearnSelectorsWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.CheckWatches, workflow.RegisterOptions{
		Name: workflows.CheckWatchesWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.SubscribeToHubs, workflow.RegisterOptions{
		Name: workflows.SubscribeToHubsWorkflow,
	})
}

// scheduleEvery returns a schedule on the crawler's task queue.
func scheduleEvery(id, name string, interval, offset time.Duration, now bool) client.ScheduleOptions {
	return client.ScheduleOptions{
		ID: id,
		Spec: client.ScheduleSpec{
			Intervals: []client.ScheduleIntervalSpec{{Every: interval, Offset: offset}},
		},
		Overlap:            enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow:      time.Minute,
		Action:             &client.ScheduleWorkflowAction{ID: id, Workflow: name, TaskQueue: workflows.CrawlQueue},
		TriggerImmediately: now,
	}
}

// webSubSchedules are those of WebSub, see schedules.
func webSubSchedules() []client.ScheduleOptions {
	return []client.ScheduleOptions{
		scheduleEvery(workflows.SubscribeToHubsSchedule, workflows.SubscribeToHubsWorkflow, time.Minute, 0, false),
	}
}

// crawlSchedules are the schedules of the crawler, see schedules.
func crawlSchedules() []client.ScheduleOptions {
	return []client.ScheduleOptions{
		scheduleEvery(workflows.CrawlSchedule, workflows.CrawlWorkflow, time.Minute, 0, true),
		scheduleEvery(workflows.ExtractArticlesSchedule, workflows.ExtractArticlesWorkflow, time.Minute, 0, true),
		scheduleEvery(workflows.CheckWatchesSchedule, workflows.CheckWatchesWorkflow, time.Minute, 0, false),
		// 02:00 in Vietnam
		scheduleEvery(workflows.RebuildURLFilterSchedule, workflows.RebuildURLFilterWorkflow, 24*time.Hour,
			19*time.Hour, false),
		scheduleEvery(workflows.DeleteOldPageVersionsSchedule, workflows.DeleteOldPageVersionsWorkflow, 24*time.Hour,
			20*time.Hour, false),
	}
}

// deleteSchedules deletes the schedules of a disabled feature, which no worker
// would run.
func deleteSchedules(ctx context.Context, c client.Client, all []client.ScheduleOptions) error {
	for _, one := range all {
		err := c.ScheduleClient().GetHandle(ctx, one.ID).Delete(ctx)
		var none *serviceerror.NotFound
		if err != nil && !errors.As(err, &none) {
			return fmt.Errorf("dropping the schedule %s: %w", one.ID, err)
		}
	}
	return nil
}
