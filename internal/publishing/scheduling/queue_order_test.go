package scheduling_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/newsroomtest"
)

func TestReorderQueue_PostsBetweenMoveByOneSlot(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	g := queue(n, "Desk", []uuid.UUID{a.ID}, "09:00", "18:00")
	slots := upcoming(n, g, 5)
	names := map[uuid.UUID]string{}
	ids := map[string]uuid.UUID{}
	for _, name := range []string{"a", "b", "c", "d"} {
		p, err := inQueue(n)
		n.Must(err)
		names[p.ID], ids[name] = name, p.ID
	}
	// The third slot becomes free: it stays free.
	canceled, err := n.Scheduler.Cancel(t.Context(), post.Guard{WorkspaceID: n.Workspace.ID, PostID: ids["c"]})
	n.Must(err)
	delete(names, canceled.ID)
	for _, step := range []struct {
		move, before string
		want         string
		moved        int
	}{
		{"d", "a", "d a - b", 3},
		{"d", "", "a b - d", 3},
		{"a", "b", "a b - d", 0},
		{"b", "b", "a b - d", 0},
		{"b", "a", "b a - d", 2},
	} {
		version := map[uuid.UUID]int64{}
		for id := range names {
			p, err := n.Store.Publishing.Posts.PostInWorkspace(t.Context(), n.Workspace.ID, id)
			n.Must(err)
			version[id] = p.Version
		}
		move := post.QueueMove{GroupID: g.ID, PostID: ids[step.move], Before: ids[step.before]}
		moved, err := n.Scheduler.ReorderQueue(t.Context(), post.Guard{
			WorkspaceID: n.Workspace.ID, PostID: move.PostID,
			Actor: n.Owner.Actor(),
		}, move)
		n.Must(err)
		listed, err := n.Scheduler.Slots(t.Context(), n.Owner, slots[0], slots[4])
		n.Must(err)
		var got []string
		for _, one := range listed {
			name := "-"
			if one.PostID != nil {
				name = names[*one.PostID]
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != step.want || len(moved) != step.moved {
			t.Errorf("%s before %q: got %q and %d moved, want %q and %d", step.move, step.before, got, len(moved),
				step.want, step.moved)
		}
		for _, p := range moved {
			if p.Version != version[p.ID]+1 {
				t.Errorf("%s: got version %d after %d, want one more", names[p.ID], p.Version, version[p.ID])
			}
		}
	}
}

func TestReorderQueue_RefusesOtherPostsAndEarlyReplies(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	g := queue(n, "Desk", []uuid.UUID{a.ID}, "09:00", "18:00")
	slots := upcoming(n, g, 2)
	first, err := inQueue(n)
	n.Must(err)
	reply, err := inQueue(n, func(d *scheduling.Draft) {
		d.When, d.ThreadParentID, d.ScheduledTime, d.QueueGroupID = "", first.ID.String(),
			slots[1].Format(time.RFC3339), g.ID.String()
	})
	n.Must(err)
	outside := n.Schedule(func(d *scheduling.Draft) { d.ScheduledTime = slots[1].Add(time.Hour).Format(time.RFC3339) })
	for name, c := range map[string]struct {
		move post.QueueMove
		code string
	}{
		"a post of no queue": {post.QueueMove{GroupID: g.ID, PostID: outside.ID}, "not_in_queue"},
		"before such a post": {post.QueueMove{GroupID: g.ID, PostID: first.ID, Before: outside.ID}, "not_in_queue"},
		"a reply in front": {
			post.QueueMove{GroupID: g.ID, PostID: reply.ID, Before: first.ID}, "reply_before_parent",
		},
		"a group that is gone": {post.QueueMove{GroupID: uuid.New(), PostID: first.ID}, "account group_not_found"},
		"a parent to the end":  {post.QueueMove{GroupID: g.ID, PostID: first.ID}, "reply_before_parent"},
	} {
		_, err := n.Scheduler.ReorderQueue(t.Context(), post.Guard{WorkspaceID: n.Workspace.ID, PostID: c.move.PostID},
			c.move)
		if !hasCode(err, c.code) {
			t.Errorf("%s: got %v, want %s", name, err, c.code)
		}
	}
	for id, at := range map[uuid.UUID]time.Time{first.ID: slots[0], reply.ID: slots[1]} {
		if p, err := n.Store.Publishing.Posts.PostInWorkspace(t.Context(), n.Workspace.ID, id); err != nil ||
			!p.ScheduledTime.Equal(at) || p.QueueGroupID == nil {
			t.Errorf("got %s in %v (%v), want it unchanged at %s", p.ScheduledTime, p.QueueGroupID, err, at)
		}
	}
}

func TestReorderQueue_NeedsAnEditorWhereAuthorsNeedApproval(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	g := queue(n, "Desk", []uuid.UUID{a.ID}, "09:00")
	p, err := inQueue(n)
	n.Must(err)
	on := true
	_, err = n.People.ChangeWorkspace(t.Context(), n.Owner, workspace.Change{AuthorsNeedApproval: &on})
	n.Must(err)
	move := post.QueueMove{GroupID: g.ID, PostID: p.ID}
	if _, err := n.Scheduler.ReorderQueue(t.Context(),
		post.Guard{WorkspaceID: n.Workspace.ID, PostID: p.ID, IsAuthor: true},
		move); !hasCode(err, "approval_required") {
		t.Errorf("an author: got %v, want approval_required", err)
	}
	if _, err := n.Scheduler.ReorderQueue(t.Context(), post.Guard{WorkspaceID: n.Workspace.ID, PostID: p.ID},
		move); err != nil {
		t.Errorf("an editor: got %v, want no error", err)
	}
}
