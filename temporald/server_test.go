package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const testQueue = "temporald-test"

// sleeper waits on a durable timer, then runs one activity.
func sleeper(ctx workflow.Context, d time.Duration) (string, error) {
	if err := workflow.Sleep(ctx, d); err != nil {
		return "", err
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 10 * time.Second})
	var greeting string
	err := workflow.ExecuteActivity(ctx, greet).Get(ctx, &greeting)
	return greeting, err
}

func greet(context.Context) (string, error) { return "awake", nil }

// dial returns a client with a running worker.
func dial(t *testing.T, address string) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: address, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	w := worker.New(c, testQueue, worker.Options{})
	w.RegisterWorkflow(sleeper)
	w.RegisterActivity(greet)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Stop()
		c.Close()
	})
	return c
}

// TestSurvivesKill starts a workflow, kills the server while the timer runs, and
// expects everything back after the next start.
func TestSurvivesKill(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	status := temporal.NewSearchAttributeKeyKeyword("PostStatus")
	publishAt := temporal.NewSearchAttributeKeyTime("PublishAt")
	// A path with characters that are special in a URI.
	args := append(portArgs(t), "--db-filename", filepath.Join(t.TempDir(), "a b?c#%.db"), "--namespace", "desk",
		"--search-attribute", "PostStatus=Keyword")

	first := start(t, args...)
	c := dial(t, first.address)
	wantNamespace(ctx, t, c, defaultNamespace, 72*time.Hour, "PostStatus")
	wantNamespace(ctx, t, c, "desk", 72*time.Hour, "PostStatus")
	wantHTML(t, "http://"+first.ui+"/")
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: "post/1", TaskQueue: testQueue,
		TypedSearchAttributes: temporal.NewSearchAttributes(status.ValueSet("scheduled")),
	}, sleeper, 4*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	waitTimer(ctx, t, c, run)
	first.kill(t)

	// The second start adds a search attribute, changes the retention, and repeats the
	// first search attribute.
	second := start(t, append(args, "--search-attribute", "PublishAt=datetime", "--retention", "48h")...)
	c = dial(t, second.address) // A new connection: the old one may still be backing off.
	wantNamespace(ctx, t, c, defaultNamespace, 48*time.Hour, "PostStatus", "PublishAt")
	wantNamespace(ctx, t, c, "desk", 48*time.Hour, "PostStatus", "PublishAt")
	var greeting string
	if err := c.GetWorkflow(ctx, "post/1", run.GetRunID()).Get(ctx, &greeting); err != nil || greeting != "awake" {
		t.Fatalf("after the restart: got %q, %v", greeting, err)
	}
	// The new attribute is usable immediately.
	run, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: "post/2", TaskQueue: testQueue,
		TypedSearchAttributes: temporal.NewSearchAttributes(publishAt.ValueSet(time.Unix(2e9, 0)), status.ValueSet("scheduled")),
	}, sleeper, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Get(ctx, &greeting); err != nil {
		t.Fatal(err)
	}
	wantListed(ctx, t, c, `PostStatus = "scheduled" AND ExecutionStatus = "Completed"`, "post/1", "post/2")
	wantListed(ctx, t, c, `PublishAt > "2030-01-01T00:00:00Z"`, "post/2")
	second.stop(t)

	// The third start repeats the second one without --retention: it changes nothing.
	third := start(t, append(args, "--search-attribute", "PublishAt=datetime")...)
	c = dial(t, third.address)
	wantNamespace(ctx, t, c, defaultNamespace, 48*time.Hour, "PostStatus", "PublishAt")
	wantListed(ctx, t, c, `PublishAt > "2030-01-01T00:00:00Z"`, "post/2")

	t.Run("OneServerPerFile", func(t *testing.T) {
		wantRefused(t, "in use by another process", append(args, portArgs(t)...)...)
	})
	t.Run("PortTaken", func(t *testing.T) {
		wantRefused(t, "cannot listen on --port", append(args, "--db-filename", filepath.Join(t.TempDir(), "other.db"))...)
	})
	third.stop(t)

	t.Run("OnePortTwice", func(t *testing.T) {
		wantRefused(t, "cannot listen on --ui-port", append(args, "--ui-port", args[1])...) // args begin with --port.
	})
	t.Run("TypeChanged", func(t *testing.T) {
		wantRefused(t, "search attribute PublishAt is a Datetime already", append(args, "--search-attribute", "PublishAt=Keyword")...)
	})
}

// wantRefused runs temporald and expects a failure with a reason.
func wantRefused(t *testing.T, reason string, args ...string) {
	t.Helper()
	output, err := command(args...).CombinedOutput()
	if err == nil || !strings.Contains(string(output), reason) {
		t.Errorf("want a failure with %q, got %v:\n%s", reason, err, output)
	}
}

// wantNamespace checks the retention and exactly the custom search attributes.
func wantNamespace(ctx context.Context, t *testing.T, c client.Client, name string, retention time.Duration, attributes ...string) {
	t.Helper()
	described, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: name})
	if err != nil {
		t.Fatal(err)
	}
	if got := described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); got != retention {
		t.Errorf("namespace %s: retention %s, want %s", name, got, retention)
	}
	listed, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: name})
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]enumspb.IndexedValueType{
		"PostStatus": enumspb.INDEXED_VALUE_TYPE_KEYWORD, "PublishAt": enumspb.INDEXED_VALUE_TYPE_DATETIME,
	}
	got := listed.GetCustomAttributes()
	if len(got) != len(attributes) {
		t.Errorf("namespace %s: search attributes %v, want %v", name, got, attributes)
	}
	for _, attribute := range attributes {
		if got[attribute] != types[attribute] {
			t.Errorf("namespace %s: search attribute %s is %s", name, attribute, got[attribute])
		}
	}
}

func wantHTML(t *testing.T, url string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || !strings.Contains(strings.ToLower(string(body)), "<!doctype html>") {
		t.Errorf("%s answered %s:\n%.300s", url, resp.Status, body)
	}
}

// wantListed queries visibility, which is updated a moment later.
func wantListed(ctx context.Context, t *testing.T, c client.Client, query string, ids ...string) {
	t.Helper()
	var got []string
	for range 50 {
		resp, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		got = nil
		for _, execution := range resp.GetExecutions() {
			got = append(got, execution.GetExecution().GetWorkflowId())
		}
		slices.Sort(got)
		if slices.Equal(got, ids) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%s lists %v, want %v", query, got, ids)
}

// waitTimer returns when the timer is in the workflow's history, and so on disk.
func waitTimer(ctx context.Context, t *testing.T, c client.Client, run client.WorkflowRun) {
	t.Helper()
	events := c.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), true, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if event.GetEventType() == enumspb.EVENT_TYPE_TIMER_STARTED {
			return
		}
	}
	t.Fatal("the workflow closed without a timer")
}
