package temporalclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// requestTimeout bounds a request to Temporal that an API request may wait for.
const requestTimeout = 5 * time.Second

// Client starts and signals workflows of one namespace. It is safe for concurrent
// use.
type Client struct {
	SDK       client.Client
	Namespace string
}

// Workflow describes a workflow to start. One with the same id that runs already
// is left alone; one that has ended is started again.
type Workflow struct {
	ID         string
	Type       string
	Queue      string
	Input      any // nil: none
	Summary    string
	Attributes temporal.SearchAttributes
	// Eager lets a worker of this process start it without the task queue, which
	// reduces Temporal's cost by a third.
	Eager bool
	// Once says that one that has completed is not started again.
	Once bool
}

func (w Workflow) options() client.StartWorkflowOptions {
	reuse := enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	if w.Once {
		reuse = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
	}
	return client.StartWorkflowOptions{
		ID:                       w.ID,
		TaskQueue:                w.Queue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    reuse,
		TypedSearchAttributes:    w.Attributes,
		StaticSummary:            w.Summary,
		EnableEagerStart:         w.Eager,
	}
}

func (w Workflow) args() []any {
	if w.Input == nil {
		return nil
	}
	return []any{w.Input}
}

// Start starts a workflow.
func (c Client) Start(ctx context.Context, w Workflow) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if _, err := c.SDK.ExecuteWorkflow(ctx, w.options(), w.Type, w.args()...); err != nil {
		return fmt.Errorf("starting the workflow %s: %w", w.ID, err)
	}
	return nil
}

// SignalWithStart signals a workflow, and starts it if it does not run.
func (c Client) SignalWithStart(ctx context.Context, signal string, w Workflow) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if _, err := c.SDK.SignalWithStartWorkflow(ctx, w.ID, signal, nil, w.options(), w.Type, w.args()...); err != nil {
		return fmt.Errorf("signaling the workflow %s: %w", w.ID, err)
	}
	return nil
}

// SignalIfRunning signals a workflow. One that does not run is left alone.
func (c Client) SignalIfRunning(ctx context.Context, id, signal string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := c.SDK.SignalWorkflow(ctx, id, "", signal, nil)
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("signaling the workflow %s: %w", id, err)
	}
	return nil
}

// EndIfStuck reports whether a workflow runs. One whose workflow task has failed
// maxAttempts times in a row is stuck: it is terminated for the reason given, and
// does not run any more.
func (c Client) EndIfStuck(ctx context.Context, id string, maxAttempts int32, reason string) (running bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	described, err := c.SDK.DescribeWorkflowExecution(ctx, id, "")
	info := described.GetWorkflowExecutionInfo()
	switch {
	case isNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("describing the workflow %s: %w", id, err)
	case info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return false, nil
	case described.GetPendingWorkflowTask().GetAttempt() < maxAttempts:
		return true, nil
	}
	err = c.SDK.TerminateWorkflow(ctx, id, info.GetExecution().GetRunId(), reason)
	if err != nil && !isNotFound(err) {
		return false, fmt.Errorf("terminating the workflow %s, which is stuck: %w", id, err)
	}
	return false, nil
}

func isNotFound(err error) bool {
	var none *serviceerror.NotFound
	return errors.As(err, &none)
}

// Ping reports whether Temporal responds.
func (c Client) Ping(ctx context.Context) error {
	_, err := c.SDK.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}

// StoreIdentity identifies the store that Temporal has its workflows in: the id
// that the namespace was given when it was created there.
func (c Client) StoreIdentity(ctx context.Context) (string, error) {
	described, err := c.SDK.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{
		Namespace: c.Namespace,
	})
	if err != nil {
		return "", err
	}
	return described.GetNamespaceInfo().GetId(), nil
}

// maxPollAge is how recently a worker must have polled to count.
const maxPollAge = 2 * time.Minute

// HasPollers reports whether a worker polls a queue for activities.
func (c Client) HasPollers(ctx context.Context, queue string) (bool, error) {
	described, err := c.SDK.DescribeTaskQueue(ctx, queue, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
	if err != nil {
		return false, err
	}
	for _, p := range described.GetPollers() {
		if time.Since(p.GetLastAccessTime().AsTime()) < maxPollAge {
			return true, nil
		}
	}
	return false, nil
}

// Backlog is the number of waiting tasks of one of Temporal's queues.
type Backlog struct {
	Queue string
	Kind  string // workflow or activity
	Tasks int64  // approximately
	Age   time.Duration
}

// Backlogs reads the backlogs of queues.
func (c Client) Backlogs(ctx context.Context, queues ...string) (all []Backlog, err error) {
	for _, queue := range queues {
		for kind, name := range map[enumspb.TaskQueueType]string{
			enumspb.TASK_QUEUE_TYPE_WORKFLOW: "workflow",
			enumspb.TASK_QUEUE_TYPE_ACTIVITY: "activity",
		} {
			described, err := c.SDK.WorkflowService().DescribeTaskQueue(ctx,
				&workflowservice.DescribeTaskQueueRequest{
					Namespace: c.Namespace,
					TaskQueue: &taskqueuepb.TaskQueue{Name: queue}, TaskQueueType: kind, ReportStats: true,
				})
			if err != nil {
				return nil, fmt.Errorf("describing the queue %s: %w", queue, err)
			}
			stats := described.GetStats()
			all = append(all, Backlog{
				queue, name, stats.GetApproximateBacklogCount(), stats.GetApproximateBacklogAge().AsDuration(),
			})
		}
	}
	return all, nil
}

// Orphans describes activities that Temporal considers running on a worker, but
// that do not run.
type Orphans struct {
	Worker  string        // the identity of the worker that they were dispatched to
	Since   time.Duration // dispatched at least so long ago
	Running int           // number of those that are running: if there are no more, none is an orphan
}

// ReleaseOrphans fails a workflow's orphaned activities of a type, so that
// Temporal dispatches them again instead of waiting for the heartbeat timeout. It
// returns how many it released.
func (c Client) ReleaseOrphans(ctx context.Context, workflow, activity string, o Orphans) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*requestTimeout)
	defer cancel()
	described, err := c.SDK.DescribeWorkflowExecution(ctx, workflow, "")
	if isNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("describing the workflow %s: %w", workflow, err)
	}
	var orphans []*workflowpb.PendingActivityInfo
	for _, a := range described.GetPendingActivities() {
		if a.GetActivityType().GetName() == activity && a.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED &&
			a.GetLastWorkerIdentity() == o.Worker && time.Since(a.GetLastStartedTime().AsTime()) >= o.Since {
			orphans = append(orphans, a)
		}
	}
	if len(orphans) <= o.Running {
		return 0, nil
	}
	run := described.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	for _, a := range orphans {
		err := c.SDK.CompleteActivityByID(ctx, c.Namespace, workflow, run, a.GetActivityId(), nil, orphaned())
		if isNotFound(err) {
			continue // it has ended meanwhile
		}
		if err != nil {
			return 0, fmt.Errorf("releasing an activity of the workflow %s: %w", workflow, err)
		}
	}
	return len(orphans), nil
}

// orphaned ends an attempt; the next one follows immediately.
func orphaned() error {
	return temporal.NewApplicationErrorWithOptions("The worker that ran this is dead; the next attempt follows.",
		"orphaned",
		temporal.ApplicationErrorOptions{NextRetryDelay: time.Millisecond})
}
