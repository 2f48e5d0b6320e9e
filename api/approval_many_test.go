package api_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dateline/api/spec"
	"dateline/internal/notify/webhook"
)

func TestApproval_BulkPostsOfAuthorsWait(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	rows := fmt.Sprintf("{\"content\": \"One\", \"scheduled_time\": %q}\n{\"content\": \"Two\", \"draft\": true}\n",
		in(time.Hour))
	var done spec.BulkResult
	s.decode(s.send("POST", "/api/v1/posts/bulk", rows, append(s.author, "Content-Type", "application/x-ndjson")...),
		201, &done)
	if a := done.Rows[0].Approval; a == nil || *a != spec.ApprovalStatePending || done.Rows[1].Approval != nil {
		t.Errorf("got %+v", done.Rows)
	}
	if ids := s.waiting(); len(ids) != 1 || ids[0] != *done.Rows[0].Id || s.temporal.signals(ids[0]) != 0 ||
		s.eventTypes(ids[0]) != "created submitted" {
		t.Errorf("waiting: %v", ids)
	}
}

func TestApproval_SeriesPostsOfAuthorsWait(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	one := s.series(s.send("POST", "/api/v1/series", daily(), s.author...), 201)
	made := s.postsOf(one.Id, "draft")
	if len(made) != 35 || len(s.postsOf(one.Id, "scheduled")) != 0 || len(s.waiting()) != 35 {
		t.Fatalf("%d drafts, %d pending", len(made), len(s.waiting()))
	}
	approve := func(p spec.Post) {
		s.post(s.send("POST", "/api/v1/posts/"+p.Id.String()+"/approve", nil, s.editorAnyVersion()...), 200)
	}
	approve(made[0])
	s.post(s.send("POST", "/api/v1/posts/"+made[1].Id.String()+"/reject", object{"note": "Not this one"}, s.editor...),
		200)
	again := func() {
		_, err := s.Scheduler.Materialize(t.Context(), one.Id)
		s.Must(err)
	}
	again() // as the schedule does
	if len(s.waiting()) != 33 || len(s.postsOf(one.Id, "scheduled")) != 1 {
		t.Errorf("the second pass changed approved posts: %d are pending", len(s.waiting()))
	}
	// Changing the text of an approved post requires a new approval.
	path := "/api/v1/series/" + one.Id.String()
	signals := s.temporal.signals(made[0].Id)
	s.series(s.send("PATCH", path, object{"template": object{"content": "Tin mới"}}, s.author...), 200)
	if waiting := s.waiting(); len(waiting) != 35 || !slices.Contains(waiting, made[0].Id) {
		t.Errorf("%d wait", len(waiting))
	}
	if s.temporal.signals(made[0].Id) != signals+1 {
		t.Error("Temporal was not notified of the withdrawn approval")
	}
	// An editor who changes only the time does not approve the text; one who changes
	// the text does.
	s.series(s.send("PATCH", path, object{"starts": "2026-01-05T08:00"}, s.editor...), 200)
	if n := len(s.postsOf(one.Id, "scheduled")); n != 0 {
		t.Errorf("%d are scheduled", n)
	}
	s.series(s.send("PATCH", path, object{"template": object{"content": "Bản tin"}}, s.editor...), 200)
	if posts := s.postsOf(one.Id, "scheduled"); len(posts) != 35 || posts[0].Content != "Bản tin" ||
		len(s.waiting()) != 0 {
		t.Errorf("%d are scheduled, %d pending", len(posts), len(s.waiting()))
	}
	// Pausing and resuming an editor's series adds no events.
	s.series(s.send("POST", path+"/pause", nil, s.author...), 200)
	s.series(s.send("POST", path+"/resume", nil, s.author...), 200)
	if n := len(s.postsOf(one.Id, "scheduled")); n != 35 {
		t.Errorf("%d are scheduled", n)
	}
}

func TestApproval_RaisesWebhookEvents(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	s.webhook(object{"types": []string{"post.submitted", "post.approved", "post.rejected"}})
	for _, verdict := range []string{"approve", "reject"} {
		p := s.pending(s.send("POST", "/api/v1/posts", hello(), s.author...), 201)
		var body any
		if verdict == "reject" {
			body = object{"note": "No source"}
		}
		s.post(s.send("POST", "/api/v1/posts/"+p.Id.String()+"/"+verdict, body, s.editorAnyVersion()...), 200)
	}
	// Open transactions of other tests on the same server delay events for a moment.
	for deadline := time.Now().Add(30 * time.Second); s.Count("select count(*) from webhook_deliveries") < 4 &&
		time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		_, err := s.Store.Notify.Webhooks.DispatchWebhooks(t.Context(), 100, func(e webhook.Event) (string, error) {
			return e.Body("https://dateline.example")
		})
		s.Must(err)
	}
	for kind, n := range map[string]int{"post.submitted": 2, "post.approved": 1, "post.rejected": 1} {
		if got := s.Count("select count(*) from webhook_deliveries where type = $1 and body like '%\"by\":\"user:%'",
			kind); got != n {
			t.Errorf("%d deliveries of %s", got, kind)
		}
	}
	if s.Count("select count(*) from webhook_deliveries where body like '%No source%'") != 1 {
		t.Error("the event lacks the reason")
	}
}
