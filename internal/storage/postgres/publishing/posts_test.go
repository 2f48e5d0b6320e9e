package publishing_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

func TestCreatePost_ReadsBack(t *testing.T) {
	n := open(t)
	second := n.Connect("sports")
	parent := n.Create()
	d := n.Draft(func(d *post.NewPost) {
		d.AccountIDs = []uuid.UUID{n.Account.ID, second.ID}
		d.Post.Content, d.Post.TimeZone, d.Post.Language = "Xin chào 👋🏽\nthế giới", "Asia/Ho_Chi_Minh", "vi"
		d.Post.AttachmentIDs = []uuid.UUID{storetest.NewID(), storetest.NewID()}
		d.Post.AttachmentURLs = []string{"s3://b/1", "s3://b/2"}
		d.Post.ThreadID, d.Post.ThreadParentID = &parent.ID, &parent.ID
	})
	made, replayed, err := n.Publishing.Posts.CreatePost(t.Context(), d)
	n.Must(err)
	if replayed {
		t.Error("a request without key counts as a repetition")
	}
	got, err := n.Publishing.Posts.Post(t.Context(), d.Post.ID)
	n.Must(err)
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", made) {
		t.Errorf("read %+v\nmade %+v", got, made)
	}
	w := d.Post
	require.Equal(t, w.Content, got.Content)
	require.Equal(t, "vi", got.Language)
	require.Equal(t, w.TimeZone, got.TimeZone)
	require.WithinDuration(t, w.ScheduledTime, got.ScheduledTime, 0)
	require.Equal(t, time.UTC, got.ScheduledTime.Location())
	if !slices.Equal(got.AttachmentIDs, w.AttachmentIDs) || !slices.Equal(got.AttachmentURLs, w.AttachmentURLs) ||
		*got.ThreadParentID != parent.ID || *got.ThreadID != parent.ID {
		t.Errorf("got %+v", got)
	}
	require.Equal(t, post.Scheduled, got.Status)
	require.Equal(t, int64(1), got.Version)
	require.Equal(t, int64(1), got.Revision)
	require.Equal(t, 0, got.RetryCount)
	require.Equal(t, "{}", string(got.PlatformMedia))
	if len(got.Targets) != 2 || got.Targets[0].Handle != n.Account.Handle || got.Targets[1].AccountID != second.ID ||
		got.Targets[0].Status != post.TargetScheduled {
		t.Errorf("targets %+v", got.Targets)
	}
	if events := n.EventTypes(got); !slices.Equal(events, []string{post.EventCreated}) {
		t.Errorf("timeline %v", events)
	}
}

func TestPost_NotFound(t *testing.T) {
	n := open(t)
	_, err := n.Publishing.Posts.Post(t.Context(), storetest.NewID())
	if e := storetest.Refused(t, err); e.Kind != apperr.KindNotFound || e.Code != "post_not_found" {
		t.Errorf("%+v", e)
	}
}

func TestPost_IsIsolated(t *testing.T) {
	n := open(t)
	p := n.Create()
	foreign, _, _ := n.Found("Rivals")
	_, err := n.Publishing.Posts.PostInWorkspace(t.Context(), foreign.ID, p.ID)
	if storetest.Refused(t, err).Kind != apperr.KindNotFound {
		t.Error(err)
	}
	list, err := n.Publishing.Posts.Posts(t.Context(), post.Filter{WorkspaceID: foreign.ID, Limit: 10})
	if err != nil || len(list) != 0 {
		t.Errorf("listed %v, %v", list, err)
	}
	g, text := n.Guard(p), "Taken over"
	g.WorkspaceID = foreign.ID
	for name, change := range map[string]func() (post.Post, error){
		"edit": func() (post.Post, error) {
			return n.Publishing.Posts.Edit(t.Context(), g, post.Change{Content: &text}, nil)
		},
		"cancel":      func() (post.Post, error) { return n.Publishing.Posts.Cancel(t.Context(), g) },
		"publish now": func() (post.Post, error) { return n.Publishing.Posts.PublishNow(t.Context(), g) },
	} {
		_, err := change()
		if storetest.Refused(t, err).Kind != apperr.KindNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	accounts, err := n.Publishing.Accounts.AccountsByID(t.Context(), foreign.ID, []uuid.UUID{n.Account.ID})
	if err != nil || len(accounts) != 0 {
		t.Errorf("accounts %v, %v", accounts, err)
	}
	if all, err := n.Publishing.Accounts.Accounts(t.Context(), foreign.ID); err != nil || len(all) != 0 {
		t.Errorf("accounts %v, %v", all, err)
	}
	if now, err := n.Publishing.Posts.Post(t.Context(), p.ID); err != nil || now.Version != p.Version {
		t.Errorf("the post is now %+v, %v", now, err)
	}
}

// Several posts share a second, so the cursor has to order them.
func TestPosts_PagesInBothDirections(t *testing.T) {
	n := open(t)
	base := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	var ids []uuid.UUID
	for i := range 25 {
		ids = append(ids,
			n.Create(func(d *post.NewPost) { d.Post.ScheduledTime = base.Add(time.Duration(i/4) * time.Second) }).ID)
	}
	for _, ascending := range []bool{true, false} {
		var seen []uuid.UUID
		f := post.Filter{WorkspaceID: n.Workspace.ID, Ascending: ascending, Limit: 3}
		for {
			page, err := n.Publishing.Posts.Posts(t.Context(), f)
			n.Must(err)
			if len(page) == 0 {
				break
			}
			if len(seen) == 12 { // posts created meanwhile must not shift later pages
				n.Create(func(d *post.NewPost) {
					d.Post.ScheduledTime = base.Add(-time.Minute)
					if !ascending {
						d.Post.ScheduledTime = base.Add(time.Minute)
					}
				})
			}
			for _, p := range page {
				seen = append(seen, p.ID)
			}
			last := page[len(page)-1]
			f.AfterTime, f.AfterID = &last.ScheduledTime, &last.ID
		}
		want := slices.Clone(ids)
		if !ascending {
			slices.Reverse(want)
			// The one of the first pass
			seen = slices.DeleteFunc(seen, func(id uuid.UUID) bool { return !slices.Contains(ids, id) })
		}
		if !slices.Equal(seen, want) {
			t.Errorf("ascending %v: saw %d posts, want %d in order", ascending, len(seen), len(want))
		}
	}
}

func TestPosts_FilterByStatusAccountAndTime(t *testing.T) {
	n := open(t)
	sports := n.Connect("sports")
	base := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	at := func(minutes int, accounts ...uuid.UUID) post.Post {
		return n.Create(func(d *post.NewPost) {
			d.Post.ScheduledTime = base.Add(time.Duration(minutes) * time.Minute)
			d.AccountIDs = accounts
		})
	}
	first, second, third := at(0, n.Account.ID), at(1, sports.ID), at(2, n.Account.ID, sports.ID)
	_, err := n.Publishing.Posts.Cancel(t.Context(), n.Guard(second))
	n.Must(err)
	minute := func(m int) *time.Time { t := base.Add(time.Duration(m) * time.Minute); return &t }
	for name, c := range map[string]struct {
		filter post.Filter
		want   []uuid.UUID
	}{
		"everything": {post.Filter{}, []uuid.UUID{first.ID, second.ID, third.ID}},
		"one status": {post.Filter{Statuses: []post.Status{post.Canceled}}, []uuid.UUID{second.ID}},
		"two statuses": {
			post.Filter{Statuses: []post.Status{post.Canceled, post.Scheduled}},
			[]uuid.UUID{first.ID, second.ID, third.ID},
		},
		"no such status":  {post.Filter{Statuses: []post.Status{post.Posted}}, nil},
		"account":         {post.Filter{AccountID: &sports.ID}, []uuid.UUID{second.ID, third.ID}},
		"from, inclusive": {post.Filter{From: minute(1)}, []uuid.UUID{second.ID, third.ID}},
		"to, exclusive":   {post.Filter{To: minute(1)}, []uuid.UUID{first.ID}},
		"between":         {post.Filter{From: minute(1), To: minute(2)}, []uuid.UUID{second.ID}},
		"status + account": {
			post.Filter{Statuses: []post.Status{post.Scheduled}, AccountID: &sports.ID},
			[]uuid.UUID{third.ID},
		},
	} {
		for _, ascending := range []bool{true, false} {
			c.filter.WorkspaceID, c.filter.Ascending, c.filter.Limit = n.Workspace.ID, ascending, 10
			posts, err := n.Publishing.Posts.Posts(t.Context(), c.filter)
			n.Must(err)
			var got []uuid.UUID
			for _, p := range posts {
				got = append(got, p.ID)
			}
			if !ascending {
				slices.Reverse(got)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s (ascending %v): %v, want %v", name, ascending, got, c.want)
			}
		}
	}
}

func TestEvents_ContinueAfterTheGivenEvent(t *testing.T) {
	n := open(t)
	p := n.Create()
	for i := range 5 {
		text := fmt.Sprint("version ", i)
		_, err := n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{Content: &text}, nil)
		n.Must(err)
	}
	var last int64
	var seen int
	for {
		events, err := n.Publishing.Posts.Events(t.Context(), p.ID, last, 2)
		n.Must(err)
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			if e.ID <= last || e.PostID != p.ID {
				t.Errorf("event %+v behind %d", e, last)
			}
			last = e.ID
			seen++
		}
	}
	if seen != 6 {
		t.Errorf("saw %d events, want 6", seen)
	}
}

// Event IDs are assigned before the transaction commits. If AddEvent did not wait for
// the lock on the post, a stream could skip an event that commits later.
func TestAddEvent_WaitsForConcurrentChange(t *testing.T) {
	n := open(t)
	p := n.Create()
	tx := n.Begin()
	_, err := tx.Exec(t.Context(), "select 1 from scheduled_posts where post_id = $1 for update", p.ID)
	n.Must(err)
	noted := make(chan error, 1)
	go func() {
		noted <- n.Publishing.Ledger.AddEvent(t.Context(), p.ID, nil, post.EventRefused, post.ActorOperator, nil)
	}()
	time.Sleep(50 * time.Millisecond) // long enough for an AddEvent that would not wait
	_, err = tx.Exec(t.Context(),
		"insert into post_events (post_id, workspace_id, type, actor) values ($1, $2, 'edited', 'dateline')", p.ID,
		n.Workspace.ID)
	n.Must(err)
	n.Must(tx.Commit(t.Context()))
	n.Must(<-noted)
	if got := n.EventTypes(p); !slices.Equal(got, []string{post.EventCreated, post.EventEdited, post.EventRefused}) {
		t.Errorf("timeline %v", got)
	}
}
