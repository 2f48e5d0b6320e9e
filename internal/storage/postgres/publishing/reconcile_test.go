package publishing_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

// missing lists the posts that the reconciler has to signal to Temporal.
func (n *newsroom) missing() []uuid.UUID {
	n.T.Helper()
	missing, err := n.Publishing.Ledger.ListMissingWorkflows(n.T.Context(), post.Unattended{}, 100)
	n.Must(err)
	var ids []uuid.UUID
	for _, m := range missing {
		ids = append(ids, m.PostID)
	}
	return ids
}

func (n *newsroom) age(p post.Post, by string) {
	n.T.Helper()
	n.Exec("update scheduled_posts set updated_at = updated_at - $2::interval where post_id = $1", p.ID, by)
}

func TestListMissingWorkflows_UntilAcknowledged(t *testing.T) {
	n := open(t)
	p := n.Create()
	if ids := n.missing(); len(ids) != 0 {
		t.Errorf("a post created just now is missing its workflow: %v", ids)
	}
	n.age(p, "10 seconds")
	if ids := n.missing(); !slices.Equal(ids, []uuid.UUID{p.ID}) {
		t.Errorf("missing %v", ids)
	}
	_, err := n.Publishing.Ledger.AcknowledgeRevision(t.Context(), p.ID)
	n.Must(err)
	if ids := n.missing(); len(ids) != 0 {
		t.Errorf("missing %v", ids)
	}
	// A later edit that the workflow was not notified of.
	text := "Corrected"
	_, err = n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{Content: &text}, nil)
	n.Must(err)
	n.age(p, "10 seconds")
	missing, err := n.Publishing.Ledger.ListMissingWorkflows(t.Context(), post.Unattended{}, 100)
	n.Must(err)
	if !slices.Equal(missing, []post.Unattended{{PostID: p.ID, ScheduledTime: p.ScheduledTime, IsStale: true}}) {
		t.Errorf("missing %+v", missing)
	}
}

// A workflow that was started with the first revision of its post does not know a change
// that overtook the record of its start, and one that has read a later revision is not
// set back by the record.
func TestListMissingWorkflows_StartedWithFirstRevision(t *testing.T) {
	n := open(t)
	unchanged, changed, read := n.Create(), n.Create(), n.Create()
	text := "Corrected"
	for _, p := range []post.Post{changed, read} {
		_, err := n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{Content: &text}, nil)
		n.Must(err)
	}
	_, err := n.Publishing.Ledger.AcknowledgeRevision(t.Context(), read.ID)
	n.Must(err)
	n.Must(n.Publishing.Ledger.AcknowledgeFirst(t.Context(), []uuid.UUID{unchanged.ID, changed.ID, read.ID}))
	for _, p := range []post.Post{unchanged, changed, read} {
		n.age(p, "10 seconds")
	}
	missing, err := n.Publishing.Ledger.ListMissingWorkflows(t.Context(), post.Unattended{}, 100)
	n.Must(err)
	if !slices.Equal(missing, []post.Unattended{{PostID: changed.ID, ScheduledTime: changed.ScheduledTime, IsStale: true}}) {
		t.Errorf("missing %+v", missing)
	}
}

func TestListMissingWorkflows_OverdueWorkflow(t *testing.T) {
	n := open(t)
	overdue := n.Create(func(d *post.NewPost) { d.Post.ScheduledTime = time.Now().Add(-time.Minute) })
	stuck, working, done := n.Create(), n.Create(), n.Create()
	n.Claim(stuck, 0, 1, time.Minute)
	n.Claim(working, 0, 1, time.Minute)
	n.Finish(storetest.Outcome(n.Claim(done, 0, 1, time.Minute), "1"))
	for _, p := range []post.Post{overdue, stuck, working, done} {
		_, err := n.Publishing.Ledger.AcknowledgeRevision(t.Context(), p.ID)
		n.Must(err)
	}
	n.age(stuck, "3 minutes")
	n.age(done, "3 minutes")
	got := n.missing()
	if want := []uuid.UUID{overdue.ID, stuck.ID}; !slices.Equal(got, want) {
		t.Errorf("missing %v, want %v", got, want)
	}
}

func TestListMissingWorkflows_SkipsParkedPosts(t *testing.T) {
	n := open(t)
	p := n.Create()
	o := storetest.Failure(n.Claim(p, 0, 1, time.Minute))
	o.Status, o.Operation, o.Event = post.TargetUncertain, post.CallManual, post.EventUncertain
	n.Finish(o)
	n.age(p, "1 hour")
	if ids := n.missing(); len(ids) != 0 {
		t.Errorf("missing %v", ids)
	}
}

func TestDetectNewTemporalStore_MarksAllWorkflows(t *testing.T) {
	n := open(t)
	seen := func(identity string, want int64) {
		t.Helper()
		forgotten, err := n.Publishing.Ledger.DetectNewTemporalStore(t.Context(), identity)
		if err != nil || forgotten != want {
			t.Errorf("%s: %d forgotten, want %d (%v)", identity, forgotten, want, err)
		}
	}
	open, done := n.Create(), n.Create()
	n.Finish(storetest.Outcome(n.Claim(done, 0, 1, time.Minute), "1"))
	for _, p := range []post.Post{open, done} {
		_, err := n.Publishing.Ledger.AcknowledgeRevision(t.Context(), p.ID)
		n.Must(err)
		n.age(p, "10 seconds")
	}
	seen("first", 0) // of a new installation: nothing is lost
	seen("first", 0)
	if ids := n.missing(); len(ids) != 0 {
		t.Errorf("missing %v", ids)
	}
	seen("second", 1)
	if ids := n.missing(); !slices.Equal(ids, []uuid.UUID{open.ID}) {
		t.Errorf("missing %v, want only the open post", ids)
	}
	seen("second", 0)
}
