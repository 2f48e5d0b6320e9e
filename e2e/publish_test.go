package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"dateline/internal/infra/telemetry"
	"dateline/workflows"
)

// TestPublishing runs the scenarios that need no restart on one installation.
func TestPublishing(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	d := newDateline(t, "DATELINE_ALLOW_PRIVATE_HOSTS="+n.host())
	d.start()
	d.ready()
	to := map[string]any{"accounts": []string{n.connect(d, "desk")}}

	t.Run("a post is published on its second, with image and reply", func(t *testing.T) {
		d.t = t
		media := d.upload("chart.png", "Biểu đồ giá vàng", small)
		parent := d.schedule("Giá vàng hôm nay", 3*time.Second, map[string]any{
			"accounts": to["accounts"], "attachments": []string{media},
		})
		reply := d.schedule("… và giá đô la", 4*time.Second, map[string]any{"thread_parent_id": parent.ID})
		p := d.awaitStatus(parent.ID, "posted", 90*time.Second)
		t.Logf("late by %d ms", *p.Targets[0].LateMS)
		if *p.Targets[0].LateMS < 0 {
			t.Errorf("sent %d ms before its time", -*p.Targets[0].LateMS)
		}
		d.awaitStatus(reply.ID, "posted", 90*time.Second)
		if n.copies("Giá vàng hôm nay") != 1 || n.copies("… và giá đô la") != 1 {
			t.Errorf("got %+v at the network, want each post once", n.Posts())
		}
		for _, got := range n.Posts() {
			if got.Text == "Giá vàng hôm nay" &&
				(len(got.Media) != 1 || got.Media[0].Description != "Biểu đồ giá vàng") {
				t.Errorf("the image or its description is missing: %+v", got)
			}
			if got.Text == "… và giá đô la" && !strings.HasSuffix(p.Targets[0].URL, "/"+got.ReplyTo) {
				t.Errorf("the reply is to %q, want %s", got.ReplyTo, p.Targets[0].URL)
			}
		}
	})

	t.Run("an edit before the time is published", func(t *testing.T) {
		d.t = t
		p := d.schedule("draft wording", 30*time.Second, to)
		var edited post
		soon := time.Now().Add(3 * time.Second).Format(time.RFC3339Nano)
		if status := d.call(http.MethodPatch, "/api/v1/posts/"+p.ID,
			map[string]any{"content": "final wording", "scheduled_time": soon}, &edited); status != http.StatusOK {
			t.Fatalf("edit: status %d", status)
		}
		d.awaitStatus(p.ID, "posted", 90*time.Second)
		if n.copies("draft wording") != 0 || n.copies("final wording") != 1 {
			t.Errorf("the network has %+v", n.Posts())
		}
	})

	t.Run("an edit after the time is refused with the reason", func(t *testing.T) {
		d.t = t
		p := d.schedule("done", 2*time.Second, to)
		d.awaitStatus(p.ID, "posted", 90*time.Second)
		for _, try := range []struct {
			method string
			body   any
		}{{http.MethodPatch, map[string]string{"content": "too late"}}, {http.MethodDelete, nil}} {
			var why problem
			if status := d.call(try.method, "/api/v1/posts/"+p.ID, try.body, &why); status != http.StatusConflict ||
				why.Code != "too_late" || !strings.Contains(why.Detail, "already published") {
				t.Errorf("%s after the time: %d %+v", try.method, status, why)
			}
		}
	})

	t.Run("a canceled post is not published", func(t *testing.T) {
		d.t = t
		p := d.schedule("never", 3*time.Second, to)
		if status := d.call(http.MethodDelete, "/api/v1/posts/"+p.ID, nil, &post{}); status != http.StatusOK {
			t.Fatalf("cancel: status %d", status)
		}
		time.Sleep(time.Until(p.Scheduled) + 2*time.Second)
		if n.copies("never") != 0 || d.read(p.ID).Status != "canceled" {
			t.Errorf("status %s, the network has %d copies", d.read(p.ID).Status, n.copies("never"))
		}
	})

	t.Run("publish-now does not wait", func(t *testing.T) {
		d.t = t
		p := d.schedule("now!", time.Hour, to)
		d.call(http.MethodPost, "/api/v1/posts/"+p.ID+"/publish-now", nil, &post{})
		d.awaitStatus(p.ID, "posted", 90*time.Second)
		if n.copies("now!") != 1 {
			t.Errorf("the network has %d copies", n.copies("now!"))
		}
	})

	t.Run("operators cancel, edit and publish now by signals", func(t *testing.T) {
		d.t = t
		temporal, err := client.Dial(client.Options{HostPort: d.Temporal})
		if err != nil {
			t.Fatal(err)
		}
		defer temporal.Close()
		signal := func(p post, name string, input any) {
			t.Helper()
			if err := temporal.SignalWorkflow(context.Background(), p.WorkflowID, "", name, input); err != nil {
				t.Fatal(err)
			}
		}
		canceled := d.schedule("canceled by signal", 4*time.Second, to)
		edited := d.schedule("before the signal", 4*time.Second, to)
		hastened := d.schedule("hastened by signal", time.Hour, to)
		signal(canceled, workflows.SignalCancel, nil)
		signal(edited, workflows.SignalEdit, map[string]string{"content": "after the signal"})
		signal(hastened, workflows.SignalPublishNow, nil)
		d.awaitStatus(canceled.ID, "canceled", 90*time.Second)
		d.awaitStatus(edited.ID, "posted", 90*time.Second)
		d.awaitStatus(hastened.ID, "posted", 90*time.Second)
		time.Sleep(time.Until(canceled.Scheduled) + time.Second)
		if n.copies("canceled by signal") != 0 || n.copies("before the signal") != 0 ||
			n.copies("after the signal") != 1 || n.copies("hastened by signal") != 1 {
			t.Errorf("the network has %+v", n.Posts())
		}
		list, err := temporal.CountWorkflow(context.Background(), &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: "default", Query: "PostStatus = 'canceled'",
		})
		if err != nil || list.GetCount() == 0 {
			t.Errorf("the canceled post cannot be found by its search attribute: %v %v", list, err)
		}
	})

	t.Run("operators get an answer to updates", func(t *testing.T) {
		d.t = t
		operator, err := client.Dial(client.Options{HostPort: d.Temporal})
		if err != nil {
			t.Fatal(err)
		}
		defer operator.Close()
		update := func(p post, name string, input ...any) error {
			ctx, stop := context.WithTimeout(context.Background(), 90*time.Second)
			defer stop()
			handle, err := operator.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
				WorkflowID: p.WorkflowID, UpdateName: name, Args: input, WaitForStage: client.WorkflowUpdateStageCompleted,
			})
			if err != nil {
				return err
			}
			return handle.Get(ctx, nil)
		}
		canceled := d.schedule("canceled by update", time.Hour, to)
		hastened := d.schedule("hastened by update", time.Hour, to)
		if err := update(canceled, workflows.SignalDiscard); err == nil ||
			!strings.Contains(err.Error(), "not_a_dead_letter") {
			t.Errorf("a scheduled post was discarded: %v", err)
		}
		if err := update(canceled, workflows.SignalEdit, "text"); err == nil ||
			!strings.Contains(err.Error(), "must be an object") {
			t.Errorf("an edit without an object was accepted: %v", err)
		}
		if err := update(canceled, workflows.SignalCancel); err != nil {
			t.Error(err)
		}
		d.awaitStatus(canceled.ID, "canceled", 10*time.Second)
		if err := update(hastened, workflows.SignalPublishNow); err != nil {
			t.Error(err)
		}
		d.awaitStatus(hastened.ID, "posted", 90*time.Second)
		if n.copies("canceled by update") != 0 || n.copies("hastened by update") != 1 {
			t.Errorf("the network has %+v", n.Posts())
		}
	})

	t.Run("a hundred posts of one second are published once each", func(t *testing.T) {
		d.t = t
		at := time.Now().Add(8 * time.Second).Truncate(time.Second)
		ids := make([]string, 100)
		var all sync.WaitGroup
		for i := range ids {
			all.Go(func() {
				var p post
				body := map[string]any{
					"content": fmt.Sprintf("herd %d", i), "scheduled_time": at.Format(time.RFC3339),
					"accounts": to["accounts"],
				}
				if status, err := d.try(http.MethodPost, "/api/v1/posts", body, &p); err != nil ||
					status != http.StatusCreated {
					t.Errorf("post %d: %d %v", i, status, err)
				}
				ids[i] = p.ID
			})
		}
		all.Wait()
		worst := int64(0)
		for i, id := range ids {
			p := d.awaitStatus(id, "posted", 90*time.Second)
			worst = max(worst, *p.Targets[0].LateMS)
			if c := n.copies(fmt.Sprintf("herd %d", i)); c != 1 {
				t.Errorf("post %d exists %d times", i, c)
			}
		}
		t.Logf("the last of %d was late by %d ms", len(ids), worst)
	})

	t.Run("metrics count the work", func(t *testing.T) {
		d.t = t
		seen := d.scrape()
		for metric, least := range map[string]float64{
			`dateline_posts_scheduled_total`:                                      100,
			`dateline_target_outcomes_total{network="mastodon",outcome="posted"}`: 100,
			`dateline_post_lateness_seconds_count{network="mastodon"}`:            100,
			`dateline_engine_up{engine="temporal"}`:                               1,
			`dateline_engine_up{engine="database"}`:                               1,
			`dateline_accounts{network="mastodon",status="connected"}`:            1,
		} {
			if got, ok := seen[metric]; !ok || got < least {
				t.Errorf("%s is %v, want at least %v", metric, got, least)
			}
		}
		declared := telemetry.Instruments()
		for _, i := range declared {
			// Nothing has failed, no token expires, and nothing here uses TLS.
			quiet := []string{
				"dateline_dead_letters", "dateline_account_access_expiry_seconds",
				"dateline_certificate_expiry_seconds",
			}
			if i.Kind == "gauge" && !slices.Contains(quiet, i.Name) &&
				!slices.ContainsFunc(slices.Collect(maps.Keys(seen)),
					func(name string) bool { return strings.HasPrefix(name, i.Name) }) {
				t.Errorf("%s has no value", i.Name)
			}
		}
		temporal := slices.Collect(maps.Keys(seen))
		if !slices.ContainsFunc(temporal,
			func(name string) bool { return strings.HasPrefix(name, "temporal_activity_") }) {
			t.Error("there are no metrics of Temporal activities")
		}
	})
}
