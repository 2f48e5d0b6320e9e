package workflows_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"dateline/internal/notify/email"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
)

// With -record the histories of TestRecord replace those that TestReplay reads:
//
//	go test ./workflows -run TestRecord -record
//
// Keep the old ones under another name as long as workflows may run that began
// with the code that made them.
var record = flag.Bool("record", false, "write the recorded histories to testdata/replay")

// recorder replaces names of people and machines, which no history should contain.
const recorder = "recorder"

// scenario is one workflow execution on a real server.
type scenario struct {
	room   *newsroom
	setUp  func(room *newsroom)
	signal func(t *testing.T, c client.Client, id string)
	end    post.Status
	// startedWithView starts the workflow with the post as it was stored.
	startedWithView bool
}

func scenarios() map[string]*scenario {
	return map[string]*scenario{
		"plain": {room: newRoom("mastodon"), end: post.Posted, setUp: func(room *newsroom) {
			room.view.ScheduledTime = time.Now().Add(3 * time.Second)
		}},
		"started_with_view": {
			room: newRoom("mastodon"), end: post.Posted, startedWithView: true,
			setUp: func(room *newsroom) { room.view.ScheduledTime = time.Now().Add(3 * time.Second) },
		},
		"started_with_view_then_moved": {
			room: newRoom("mastodon"), end: post.Posted, startedWithView: true,
			signal: func(t *testing.T, c client.Client, id string) {
				time.Sleep(time.Second)
				signal(t, c, id, workflows.SignalPublishNow, "")
			},
		},
		"edited_and_cancelled": {
			room: newRoom("mastodon"), end: post.Canceled,
			signal: func(t *testing.T, c client.Client, id string) {
				later := time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
				signal(t, c, id, workflows.SignalEdit, `{"scheduled_time":"`+later+`"}`)
				signal(t, c, id, workflows.SignalEdit, `"no object"`)
				signal(t, c, id, workflows.SignalEdit, "")
				signal(t, c, id, workflows.SignalCancel, "")
			},
		},
		"cancel_requested": {
			room: newRoom("mastodon"), end: post.Canceled,
			signal: func(t *testing.T, c client.Client, id string) {
				if err := c.CancelWorkflow(t.Context(), id, ""); err != nil {
					t.Error(err)
				}
			},
		},
		"two_targets_one_retried": {room: newRoom("bluesky", "mastodon"), end: post.Posted, setUp: retryFirst},
		"waiting_target_called_off": {
			room: newRoom("bluesky", "mastodon"), end: post.Posted, setUp: throttleFirst,
			signal: func(t *testing.T, c client.Client, id string) {
				time.Sleep(time.Second)
				signal(t, c, id, workflows.SignalPublishNow, "")
			},
		},
		"stale_then_moved": {room: newRoom("mastodon"), end: post.Posted, setUp: staleTwice},
		"parked_then_retried": {
			room: newRoom("mastodon"), end: post.Posted, setUp: deadFirst(post.TargetFailed),
			signal: func(t *testing.T, c client.Client, id string) {
				untilParked(t, c, id)
				signal(t, c, id, workflows.SignalRetry, `{"target":["misspelt"]}`)
				signal(t, c, id, workflows.SignalRetry, "")
			},
		},
		"parked_then_discarded": {
			room: newRoom("mastodon"), end: post.Canceled, setUp: deadFirst(post.TargetFailed),
			signal: func(t *testing.T, c client.Client, id string) {
				untilParked(t, c, id)
				signal(t, c, id, workflows.SignalDiscard, `{}`)
			},
		},
		"parked_then_cancelled": {
			room: newRoom("mastodon"), end: post.Failed, setUp: deadFirst(post.TargetFailed),
			signal: func(t *testing.T, c client.Client, id string) {
				untilParked(t, c, id)
				if err := c.CancelWorkflow(t.Context(), id, ""); err != nil {
					t.Error(err)
				}
			},
		},
		"updated_at_once": {
			room: newRoom("mastodon", "bluesky"), end: post.Canceled,
			signal: func(t *testing.T, c client.Client, id string) {
				var all sync.WaitGroup
				for hours := range 3 {
					later := time.Now().Add(time.Duration(48+hours) * time.Hour).UTC().Format(time.RFC3339)
					all.Go(func() { update(t, c, id, workflows.SignalEdit, map[string]any{"scheduled_time": later}) })
				}
				all.Wait()
				update(t, c, id, workflows.SignalCancel)
			},
		},
		"updated_while_uploading": {
			room: newRoom("mastodon", "bluesky"), end: post.Posted, setUp: prepareAhead(hangs),
			signal: func(t *testing.T, c client.Client, id string) {
				time.Sleep(2 * time.Second)
				update(t, c, id, workflows.SignalPublishNow)
			},
		},
		"updated_while_parked":     updatedWhileParked(),
		"uncertain_then_confirmed": uncertainThenConfirmed(),
		"one_of_two_dead":          oneOfTwoDead(),
		"prepared":                 {room: newRoom("mastodon", "bluesky"), end: post.Posted, setUp: prepareAhead(nil)},
		"hung_upload_called_off": {
			room: newRoom("mastodon"), end: post.Posted,
			setUp: prepareAhead(hangs),
		},
	}
}

// deadFirst makes every target a dead letter at its first attempt.
func deadFirst(status post.TargetStatus) func(room *newsroom) {
	return func(room *newsroom) {
		room.view.ScheduledTime = time.Now()
		failFirst(room, status)
	}
}

// hangs is an upload that does not end in time.
func hangs(context.Context, delivery.TargetInput) error {
	return temporal.NewApplicationErrorWithOptions("slow", "retry", temporal.ApplicationErrorOptions{
		NextRetryDelay: time.Hour,
	})
}

// prepareAhead adds attachments to a post, and little time to upload them.
func prepareAhead(prepare func(context.Context, delivery.TargetInput) error) func(room *newsroom) {
	return func(room *newsroom) {
		room.view.ScheduledTime = time.Now().Add(8 * time.Second)
		room.view.PrepareAt = time.Now().Add(time.Second)
		room.prepare = prepare
	}
}

// updatedWhileParked discards a post while a signal arrives, with which the workflow cannot end.
func updatedWhileParked() *scenario {
	s := &scenario{room: newRoom("mastodon", "bluesky"), end: post.Canceled, setUp: deadFirst(post.TargetFailed)}
	s.signal = func(t *testing.T, c client.Client, id string) {
		untilParked(t, c, id)
		s.room.mu.Lock()
		s.room.meanwhile = map[string]func(){"ApplyCommand": func() { signal(t, c, id, workflows.SignalChanged, "") }}
		s.room.mu.Unlock()
		update(t, c, id, workflows.SignalDiscard)
	}
	return s
}

func uncertainThenConfirmed() *scenario {
	s := &scenario{room: newRoom("mastodon"), end: post.Posted, setUp: deadFirst(post.TargetUncertain)}
	s.signal = func(t *testing.T, c client.Client, id string) {
		untilParked(t, c, id)
		s.room.mu.Lock()
		s.room.view.Targets[0].Status = post.TargetPosted
		s.room.rollUp()
		s.room.mu.Unlock()
		signal(t, c, id, workflows.SignalChanged, "")
	}
	return s
}

// oneOfTwoDead fails one target, retries it without success by its id, and edits.
func oneOfTwoDead() *scenario {
	s := &scenario{room: newRoom("mastodon", "bluesky"), end: post.Posted}
	s.setUp = func(room *newsroom) {
		room.view.ScheduledTime = time.Now()
		dead := room.view.Targets[0].ID
		room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
			if in.TargetID == dead && in.Revision == 1 {
				return room.finish(in, post.TargetFailed), nil
			}
			return room.post(in), nil
		}
	}
	s.signal = func(t *testing.T, c client.Client, id string) {
		untilParked(t, c, id)
		signal(t, c, id, workflows.SignalRetry, `{"targets":["`+s.room.view.Targets[0].ID.String()+`"]}`)
		time.Sleep(500 * time.Millisecond)
		untilParked(t, c, id)
		signal(t, c, id, workflows.SignalEdit, `{"time_zone":"Asia/Tokyo"}`)
	}
	return s
}

// untilParked waits until the workflow is parked.
func untilParked(t *testing.T, c client.Client, id string) {
	t.Helper()
	for range 200 {
		var state workflows.StateResult
		answer, err := c.QueryWorkflow(t.Context(), id, "", workflows.QueryState)
		if err == nil && answer.Get(&state) == nil && state.Doing == "parked" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the post was never parked")
}

// retryFirst makes the first attempt of the first target fail.
func retryFirst(room *newsroom) {
	room.view.ScheduledTime = time.Now()
	first := room.view.Targets[0].ID
	room.publish = func(ctx context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		if in.TargetID == first && activity.GetInfo(ctx).Attempt == 1 {
			return delivery.TargetResult{}, temporal.NewApplicationErrorWithOptions("not sent", "retry",
				temporal.ApplicationErrorOptions{NextRetryDelay: time.Second})
		}
		return room.post(in), nil
	}
}

// throttleFirst makes both targets wait for a day, until the post is changed.
func throttleFirst(room *newsroom) {
	room.view.ScheduledTime = time.Now()
	room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		if in.Revision == 1 {
			return delivery.TargetResult{}, temporal.NewApplicationErrorWithOptions("throttled", "throttled",
				temporal.ApplicationErrorOptions{NextRetryDelay: 24 * time.Hour})
		}
		return room.post(in), nil
	}
}

// staleTwice makes the revision stale once without a change and once with one.
func staleTwice(room *newsroom) {
	room.view.ScheduledTime = time.Now()
	calls := 0
	room.publish = func(_ context.Context, in delivery.TargetInput) (delivery.TargetResult, error) {
		if calls++; calls == 1 {
			return delivery.TargetResult{Stale: true}, nil
		}
		if calls == 2 {
			room.change(func(v *delivery.PostView) { v.ScheduledTime = time.Now().Add(3 * time.Second) })
		}
		return room.post(in), nil
	}
}

// TestRecord runs every scenario on a real server and replays its history.
func TestRecord(t *testing.T) {
	address := temporaltest.Start(t)
	c := temporaltest.Dial(t, address, func(o *client.Options) { o.Identity = recorder })
	for name, s := range scenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.room.id = uuid.NewSHA1(uuid.Nil, []byte(name))
			for i := range s.room.view.Targets {
				s.room.view.Targets[i].AccountID = uuid.NewSHA1(s.room.id, []byte{byte(i)})
			}
			s.room.view.ScheduledTime = time.Now().Add(24 * time.Hour)
			if s.setUp != nil {
				s.setUp(s.room)
			}
			in := workflows.PostInput{PostID: s.room.id}
			if s.startedWithView {
				view := s.room.current()
				in.View = &view
			}
			run := start(t, c, s.room, workflows.PostID(s.room.id), workflows.PostWorkflow, in)
			if s.signal != nil {
				s.signal(t, c, run.GetID())
			}
			if err := run.Get(t.Context(), nil); err != nil && !temporal.IsCanceledError(err) {
				t.Fatal(err)
			}
			if s.room.view.Status != s.end {
				t.Errorf("the post is %s, want %s", s.room.view.Status, s.end)
			}
			keep(t, c, name, run)
		})
	}
	t.Run("reconcile_posts", func(t *testing.T) {
		t.Parallel()
		run := start(t, c, newRoom("mastodon"), workflows.ReconcileSchedule, workflows.ReconcilePostsWorkflow)
		if err := run.Get(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		keep(t, c, "reconcile_posts", run)
	})
	for name, workflow := range map[string]string{
		"flush_views":      workflows.FlushViewsWorkflow,
		"flush_views_busy": workflows.FlushViewsWorkflow, "maintain_views": workflows.MaintainViewsWorkflow,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			room := newRoom("mastodon")
			room.busy = name == "flush_views_busy"
			run := start(t, c, room, name, workflow)
			if err := run.Get(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if room.checked == room.busy && workflow == workflows.FlushViewsWorkflow {
				t.Errorf("compared: %v", room.checked)
			}
			keep(t, c, name, run)
		})
	}
	t.Run("send_reports", func(t *testing.T) {
		t.Parallel()
		m := &mailroom{}
		run := start(t, c, m, "send_reports", workflows.SendReportsWorkflow)
		var got workflows.SendReportsResult
		// The alerts fail, which holds back no emails.
		if err := run.Get(t.Context(), &got); err == nil || m.sent != 1 {
			t.Fatalf("got %v and %d runs of the outbox, want an error and 1", err, m.sent)
		}
		keep(t, c, "send_reports", run)
	})
	t.Run("export_workspace", func(t *testing.T) {
		t.Parallel()
		v := &vault{keep: time.Second, now: time.Now}
		export := uuid.NewSHA1(uuid.Nil, []byte("export_workspace"))
		run := start(t, c, v, workflows.WorkspaceExportID(export), workflows.ExportWorkspaceWorkflow,
			workflows.ExportWorkspaceInput{ExportID: export})
		if err := run.Get(t.Context(), nil); err != nil || len(v.dropped) != 1 {
			t.Fatal(err, v.dropped)
		}
		keep(t, c, "export_workspace", run)
	})
	t.Run("deliver_webhook", func(t *testing.T) {
		t.Parallel()
		room := newRoom("mastodon")
		// A pause that ends by its timer, one that a person ends, and one success.
		room.steps = []webhook.Step{{Wait: 100 * time.Millisecond}, {Wait: 24 * time.Hour}, {Done: true}}
		delivery := uuid.NewSHA1(uuid.Nil, []byte("deliver_webhook"))
		run := start(t, c, room, workflows.DeliveryID(delivery), workflows.DeliverWebhookWorkflow,
			workflows.DeliverWebhookInput{DeliveryID: delivery})
		for room.attempts() < 2 {
			time.Sleep(10 * time.Millisecond)
		}
		signal(t, c, run.GetID(), workflows.SignalChanged, "")
		if err := run.Get(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if n := room.attempts(); n != 3 {
			t.Errorf("%d attempts", n)
		}
		keep(t, c, "deliver_webhook", run)
	})
}

// mailroom has the activities of SendReports.
type mailroom struct{ sent int }

func (m *mailroom) CheckAlerts(context.Context) (int, error) {
	return 0, temporal.NewNonRetryableApplicationError("the database is down", "down", nil)
}

func (m *mailroom) EnqueueReports(context.Context) (int, error) { return 2, nil }

func (m *mailroom) SendEmails(context.Context) (email.SendResult, error) {
	m.sent++
	return email.SendResult{Sent: 2}, nil
}

// start runs a worker for one workflow: every scenario has a task queue and a newsroom
// of its own.
func start(t *testing.T, c client.Client, room any, id, name string, args ...any) client.WorkflowRun {
	t.Helper()
	queue := workflows.PostQueue + "-" + id
	w := worker.New(c, queue, worker.Options{Identity: recorder, BuildID: recorder}) //nolint:staticcheck // names the build without versioning the worker
	register(w)
	w.RegisterActivity(room)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: queue}, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(workflows.Post, workflow.RegisterOptions{Name: workflows.PostWorkflow})
	r.RegisterWorkflowWithOptions(workflows.ReconcilePosts, workflow.RegisterOptions{
		Name: workflows.ReconcilePostsWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.SendReports, workflow.RegisterOptions{Name: workflows.SendReportsWorkflow})
	r.RegisterWorkflowWithOptions(workflows.FlushViews, workflow.RegisterOptions{Name: workflows.FlushViewsWorkflow})
	r.RegisterWorkflowWithOptions(workflows.MaintainViews, workflow.RegisterOptions{
		Name: workflows.MaintainViewsWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.ExportWorkspace, workflow.RegisterOptions{
		Name: workflows.ExportWorkspaceWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.DeliverWebhook, workflow.RegisterOptions{
		Name: workflows.DeliverWebhookWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.MeasurePosts, workflow.RegisterOptions{
		Name: workflows.MeasurePostsWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.MeasureAccount, workflow.RegisterOptions{
		Name: workflows.MeasureAccountWorkflow,
	})
	registerCrawl(r)
	registerSearch(r)
	registerRules(r)
	registerStories(r)
}

// signal sends what the temporal CLI sends: JSON as it was typed, or nothing.
func signal(t *testing.T, c client.Client, id, name, input string) {
	t.Helper()
	var payloads *commonpb.Payloads
	if input != "" {
		payloads = &commonpb.Payloads{
			Payloads: []*commonpb.Payload{
				{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(input)},
			},
		}
	}
	_, err := c.WorkflowService().SignalWorkflowExecution(t.Context(),
		&workflowservice.SignalWorkflowExecutionRequest{
			Namespace:         temporaltest.Namespace,
			WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id}, SignalName: name, Input: payloads,
			Identity: recorder,
		})
	if err != nil {
		t.Fatal(err)
	}
}

// update sends a command that is answered when it is applied.
func update(t *testing.T, c client.Client, id, name string, input ...any) {
	t.Helper()
	sent, err := c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: name, Args: input, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = sent.Get(t.Context(), nil)
	}
	if err != nil {
		t.Errorf("%s was answered with %v", name, err)
	}
}

// keep replays a finished workflow's history, and writes it with -record.
func keep(t *testing.T, c client.Client, name string, run client.WorkflowRun) {
	t.Helper()
	history := &historypb.History{}
	for events := c.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		// Sticky queues are named after the machine.
		if queue := event.GetWorkflowTaskScheduledEventAttributes().
			GetTaskQueue(); queue.GetKind() == enumspb.TASK_QUEUE_KIND_STICKY {
			queue.Name = recorder
		}
		history.Events = append(history.Events, event)
	}
	replayer := worker.NewWorkflowReplayer()
	register(replayer)
	if err := replayer.ReplayWorkflowHistory(quiet{}, history); err != nil {
		t.Fatalf("its own history does not replay: %v", err)
	}
	raw, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(history)
	if err != nil {
		t.Fatal(err)
	}
	wantDiscreet(t, raw)
	if !*record {
		return
	}
	if err := os.WriteFile(filepath.Join("testdata", "replay", name+".json"), append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
