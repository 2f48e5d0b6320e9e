package postgres_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/system/status"
)

// sentLate creates a post that was sent late.
func (n *newsroom) sentLate(ago, late time.Duration) post.Post {
	n.t.Helper()
	p := n.create()
	c := n.claim(p, 0, 1, time.Minute)
	n.finish(outcome(c, uuid.NewString()))
	n.exec("update scheduled_posts set scheduled_time = clock_timestamp() - $2::interval where post_id = $1", p.ID, ago)
	n.exec("update post_targets t set sent_at = p.scheduled_time + $2::interval from scheduled_posts p where "+
		"p.post_id = t.post_id and p.post_id = $1", p.ID, late)
	return p
}

func TestWorkspaceLateness_ByNetwork(t *testing.T) {
	n := open(t)
	window := 24 * time.Hour
	if all, err := n.WorkspaceLateness(t.Context(), n.workspace.ID, window); err != nil || len(all) != 0 {
		t.Errorf("no posts: got %+v, %v, want none", all, err)
	}
	for range 9 {
		n.sentLate(time.Hour, 100*time.Millisecond)
	}
	n.sentLate(2*time.Hour, 4*time.Second)
	n.sentLate(48*time.Hour, time.Hour) // long ago
	again := n.sentLate(3*time.Hour, 2*time.Hour)
	// Retried then
	n.exec("update scheduled_posts set redriven_at = scheduled_time + interval '2 hours' where post_id = $1", again.ID)
	n.create() // not sent
	all, err := n.WorkspaceLateness(t.Context(), n.workspace.ID, window)
	n.must(err)
	if len(all) != 2 || all[0].Network != "" || all[1].Network != "mastodon" {
		t.Fatalf("%+v", all)
	}
	for _, l := range all {
		if l.Sent != 11 || l.Median != 100*time.Millisecond || l.P99 < 3*time.Second || l.Max != 4*time.Second {
			t.Errorf("%+v", l)
		}
	}
	other, _, _ := n.found("Elsewhere")
	if all, err := n.WorkspaceLateness(t.Context(), other.ID, window); err != nil || len(all) != 0 {
		t.Errorf("other workspace: got %+v, %v, want none", all, err)
	}
}

func TestWorkspaceBacklog_CountsByState(t *testing.T) {
	n := open(t)
	n.create()
	n.create(func(d *post.NewPost) { d.Post.ScheduledTime = time.Now().Add(20 * time.Second) })
	late := n.create()
	n.exec("update scheduled_posts set scheduled_time = now() - interval '1 minute' where post_id = $1", late.ID)
	old, fresh := n.create(), n.create()
	for _, p := range []post.Post{old, fresh} {
		n.finish(failure(n.claim(p, 0, 1, time.Minute)))
	}
	n.exec("update post_targets set updated_at = now() - interval '1 hour' where post_id = $1", old.ID)
	n.claim(n.create(), 0, 1, time.Minute)
	endpoint := newID()
	n.exec("insert into webhook_endpoints (id, workspace_id, url) values ($1, $2, 'https://hooks.example/')", endpoint,
		n.workspace.ID)
	n.exec(`insert into webhook_deliveries (id, endpoint_id, type, body, status)
		select gen_random_uuid(), $1, 'post.posted', '{}', s::delivery_status from unnest(array['pending', 'pending', 'dead', 'delivered']) s`, endpoint)
	got, err := n.WorkspaceBacklog(t.Context(), n.workspace.ID)
	n.must(err)
	want := status.Posts{
		Scheduled: 2, Due: 1, Overdue: 1, Publishing: 1, Parked: 2, NewDeadLetters: 1, Deliveries: 2,
		FailedDeliveries: 1,
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	other, _, _ := n.found("Elsewhere")
	if got, err := n.WorkspaceBacklog(t.Context(), other.ID); err != nil || got != (status.Posts{}) {
		t.Errorf("other workspace: got %+v, %v, want none", got, err)
	}
	full, size, err := n.DatabaseUsage(t.Context())
	if n.must(err); full.Used < 1 || full.Max <= full.Used || size < 1<<20 {
		t.Errorf("%+v, %d bytes", full, size)
	}
}
