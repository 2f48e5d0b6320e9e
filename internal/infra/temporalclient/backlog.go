package temporalclient

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"dateline/workflows"
)

// Backlog is what waits in one of Temporal's queues.
type Backlog struct {
	Queue string
	Kind  string // workflow or activity
	Tasks int64  // about
	Age   time.Duration
}

// Backlogs asks Temporal what waits for workers.
func (s *Starter) Backlogs(ctx context.Context) (all []Backlog, err error) {
	for _, queue := range []string{workflows.PostQueue, workflows.WebhookQueue, workflows.CrawlQueue} {
		for kind, name := range map[enumspb.TaskQueueType]string{enumspb.TASK_QUEUE_TYPE_WORKFLOW: "workflow", enumspb.TASK_QUEUE_TYPE_ACTIVITY: "activity"} {
			answer, err := s.Client.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{Namespace: s.Namespace,
				TaskQueue: &taskqueuepb.TaskQueue{Name: queue}, TaskQueueType: kind, ReportStats: true})
			if err != nil {
				return nil, fmt.Errorf("asking Temporal about the queue %s: %w", queue, err)
			}
			stats := answer.GetStats()
			all = append(all, Backlog{queue, name, stats.GetApproximateBacklogCount(), stats.GetApproximateBacklogAge().AsDuration()})
		}
	}
	return all, nil
}
