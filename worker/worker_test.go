package worker

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"dateline/activities"
	"dateline/internal/audience/flush"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/temporalclient"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/installation"
	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
	"dateline/workflows/starter"
)

// Histories name the build that ran each task, and any build continues a workflow of
// another: a post may sleep for months, and its build may be gone.
func TestBuild_IsRecordedAndPinsNothing(t *testing.T) {
	t.Parallel()
	c := temporaltest.Dial(t, temporaltest.Start(t), nil)
	run := func(build string) worker.Worker {
		w := worker.New(c, workflows.PostQueue, worker.Options{DeploymentOptions: recordedBuild(build)})
		w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
			workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil)
			return nil
		}, workflow.RegisterOptions{Name: "Waits"})
		require.NoError(t, w.Start())
		return w
	}
	builds := func(id string) (all []string) {
		events := c.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			require.NoError(t, err)
			if done := event.GetWorkflowTaskCompletedEventAttributes(); done != nil {
				all = append(all, done.GetDeploymentVersion().GetDeploymentName()+":"+
					done.GetDeploymentVersion().GetBuildId())
			}
		}
		return all
	}
	const one, two = "0.1.0 1a2b3c4 2026-11-28T10:00:00Z", "0.2.0 5d6e7f8 2027-01-05T10:00:00Z"
	first := run(one)
	waits, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "waits", TaskQueue: workflows.PostQueue,
	}, "Waits")
	require.NoError(t, err)
	await(t, "its first task", func() bool { return len(builds("waits")) == 1 })
	first.Stop()
	second := run(two)
	defer second.Stop()
	require.NoError(t, c.SignalWorkflow(t.Context(), "waits", "", "end", nil))
	require.NoError(t, waits.Get(t.Context(), nil))
	require.Equal(t, []string{Deployment + ":" + one, Deployment + ":" + two}, builds("waits"))
}

// When counting is turned off, its schedules are deleted: no worker would run the
// flush.
func TestSchedules_OfDisabledFeaturesAreDeleted(t *testing.T) {
	t.Parallel()
	c := temporaltest.Dial(t, temporaltest.Start(t), nil)
	ensure := func(a Activities) {
		t.Helper()
		(&Worker{client: c, queues: taskQueues(a), log: slog.New(slog.DiscardHandler)}).ensureAllSchedules(t.Context())
	}
	ensure(Activities{Publishing: &activities.Publishing{}, Views: &activities.Views{}})
	there := func(id string) bool {
		_, err := c.ScheduleClient().GetHandle(t.Context(), id).Describe(t.Context())
		return err == nil
	}
	if !there(workflows.FlushViewsSchedule) || !there(workflows.MaintainViewsSchedule) {
		t.Fatal("the schedules were not created")
	}
	ensure(Activities{Publishing: &activities.Publishing{}})
	if there(workflows.FlushViewsSchedule) || there(workflows.MaintainViewsSchedule) ||
		!there(workflows.ReconcileSchedule) {
		t.Error("a worker that counts no readers left their schedules, or has none of its own")
	}
}

func TestSchedules_AreEnsured(t *testing.T) {
	t.Parallel()
	c := temporaltest.Dial(t, temporaltest.Start(t), nil)
	queues := taskQueues(Activities{Publishing: &activities.Publishing{}})
	ensure := func() {
		t.Helper()
		if err := ensureSchedules(t.Context(), c, queues); err != nil {
			t.Fatal(err)
		}
	}
	handle := c.ScheduleClient().GetHandle(t.Context(), workflows.ReconcileSchedule)
	describe := func() *client.ScheduleDescription {
		t.Helper()
		d, err := handle.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}

	ensure()
	want := queues[0].parts[0].schedules[0].options(workflows.PostQueue)
	wantIntact := func(when string) {
		t.Helper()
		d := describe()
		action, ok := d.Schedule.Action.(*client.ScheduleWorkflowAction)
		require.True(t, ok, when)
		require.Equal(t, workflows.ReconcilePostsWorkflow, action.Workflow, when)
		require.Equal(t, workflows.PostQueue, action.TaskQueue, when)
		require.Equal(t, want.Spec.Intervals, d.Schedule.Spec.Intervals, when)
		require.Equal(t, enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, d.Schedule.Policy.Overlap, when)
		require.Equal(t, want.CatchupWindow, d.Schedule.Policy.CatchupWindow, when)
	}
	wantIntact("created")
	// No worker polls, so the run that the creation triggers stays.
	await(t, "the first run", func() bool { return describe().Info.NumActions >= 1 })

	// Schedules of an older build are updated.
	err := handle.Update(t.Context(),
		client.ScheduleUpdateOptions{DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			s := in.Description.Schedule
			s.Spec = &client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Hour}}}
			s.Policy = &client.SchedulePolicies{
				Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL, CatchupWindow: time.Hour,
			}
			return &client.ScheduleUpdate{Schedule: &s}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	ensure()
	wantIntact("updated")

	if err := handle.Pause(t.Context(), client.SchedulePauseOptions{Note: "maintenance until six"}); err != nil {
		t.Fatal(err)
	}
	// A run that is still in progress would make the next one skip.
	for _, run := range describe().Info.RunningWorkflows {
		if err := c.TerminateWorkflow(t.Context(), run.WorkflowID, "", "test"); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the end of all runs", func() bool { return len(describe().Info.RunningWorkflows) == 0 })
	before := describe()
	ensure()
	if d := describe(); !d.Schedule.State.Paused || d.Schedule.State.Note != "maintenance until six" {
		t.Errorf("the pause became %+v", d.Schedule.State)
	}
	wantIntact("paused")
	time.Sleep(time.Second)
	if after := describe(); after.Info.NumActions != before.Info.NumActions ||
		len(after.Info.RunningWorkflows) != len(before.Info.RunningWorkflows) {
		t.Errorf("a paused schedule ran: %d actions, before %d", after.Info.NumActions, before.Info.NumActions)
	}
}

// rows is a database with posts, and later without any.
type rows struct {
	ids       []uuid.UUID
	series    []uuid.UUID
	recurring uuid.UUID
	swept     chan struct{}
	accounts  []uuid.UUID

	flushed, compared, tended atomic.Bool
}

func (r *rows) Flush(_ context.Context, heartbeat func()) (flush.Result, error) {
	heartbeat()
	r.flushed.Store(true)
	return flush.Result{}, nil
}

func (r *rows) CheckIfDue(_ context.Context, heartbeat func()) (c flush.Check, done bool, err error) {
	heartbeat()
	r.compared.Store(true)
	return c, true, nil
}

func (r *rows) Maintain(_ context.Context, heartbeat func()) (flush.MaintenanceResult, error) {
	heartbeat()
	r.tended.Store(true)
	return flush.MaintenanceResult{}, nil
}

// Sweep deletes unused files, of which there are none.
func (r *rows) Sweep(context.Context, func(media.SweepResult)) (media.SweepResult, error) {
	close(r.swept)
	return media.SweepResult{Objects: 1}, nil
}

func (r *rows) RefreshesDue(context.Context, int) ([]uuid.UUID, error) { return r.accounts, nil }
func (r *rows) WarnOfExpiry(context.Context) ([]uuid.UUID, error)      { return nil, nil }
func (r *rows) RenewDue(context.Context, uuid.UUID) (account.Renewal, time.Duration, error) {
	return account.Renewal{Outcome: account.Renewed}, 0, nil
}

func (r *rows) DetectNewTemporalStore(context.Context, string) (int64, error) { return 0, nil }
func (r *rows) ListOpenSeries(context.Context, uuid.UUID, int) ([]uuid.UUID, error) {
	return r.series, nil
}

// Materialize creates a post that nothing else knows.
func (r *rows) Materialize(context.Context, uuid.UUID) ([]uuid.UUID, error) {
	return []uuid.UUID{r.recurring}, nil
}
func (r *rows) DeleteExpiredIdempotencyKeys(context.Context) error { return nil }
func (r *rows) ListMissingWorkflows(context.Context, post.Unattended, int) ([]post.Unattended, error) {
	var missing []post.Unattended
	for _, id := range r.ids {
		missing = append(missing, post.Unattended{PostID: id})
	}
	return missing, nil
}

func (r *rows) ListReconnected(context.Context, int) ([]uuid.UUID, error) { return nil, nil }

func (r *rows) MarkLate(context.Context, time.Duration, int) ([]uuid.UUID, error) { return nil, nil }

func (r *rows) RedriveReconnected(context.Context, uuid.UUID) (post.Post, error) {
	return post.Post{}, apperr.NotFound("post")
}

func (r *rows) AcknowledgeRevision(context.Context, uuid.UUID) (post.Post, error) {
	return post.Post{}, apperr.NotFound("post")
}

func (r *rows) Post(context.Context, uuid.UUID) (post.Post, error) {
	return post.Post{}, apperr.NotFound("post")
}
func (r *rows) CountDue(context.Context, time.Time, time.Time) (int, error) { return 0, nil }
func (r *rows) AddEvent(context.Context, uuid.UUID, *uuid.UUID, string, string, map[string]any) error {
	return nil
}

// idle is a dispatcher with nothing to do.
type idle struct{}

func (idle) Run(ctx context.Context)                        { <-ctx.Done() }
func (idle) ListenPosts(context.Context) <-chan []uuid.UUID { return nil }

func (idle) RecordHeartbeat(context.Context, string) error { return nil }
func (idle) LeaseDeadWorkers(context.Context, time.Duration, time.Duration) ([]string, error) {
	return nil, nil
}

func (idle) RenewWorkerLease(context.Context, string, time.Duration) (bool, error) { return false, nil }
func (idle) DeleteWorker(context.Context, string) error                            { return nil }
func (idle) ListDuePosts(context.Context, time.Time, installation.DuePost, int) ([]installation.DuePost, error) {
	return nil, nil
}

func (idle) ListOverduePosts(context.Context, time.Duration, int) ([]uuid.UUID, error) {
	return nil, nil
}

func (idle) FindChanged(context.Context, map[uuid.UUID]int64) ([]uuid.UUID, error) { return nil, nil }

// idly provides a worker with a newsroom in which nothing happens.
func idly(log *slog.Logger) Deps {
	return Deps{Dispatcher: idle{}, Store: idle{}, Notices: idle{}, Log: log}
}

// A worker polls, runs the reconciler immediately, signals missing workflows, and stops
// on request.
func TestRun(t *testing.T) {
	t.Parallel()
	c := temporaltest.Dial(t, temporaltest.Start(t), nil)
	signaler := &starter.Starter{Client: c, Namespace: temporaltest.Namespace}
	log := slog.New(slog.DiscardHandler)
	missing := &rows{
		ids: []uuid.UUID{uuid.New()}, series: []uuid.UUID{uuid.New()}, recurring: uuid.New(),
		swept: make(chan struct{}), accounts: []uuid.UUID{uuid.New()},
	}
	w := New(c, Activities{
		Publishing: &activities.Publishing{
			Publisher: delivery.New(delivery.Deps{Log: log}),
			Planner:   &delivery.Planner{Store: missing},
			Recovery:  &delivery.Recovery{Store: missing, Signaler: signaler, Log: log},
		},
		Series:   &activities.Series{Store: missing, Scheduler: missing, Signaler: signaler, Log: log},
		Library:  &activities.Library{Media: missing},
		Tokens:   &activities.Tokens{Store: missing, Accounts: missing, Starter: signaler, Log: log},
		Views:    &activities.Views{Flusher: missing},
		Webhooks: &activities.Webhooks{},
	}, idly(log))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	await(t, "a poller", func() bool {
		polled, err := signaler.HasPostWorkers(t.Context())
		return err == nil && polled
	})
	await(t, "a signal", func() bool {
		_, err := c.DescribeWorkflowExecution(t.Context(), workflows.PostID(missing.ids[0]), "")
		return err == nil
	})
	await(t, "a signal for what recurs", func() bool {
		_, err := c.DescribeWorkflowExecution(t.Context(), workflows.PostID(missing.recurring), "")
		return err == nil
	})
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: workflows.PostQueue},
		workflows.SweepMediaWorkflow)
	if err != nil {
		t.Fatal(err)
	}
	var swept activities.SweepResult
	if err := run.Get(t.Context(), &swept); err != nil || swept.Objects != 1 {
		t.Errorf("the sweep: got %+v, %v", swept, err)
	}
	<-missing.swept
	await(t, "a token's renewal", func() bool {
		d, err := c.DescribeWorkflowExecution(t.Context(), workflows.AccountID(missing.accounts[0]), "")
		return err == nil && d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	})
	await(t, "a flush of views, a comparison and a roll-up", func() bool {
		return missing.flushed.Load() && missing.compared.Load() && missing.tended.Load()
	})
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(stopTimeout + 5*time.Second):
		t.Error("the worker did not stop")
	}
}

// Temporal may become unavailable before the schedules are created: the worker keeps
// running and creates them later.
func TestSchedules_TemporalUnavailableKeepsTheWorker(t *testing.T) {
	t.Parallel()
	var failures atomic.Int32
	c := temporaltest.Dial(t, temporaltest.Start(t), func(o *client.Options) {
		o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, in, out any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker,
				opts ...grpc.CallOption,
			) error {
				if strings.HasSuffix(method, "/CreateSchedule") && failures.Add(1) <= 2 {
					return status.Error(codes.Aborted, "away again")
				}
				return invoke(ctx, method, in, out, cc, opts...)
			}))
	})
	log, missing := slog.New(slog.DiscardHandler), &rows{swept: make(chan struct{})}
	signaler := &starter.Starter{Client: c, Namespace: temporaltest.Namespace}
	w := New(c, Activities{
		Publishing: &activities.Publishing{
			Publisher: delivery.New(delivery.Deps{Log: log}),
			Planner:   &delivery.Planner{Store: missing},
			Recovery:  &delivery.Recovery{Store: missing, Signaler: signaler, Log: log},
		},
		Series:   &activities.Series{Store: missing, Scheduler: missing, Signaler: signaler, Log: log},
		Library:  &activities.Library{Media: missing},
		Tokens:   &activities.Tokens{Store: missing, Accounts: missing, Starter: signaler, Log: log},
		Views:    &activities.Views{Flusher: missing},
		Webhooks: &activities.Webhooks{},
	}, idly(log))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	await(t, "the last schedule", func() bool {
		_, err := c.ScheduleClient().GetHandle(t.Context(), workflows.MaintainAccountsSchedule).Describe(t.Context())
		return err == nil
	})
	stop()
	if err := <-ended; err != nil || failures.Load() < 3 {
		t.Errorf("ended with %v after %d calls", err, failures.Load())
	}
}

// A worker that is stopped before Temporal is available ends.
func TestRun_WithoutTemporal(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	c, err := temporalclient.Connect(temporalclient.Options{Address: "127.0.0.1:1", Namespace: temporaltest.Namespace},
		log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w := New(c, Activities{
		Publishing: &activities.Publishing{Publisher: delivery.New(delivery.Deps{})},
		Series:     &activities.Series{}, Library: &activities.Library{}, Webhooks: &activities.Webhooks{},
	}, idly(log))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := w.Run(ctx); err == nil {
		t.Error("it reports that it was ready")
	}
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 900 { // a loaded machine takes longer than the networks
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("timed out waiting for %s", what)
}
