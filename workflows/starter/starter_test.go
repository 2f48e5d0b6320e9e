package starter_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"dateline/internal/infra/temporalclient"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
	"dateline/workflows/starter"
)

func TestSignalChanged(t *testing.T) {
	address := temporaltest.Start(t)
	c := temporaltest.Dial(t, address, nil)
	s := &starter.Starter{Client: c, Namespace: temporaltest.Namespace}
	post := uuid.New()
	id := workflows.PostID(post)
	signal := func() (runID string) {
		t.Helper()
		if err := s.SignalChanged(t.Context(), post); err != nil {
			t.Fatal(err)
		}
		return running(t, c, id)
	}

	first := signal()
	if again := signal(); again != first {
		t.Errorf("a second signal started %s beside %s", again, first)
	}
	if n := count(t, c, id, first, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED); n != 2 {
		t.Errorf("%d signals came, want both", n)
	}

	// When an operator terminates a workflow, its post is not lost.
	if err := c.TerminateWorkflow(t.Context(), id, first, "test"); err != nil {
		t.Fatal(err)
	}
	second := signal()
	if second == first {
		t.Error("nothing was started after the termination")
	}
	if err := c.CancelWorkflow(t.Context(), id, second); err != nil {
		t.Fatal(err)
	}

	// A workflow that ended by itself, such as a draft's, is restarted as well.
	w := worker.New(c, workflows.PostQueue, worker.Options{})
	w.RegisterWorkflowWithOptions(func(workflow.Context, workflows.PostInput) error { return nil },
		workflow.RegisterOptions{Name: workflows.PostWorkflow})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.GetWorkflow(t.Context(), id, second).Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	polled, err := s.HasPostWorkers(t.Context())
	if err != nil || !polled {
		t.Errorf("polled %v, error %v", polled, err)
	}
	w.Stop()
	if third := signal(); third == second {
		t.Error("nothing was started after the end")
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestStoreIdentity(t *testing.T) {
	identities := map[string]bool{}
	for range 2 {
		s := &starter.Starter{
			Client:    temporaltest.Dial(t, temporaltest.Start(t), nil),
			Namespace: temporaltest.Namespace,
		}
		var last string
		for range 2 {
			identity, err := s.StoreIdentity(t.Context())
			if err != nil || identity == "" || last != "" && identity != last {
				t.Fatalf("identity %q after %q, error %v", identity, last, err)
			}
			last = identity
		}
		identities[last] = true
	}
	if len(identities) != 2 {
		t.Errorf("two stores have the identities %v", identities)
	}
}

// Temporal being down must neither block requests nor lose anything silently.
func TestTemporalDown(t *testing.T) {
	c, err := temporalclient.Connect(temporalclient.Options{Address: "127.0.0.1:1", Namespace: temporaltest.Namespace},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("a client could not be created before Temporal is up: %v", err)
	}
	t.Cleanup(c.Close)
	s := &starter.Starter{Client: c, Namespace: temporaltest.Namespace}
	post := uuid.New()
	began := time.Now()
	if err := s.SignalChanged(t.Context(), post); err == nil || !strings.Contains(err.Error(), post.String()) {
		t.Errorf("signaling: got %v", err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("a server that is down responded")
	}
}

func running(t *testing.T, c client.Client, id string) (runID string) {
	t.Helper()
	answer, err := c.DescribeWorkflowExecution(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	info := answer.GetWorkflowExecutionInfo()
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		t.Fatalf("the workflow is %s", info.GetStatus())
	}
	return info.GetExecution().GetRunId()
}

func count(t *testing.T, c client.Client, id, runID string, kind enumspb.EventType) (n int) {
	t.Helper()
	for events := c.GetWorkflowHistory(t.Context(), id, runID, false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if event.GetEventType() == kind {
			n++
		}
	}
	return n
}

func TestStart(t *testing.T) {
	c := temporaltest.Dial(t, temporaltest.Start(t), nil)
	s := &starter.Starter{Client: c, Namespace: temporaltest.Namespace}
	p := post.Post{
		ID: uuid.New(), Status: post.Scheduled,
		ScheduledTime: time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond),
		Targets:       []post.Target{{AccountID: uuid.New(), Network: "mastodon"}},
	}
	id := workflows.PostID(p.ID)
	if err := s.Start(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	first := running(t, c, id)
	if err := s.Start(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if again := running(t, c, id); again != first {
		t.Errorf("a second start replaced %[2]s with %[1]s", again, first)
	}
	if began, err := s.EnsureRunning(t.Context(), p.ID); err != nil || began {
		t.Fatal(began, err)
	}
	if n := count(t, c, id, first, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED); n != 0 {
		t.Errorf("got %d signals with starts", n)
	}
	described, err := c.DescribeWorkflow(t.Context(), id, first)
	if err != nil {
		t.Fatal(err)
	}
	status, _ := described.TypedSearchAttributes.GetKeyword(workflows.PostStatusKey)
	at, _ := described.TypedSearchAttributes.GetTime(workflows.PublishAtKey)
	account, _ := described.TypedSearchAttributes.GetKeyword(workflows.AccountIDKey)
	if status != string(p.Status) || !at.Equal(p.ScheduledTime) || account != p.Targets[0].AccountID.String() {
		t.Errorf("it is shown as %s at %s for %s", status, at, account)
	}
	missing := uuid.New()
	if began, err := s.EnsureRunning(t.Context(), missing); err != nil || !began {
		t.Fatal(began, err)
	}
	running(t, c, workflows.PostID(missing))
}

// planned plans posts for the starter and records which of them were started.
type planned struct{ started []uuid.UUID }

func (p *planned) View(_ context.Context, of post.Post) (delivery.PostView, error) {
	return delivery.PostView{Status: of.Status, Revision: of.Revision, ScheduledTime: of.ScheduledTime}, nil
}

func (p *planned) Acknowledge(_ context.Context, id uuid.UUID) { p.started = append(p.started, id) }

func TestStart_PassesThePostToItsWorkflow(t *testing.T) {
	c := temporaltest.Dial(t, temporaltest.Start(t), nil)
	posts := &planned{}
	s := &starter.Starter{Client: c, Namespace: temporaltest.Namespace, Posts: posts}
	fresh := post.Post{
		ID: uuid.New(), Revision: 1, Status: post.Scheduled,
		ScheduledTime: time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond),
	}
	edited := fresh
	edited.ID, edited.Revision = uuid.New(), 2
	for _, p := range []post.Post{fresh, edited} {
		if err := s.Start(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		events := c.GetWorkflowHistory(t.Context(), workflows.PostID(p.ID), "", false,
			enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		first, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		var in workflows.PostInput
		if err := converter.GetDefaultDataConverter().FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().
			GetInput(), &in); err != nil {
			t.Fatal(err)
		}
		if in.PostID != p.ID || in.View == nil || in.View.Revision != p.Revision ||
			!in.View.ScheduledTime.Equal(p.ScheduledTime) {
			t.Errorf("started with %+v", in)
		}
	}
	// A workflow that ran before may not know a later revision.
	if !slices.Equal(posts.started, []uuid.UUID{fresh.ID}) {
		t.Errorf("recorded %v, want %s only", posts.started, fresh.ID)
	}
}

// A later version started the workflow, and this one runs after a rollback: it decides
// differently at a step that is in the history.
func TestEnsureRunning_RestartsWhatFailsToReplay(t *testing.T) {
	c := temporaltest.Dial(t, temporaltest.Start(t), nil)
	s := &starter.Starter{Client: c, Namespace: temporaltest.Namespace, MaxTaskAttempts: 3}
	postID := uuid.New()
	id := workflows.PostID(postID)
	worked := func(step func(workflow.Context, workflows.PostInput) error) worker.Worker {
		w := worker.New(c, workflows.PostQueue, worker.Options{})
		w.RegisterWorkflowWithOptions(step, workflow.RegisterOptions{Name: workflows.PostWorkflow})
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		return w
	}
	later := worked(func(ctx workflow.Context, _ workflows.PostInput) error {
		return workflow.Sleep(ctx, 24*time.Hour)
	})
	if err := s.SignalChanged(t.Context(), postID); err != nil {
		t.Fatal(err)
	}
	first := running(t, c, id)
	for count(t, c, id, first, enumspb.EVENT_TYPE_TIMER_STARTED) == 0 {
		time.Sleep(20 * time.Millisecond)
	}
	if began, err := s.EnsureRunning(t.Context(), postID); err != nil || began {
		t.Fatalf("a workflow that waits was restarted: %v, %v", began, err)
	}
	later.Stop()
	worker.PurgeStickyWorkflowCache()

	earlier := worked(func(ctx workflow.Context, _ workflows.PostInput) error {
		return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx,
			workflow.ActivityOptions{StartToCloseTimeout: time.Hour}), workflows.PublishActivity).Get(ctx, nil)
	})
	defer earlier.Stop()
	if err := s.SignalChanged(t.Context(), postID); err != nil {
		t.Fatal(err)
	}
	for {
		began, err := s.EnsureRunning(t.Context(), postID)
		if err != nil {
			t.Fatal(err)
		}
		if began {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	second := running(t, c, id)
	if second == first {
		t.Fatal("it still runs")
	}
	for count(t, c, id, second, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED) == 0 {
		time.Sleep(20 * time.Millisecond)
	}
}
