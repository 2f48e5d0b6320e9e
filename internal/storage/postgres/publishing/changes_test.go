package publishing_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

func TestEdit_ChangesNamedFieldsOnly(t *testing.T) {
	n := open(t)
	p := n.Create(func(d *post.NewPost) { d.Post.Language = "vi" })
	text := "Corrected"
	got, err := n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{Content: &text}, nil)
	n.Must(err)
	require.Equal(t, text, got.Content)
	require.WithinDuration(t, p.ScheduledTime, got.ScheduledTime, 0)
	require.Equal(t, "vi", got.Language)
	require.Equal(t, p.TimeZone, got.TimeZone)
	require.Len(t, got.Targets, 1)
	if got.Version != p.Version+1 || got.Revision != p.Revision+1 || !got.UpdatedAt.After(p.UpdatedAt) {
		t.Errorf("version %d, revision %d, updated %s", got.Version, got.Revision, got.UpdatedAt)
	}
	if events := n.EventTypes(p); !slices.Equal(events, []string{post.EventCreated, post.EventEdited}) {
		t.Errorf("timeline %v", events)
	}
}

func TestEdit_ReplacesEverything(t *testing.T) {
	n := open(t)
	sports, politics := n.Connect("sports"), n.Connect("politics")
	p := n.Create(func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{n.Account.ID, sports.ID} })
	existing := p.Targets[1].ID
	at, zone, language := p.ScheduledTime.Add(time.Hour), "Europe/Berlin", "de"
	files, accounts := []uuid.UUID{storetest.NewID()}, []uuid.UUID{sports.ID, politics.ID}
	got, err := n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{
		ScheduledTime: &at, TimeZone: &zone, Language: &language,
		AttachmentIDs: &files, AccountIDs: &accounts,
	}, []string{"s3://b/1"})
	n.Must(err)
	if !got.ScheduledTime.Equal(at) || got.TimeZone != zone || got.Language != language ||
		!slices.Equal(got.AttachmentIDs, files) {
		t.Errorf("got %+v", got)
	}
	if len(got.Targets) != 2 || got.Targets[0].ID != existing || got.Targets[1].AccountID != politics.ID {
		t.Errorf("targets %+v", got.Targets)
	}
	none := []uuid.UUID{}
	if got, err = n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{AttachmentIDs: &none}, nil); err != nil ||
		len(got.AttachmentIDs) != 0 || len(got.AttachmentURLs) != 0 {
		t.Errorf("attachments %v %v, %v", got.AttachmentIDs, got.AttachmentURLs, err)
	}
}

func TestEdit_OfMediaDropsUploads(t *testing.T) {
	n := open(t)
	p := n.Create()
	n.Must(n.Publishing.Ledger.SetPlatformMedia(t.Context(), p.ID, p.Revision, n.Account.ID, json.RawMessage(`[{"remote_id":"1"}]`)))
	p, err := n.Publishing.Posts.Post(t.Context(), p.ID)
	n.Must(err)
	if !strings.Contains(string(p.PlatformMedia), n.Account.ID.String()) {
		t.Fatalf("handles %s", p.PlatformMedia)
	}
	files := []uuid.UUID{storetest.NewID()}
	p, err = n.Publishing.Posts.Edit(t.Context(), n.Guard(p), post.Change{AttachmentIDs: &files}, []string{"s3://b/1"})
	n.Must(err)
	if string(p.PlatformMedia) != "{}" {
		t.Errorf("handles %s still exist", p.PlatformMedia)
	}
	// Handles of the previous revision arrive too late.
	n.Must(n.Publishing.Ledger.SetPlatformMedia(t.Context(), p.ID, p.Revision-1, n.Account.ID, json.RawMessage(`[{"remote_id":"1"}]`)))
	if p, err = n.Publishing.Posts.Post(t.Context(), p.ID); err != nil || string(p.PlatformMedia) != "{}" {
		t.Errorf("handles %s, %v", p.PlatformMedia, err)
	}
}

func TestEdit_RejectsAnOlderVersion(t *testing.T) {
	n := open(t)
	p := n.Create()
	text := "First"
	g := n.Guard(p)
	g.IfVersion = p.Version
	_, err := n.Publishing.Posts.Edit(t.Context(), g, post.Change{Content: &text}, nil)
	n.Must(err)
	for name, change := range n.changes(g) {
		_, err := change()
		if e := storetest.Refused(t, err); e.Kind != apperr.KindPreconditionFailed || e.Code != "version_mismatch" ||
			!strings.Contains(e.Message, "2") {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// changes are the three ways to change a pending post.
func (n *newsroom) changes(g post.Guard) map[string]func() (post.Post, error) {
	text := "Changed"
	return map[string]func() (post.Post, error){
		"edit": func() (post.Post, error) {
			return n.Publishing.Posts.Edit(n.T.Context(), g, post.Change{Content: &text}, nil)
		},
		"cancel":      func() (post.Post, error) { return n.Publishing.Posts.Cancel(n.T.Context(), g) },
		"publish now": func() (post.Post, error) { return n.Publishing.Posts.PublishNow(n.T.Context(), g) },
	}
}

func TestEdit_TooLateReturnsReason(t *testing.T) {
	n := open(t)
	sports := n.Connect("sports")
	two := func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{n.Account.ID, sports.ID} }
	publishing, posted, partly, failed, canceled := n.Create(), n.Create(), n.Create(two), n.Create(), n.Create()
	n.Claim(publishing, 0, 1, time.Minute)
	n.Finish(storetest.Outcome(n.Claim(posted, 0, 1, time.Minute), "1"))
	n.Finish(storetest.Outcome(n.Claim(partly, 0, 1, time.Minute), "2"))
	n.Finish(storetest.Failure(n.Claim(partly, 1, 1, time.Minute)))
	n.Finish(storetest.Failure(n.Claim(failed, 0, 1, time.Minute)))
	_, err := n.Publishing.Posts.Cancel(t.Context(), n.Guard(canceled))
	n.Must(err)
	for reason, p := range map[string]post.Post{
		"being published": publishing, "already published.": posted,
		"published on some accounts": partly, "publishing failed": failed, "is canceled": canceled,
	} {
		before, err := n.Publishing.Posts.Post(t.Context(), p.ID)
		n.Must(err)
		for name, change := range n.changes(n.Guard(p)) {
			if name == "edit" && (p.ID == failed.ID || p.ID == partly.ID) {
				continue // that retries failed targets
			}
			_, err := change()
			if e := storetest.Refused(t, err); e.Kind != apperr.KindConflict || e.Code != "too_late" ||
				!strings.Contains(e.Message, reason) {
				t.Errorf("%s, %s: %+v", reason, name, e)
			}
		}
		if after, err := n.Publishing.Posts.Post(t.Context(), p.ID); err != nil || after.Version != before.Version {
			t.Errorf("%s: the refused changes left version %d, before %d (%v)", reason, after.Version, before.Version,
				err)
		}
	}
}

func TestCancel_CancelsEveryTarget(t *testing.T) {
	n := open(t)
	sports := n.Connect("sports")
	p := n.Create(func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{n.Account.ID, sports.ID} })
	got, err := n.Publishing.Posts.Cancel(t.Context(), n.Guard(p))
	n.Must(err)
	if got.Status != post.Canceled || got.Targets[0].Status != post.TargetCanceled ||
		got.Targets[1].Status != post.TargetCanceled {
		t.Errorf("got %+v", got)
	}
	if events := n.EventTypes(p); !slices.Equal(events, []string{post.EventCreated, post.EventCanceled}) {
		t.Errorf("timeline %v", events)
	}
}

func TestPublishNow_MakesThePostDue(t *testing.T) {
	n := open(t)
	p, err := n.Publishing.Posts.PublishNow(t.Context(), n.Guard(n.Create()))
	n.Must(err)
	if late := time.Since(p.ScheduledTime); late < 0 || late > 5*time.Second {
		t.Errorf("due at %s", p.ScheduledTime)
	}
	overdue := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	p, err = n.Publishing.Posts.PublishNow(t.Context(), n.Guard(n.Create(func(d *post.NewPost) { d.Post.ScheduledTime = overdue })))
	n.Must(err)
	if !p.ScheduledTime.Equal(overdue) {
		t.Errorf("a post due at %s is now due at %s", overdue, p.ScheduledTime)
	}
}
