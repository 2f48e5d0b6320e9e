package postgres_test

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
)

func TestEdit_ChangesNamedFieldsOnly(t *testing.T) {
	n := open(t)
	p := n.create(func(d *post.NewPost) { d.Post.Language = "vi" })
	text := "Corrected"
	got, err := n.Edit(t.Context(), n.guard(p), post.Change{Content: &text}, nil)
	n.must(err)
	require.Equal(t, text, got.Content)
	require.WithinDuration(t, p.ScheduledTime, got.ScheduledTime, 0)
	require.Equal(t, "vi", got.Language)
	require.Equal(t, p.TimeZone, got.TimeZone)
	require.Len(t, got.Targets, 1)
	if got.Version != p.Version+1 || got.Revision != p.Revision+1 || !got.UpdatedAt.After(p.UpdatedAt) {
		t.Errorf("version %d, revision %d, updated %s", got.Version, got.Revision, got.UpdatedAt)
	}
	if events := n.events(p); !slices.Equal(events, []string{post.EventCreated, post.EventEdited}) {
		t.Errorf("timeline %v", events)
	}
}

func TestEdit_ReplacesEverything(t *testing.T) {
	n := open(t)
	sports, politics := n.connect("sports"), n.connect("politics")
	p := n.create(func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{n.account.ID, sports.ID} })
	existing := p.Targets[1].ID
	at, zone, language := p.ScheduledTime.Add(time.Hour), "Europe/Berlin", "de"
	files, accounts := []uuid.UUID{newID()}, []uuid.UUID{sports.ID, politics.ID}
	got, err := n.Edit(t.Context(), n.guard(p), post.Change{
		ScheduledTime: &at, TimeZone: &zone, Language: &language,
		AttachmentIDs: &files, AccountIDs: &accounts,
	}, []string{"s3://b/1"})
	n.must(err)
	if !got.ScheduledTime.Equal(at) || got.TimeZone != zone || got.Language != language ||
		!slices.Equal(got.AttachmentIDs, files) {
		t.Errorf("got %+v", got)
	}
	if len(got.Targets) != 2 || got.Targets[0].ID != existing || got.Targets[1].AccountID != politics.ID {
		t.Errorf("targets %+v", got.Targets)
	}
	none := []uuid.UUID{}
	if got, err = n.Edit(t.Context(), n.guard(p), post.Change{AttachmentIDs: &none}, nil); err != nil ||
		len(got.AttachmentIDs) != 0 || len(got.AttachmentURLs) != 0 {
		t.Errorf("attachments %v %v, %v", got.AttachmentIDs, got.AttachmentURLs, err)
	}
}

func TestEdit_OfMediaDropsUploads(t *testing.T) {
	n := open(t)
	p := n.create()
	n.must(n.SetPlatformMedia(t.Context(), p.ID, p.Revision, n.account.ID, json.RawMessage(`[{"remote_id":"1"}]`)))
	p, err := n.Post(t.Context(), p.ID)
	n.must(err)
	if !strings.Contains(string(p.PlatformMedia), n.account.ID.String()) {
		t.Fatalf("handles %s", p.PlatformMedia)
	}
	files := []uuid.UUID{newID()}
	p, err = n.Edit(t.Context(), n.guard(p), post.Change{AttachmentIDs: &files}, []string{"s3://b/1"})
	n.must(err)
	if string(p.PlatformMedia) != "{}" {
		t.Errorf("handles %s still exist", p.PlatformMedia)
	}
	// Handles of the previous revision arrive too late.
	n.must(n.SetPlatformMedia(t.Context(), p.ID, p.Revision-1, n.account.ID, json.RawMessage(`[{"remote_id":"1"}]`)))
	if p, err = n.Post(t.Context(), p.ID); err != nil || string(p.PlatformMedia) != "{}" {
		t.Errorf("handles %s, %v", p.PlatformMedia, err)
	}
}

func TestEdit_RejectsAnOlderVersion(t *testing.T) {
	n := open(t)
	p := n.create()
	text := "First"
	g := n.guard(p)
	g.IfVersion = p.Version
	_, err := n.Edit(t.Context(), g, post.Change{Content: &text}, nil)
	n.must(err)
	for name, change := range n.changes(g) {
		_, err := change()
		if e := refused(t, err); e.Kind != apperr.KindPreconditionFailed || e.Code != "version_mismatch" ||
			!strings.Contains(e.Message, "2") {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// changes are the three ways to change a pending post.
func (n *newsroom) changes(g post.Guard) map[string]func() (post.Post, error) {
	text := "Changed"
	return map[string]func() (post.Post, error){
		"edit":        func() (post.Post, error) { return n.Edit(n.t.Context(), g, post.Change{Content: &text}, nil) },
		"cancel":      func() (post.Post, error) { return n.Cancel(n.t.Context(), g) },
		"publish now": func() (post.Post, error) { return n.PublishNow(n.t.Context(), g) },
	}
}

func TestEdit_TooLateReturnsReason(t *testing.T) {
	n := open(t)
	sports := n.connect("sports")
	two := func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{n.account.ID, sports.ID} }
	publishing, posted, partly, failed, canceled := n.create(), n.create(), n.create(two), n.create(), n.create()
	n.claim(publishing, 0, 1, time.Minute)
	n.finish(outcome(n.claim(posted, 0, 1, time.Minute), "1"))
	n.finish(outcome(n.claim(partly, 0, 1, time.Minute), "2"))
	n.finish(failure(n.claim(partly, 1, 1, time.Minute)))
	n.finish(failure(n.claim(failed, 0, 1, time.Minute)))
	_, err := n.Cancel(t.Context(), n.guard(canceled))
	n.must(err)
	for reason, p := range map[string]post.Post{
		"being published": publishing, "already published.": posted,
		"published on some accounts": partly, "publishing failed": failed, "is canceled": canceled,
	} {
		before, err := n.Post(t.Context(), p.ID)
		n.must(err)
		for name, change := range n.changes(n.guard(p)) {
			if name == "edit" && (p.ID == failed.ID || p.ID == partly.ID) {
				continue // that retries failed targets
			}
			_, err := change()
			if e := refused(t, err); e.Kind != apperr.KindConflict || e.Code != "too_late" ||
				!strings.Contains(e.Message, reason) {
				t.Errorf("%s, %s: %+v", reason, name, e)
			}
		}
		if after, err := n.Post(t.Context(), p.ID); err != nil || after.Version != before.Version {
			t.Errorf("%s: the refused changes left version %d, before %d (%v)", reason, after.Version, before.Version,
				err)
		}
	}
}

func TestCancel_CancelsEveryTarget(t *testing.T) {
	n := open(t)
	sports := n.connect("sports")
	p := n.create(func(d *post.NewPost) { d.AccountIDs = []uuid.UUID{n.account.ID, sports.ID} })
	got, err := n.Cancel(t.Context(), n.guard(p))
	n.must(err)
	if got.Status != post.Canceled || got.Targets[0].Status != post.TargetCanceled ||
		got.Targets[1].Status != post.TargetCanceled {
		t.Errorf("got %+v", got)
	}
	if events := n.events(p); !slices.Equal(events, []string{post.EventCreated, post.EventCanceled}) {
		t.Errorf("timeline %v", events)
	}
}

func TestPublishNow_MakesThePostDue(t *testing.T) {
	n := open(t)
	p, err := n.PublishNow(t.Context(), n.guard(n.create()))
	n.must(err)
	if late := time.Since(p.ScheduledTime); late < 0 || late > 5*time.Second {
		t.Errorf("due at %s", p.ScheduledTime)
	}
	overdue := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	p, err = n.PublishNow(t.Context(), n.guard(n.create(func(d *post.NewPost) { d.Post.ScheduledTime = overdue })))
	n.must(err)
	if !p.ScheduledTime.Equal(overdue) {
		t.Errorf("a post due at %s is now due at %s", overdue, p.ScheduledTime)
	}
}
