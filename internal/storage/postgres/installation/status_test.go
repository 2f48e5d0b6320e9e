package installation_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/system/status"
	"dateline/internal/testing/storetest"
)

// sentLate creates a post that was sent late.
func (n *newsroom) sentLate(ago, late time.Duration) post.Post {
	n.T.Helper()
	p := n.Create()
	c := n.Claim(p, 0, 1, time.Minute)
	n.Finish(storetest.Outcome(c, uuid.NewString()))
	n.Exec("update scheduled_posts set scheduled_time = clock_timestamp() - $2::interval where post_id = $1", p.ID, ago)
	n.Exec("update post_targets t set sent_at = p.scheduled_time + $2::interval from scheduled_posts p where "+
		"p.post_id = t.post_id and p.post_id = $1", p.ID, late)
	return p
}

func TestWorkspaceLateness_ByNetwork(t *testing.T) {
	n := open(t)
	window := 24 * time.Hour
	if all, err := n.Installation.Status.WorkspaceLateness(t.Context(), n.Workspace.ID, window); err != nil || len(all) != 0 {
		t.Errorf("no posts: got %+v, %v, want none", all, err)
	}
	for range 9 {
		n.sentLate(time.Hour, 100*time.Millisecond)
	}
	n.sentLate(2*time.Hour, 4*time.Second)
	n.sentLate(48*time.Hour, time.Hour) // long ago
	again := n.sentLate(3*time.Hour, 2*time.Hour)
	// Retried then
	n.Exec("update scheduled_posts set redriven_at = scheduled_time + interval '2 hours' where post_id = $1", again.ID)
	n.Create() // not sent
	all, err := n.Installation.Status.WorkspaceLateness(t.Context(), n.Workspace.ID, window)
	n.Must(err)
	if len(all) != 2 || all[0].Network != "" || all[1].Network != "mastodon" {
		t.Fatalf("%+v", all)
	}
	for _, l := range all {
		if l.Sent != 11 || l.Median != 100*time.Millisecond || l.P99 < 3*time.Second || l.Max != 4*time.Second {
			t.Errorf("%+v", l)
		}
	}
	other, _, _ := n.Found("Elsewhere")
	if all, err := n.Installation.Status.WorkspaceLateness(t.Context(), other.ID, window); err != nil || len(all) != 0 {
		t.Errorf("other workspace: got %+v, %v, want none", all, err)
	}
}

func TestWorkspaceBacklog_CountsByState(t *testing.T) {
	n := open(t)
	n.Create()
	n.Create(func(d *post.NewPost) { d.Post.ScheduledTime = time.Now().Add(20 * time.Second) })
	late := n.Create()
	n.Exec("update scheduled_posts set scheduled_time = now() - interval '1 minute' where post_id = $1", late.ID)
	old, fresh := n.Create(), n.Create()
	for _, p := range []post.Post{old, fresh} {
		n.Finish(storetest.Failure(n.Claim(p, 0, 1, time.Minute)))
	}
	n.Exec("update post_targets set updated_at = now() - interval '1 hour' where post_id = $1", old.ID)
	n.Claim(n.Create(), 0, 1, time.Minute)
	endpoint := storetest.NewID()
	n.Exec("insert into webhook_endpoints (id, workspace_id, url) values ($1, $2, 'https://hooks.example/')", endpoint,
		n.Workspace.ID)
	n.Exec(`insert into webhook_deliveries (id, endpoint_id, type, body, status)
		select gen_random_uuid(), $1, 'post.posted', '{}', s::delivery_status from unnest(array['pending', 'pending', 'dead', 'delivered']) s`, endpoint)
	got, err := n.Installation.Status.WorkspaceBacklog(t.Context(), n.Workspace.ID)
	n.Must(err)
	want := status.Posts{
		Scheduled: 2, Due: 1, Overdue: 1, Publishing: 1, Parked: 2, NewDeadLetters: 1, Deliveries: 2,
		FailedDeliveries: 1,
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	other, _, _ := n.Found("Elsewhere")
	if got, err := n.Installation.Status.WorkspaceBacklog(t.Context(), other.ID); err != nil || got != (status.Posts{}) {
		t.Errorf("other workspace: got %+v, %v, want none", got, err)
	}
	full, size, err := n.Installation.Status.DatabaseUsage(t.Context())
	if n.Must(err); full.Used < 1 || full.Max <= full.Used || size < 1<<20 {
		t.Errorf("%+v, %d bytes", full, size)
	}
}
