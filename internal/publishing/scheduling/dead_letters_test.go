package scheduling_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/newsroomtest"
)

// onBoth schedules a post for two accounts with the given final states.
func onBoth(n *newsroomtest.Newsroom, first, second post.TargetStatus) (p post.Post, accounts [2]uuid.UUID) {
	n.T.Helper()
	accounts = [2]uuid.UUID{n.Connect("desk").ID, n.Connect("sports").ID}
	p = n.Schedule(func(d *scheduling.Draft) { d.Accounts = []string{accounts[0].String(), accounts[1].String()} })
	for i, status := range []post.TargetStatus{first, second} {
		p = n.Finish(n.ClaimOn(p, accounts[i]), status)
	}
	return p, accounts
}

func TestEdit_ResumesAFailedPost(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	text, later := "Better", time.Now().Add(3*time.Hour).UTC().Truncate(time.Second)
	failed := func() post.Post {
		return n.Dead(n.Schedule(func(d *scheduling.Draft) { d.LateLimit = 5 }), post.TargetFailed)
	}
	p := failed()
	got, err := n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{Content: &text})
	n.Must(err)
	require.Equal(t, post.Scheduled, got.Status)
	require.Equal(t, post.TargetScheduled, got.Targets[0].Status)
	require.Equal(t, text, got.Content)
	require.WithinDuration(t, p.ScheduledTime, got.ScheduledTime, 0)
	require.NotNil(t, got.RedrivenAt)
	require.Equal(t, 0, got.Targets[0].Attempts)
	got, err = n.Scheduler.Edit(t.Context(), guard(n, failed()), scheduling.Edit{
		ScheduledTime: ptr(later.Format(time.RFC3339)),
	})
	n.Must(err)
	if got.Status != post.Scheduled || !got.ScheduledTime.Equal(later) {
		t.Errorf("got %+v", got)
	}

	// An invalid edit changes nothing.
	p = failed()
	_, err = n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{
		Content: ptr(strings.Repeat("x", 501)), ScheduledTime: ptr(in(-time.Hour)), Accounts: &[]string{
			p.Targets[0].AccountID.String(),
		},
	})
	expect(t, err, "accounts too_late", "content too_long", "scheduled_time in_the_past")
	if now, err := n.Store.Publishing.Posts.Post(t.Context(), p.ID); err != nil || now.Status != post.Failed ||
		now.Version != p.Version {
		t.Errorf("%+v, %v", now, err)
	}
	for name, do := range map[string]func() (post.Post, error){
		"cancel":      func() (post.Post, error) { return n.Scheduler.Cancel(t.Context(), guard(n, p)) },
		"publish now": func() (post.Post, error) { return n.Scheduler.PublishNow(t.Context(), guard(n, p)) },
	} {
		_, err := do()
		refused(t, err, apperr.KindConflict, "too_late")
		if !strings.Contains(err.Error(), "retry or discard") {
			t.Errorf("%s: %v does not name a remedy", name, err)
		}
	}
}

func TestEdit_PartlyPublishedPostChangesFailedTargetsOnly(t *testing.T) {
	n := newsroomtest.Open(t)
	p, accounts := onBoth(n, post.TargetPosted, post.TargetFailed)
	if p.Status != post.PartlyPosted {
		t.Fatalf("the post is %s", p.Status)
	}
	posted, failed := accounts[0].String(), accounts[1].String()
	for name, c := range map[string]struct {
		edit scheduling.Edit
		want string
	}{
		"time": {
			scheduling.Edit{ScheduledTime: ptr(in(time.Hour))}, "scheduled_time too_late",
		},
		"accounts": {scheduling.Edit{Accounts: &[]string{failed}}, "accounts too_late"},
		"a published target": {
			scheduling.Edit{Overrides: map[string]*scheduling.Override{posted: {Content: ptr("x")}}},
			"overrides." + posted + " too_late",
		},
		"removing its override": {
			scheduling.Edit{Overrides: map[string]*scheduling.Override{posted: nil}},
			"overrides." + posted + " too_late",
		},
		"an invalid text for the failed target": {
			scheduling.Edit{Overrides: map[string]*scheduling.Override{failed: {Content: ptr("")}}},
			"overrides." + failed + ".content empty",
		},
		"nothing": {scheduling.Edit{}, " nothing_to_change"},
	} {
		_, err := n.Scheduler.Edit(t.Context(), guard(n, p), c.edit)
		if got := problems(t, err); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: refused for %q, want %q", name, got, c.want)
		}
	}
	got, err := n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{
		Overrides: map[string]*scheduling.Override{failed: {Content: ptr("Better")}},
	})
	n.Must(err)
	if got.Status != post.Publishing || newsroomtest.TargetOn(got, accounts[0]).Status != post.TargetPosted ||
		newsroomtest.TargetOn(got, accounts[1]).Status != post.TargetScheduled {
		t.Errorf("got %+v", got)
	}
	_, err = n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{Content: ptr("Too late")})
	refused(t, err, apperr.KindConflict, "too_late")
}

// A published target does not prevent another one from having a text of its own length.
func TestEdit_IgnoresPublishedTargets(t *testing.T) {
	n := newsroomtest.Open(t)
	p, accounts := onBoth(n, post.TargetPosted, post.TargetFailed)
	long := strings.Repeat("x", 501)
	got, err := n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{
		Content: &long, Overrides: map[string]*scheduling.Override{accounts[1].String(): {Content: ptr("short")}},
	})
	n.Must(err)
	if got.Status != post.Publishing {
		t.Errorf("got %+v", got)
	}
}

func TestUncertainTarget_RefusalAsksForADecision(t *testing.T) {
	n := newsroomtest.Open(t)
	p, _ := onBoth(n, post.TargetPosted, post.TargetUncertain)
	for name, do := range map[string]func() (post.Post, error){
		"edit": func() (post.Post, error) {
			return n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{Content: ptr("x")})
		},
		"cancel":      func() (post.Post, error) { return n.Scheduler.Cancel(t.Context(), guard(n, p)) },
		"publish now": func() (post.Post, error) { return n.Scheduler.PublishNow(t.Context(), guard(n, p)) },
	} {
		_, err := do()
		refused(t, err, apperr.KindConflict, "too_late")
		if text := err.Error(); !strings.Contains(text, "needs a decision about @sports") ||
			strings.Contains(text, "@desk") || strings.Contains(text, "right now") {
			t.Errorf("%s: %s", name, text)
		}
	}
	_, err := n.Scheduler.Retry(t.Context(), guard(n, p), nil)
	refused(t, err, apperr.KindConflict, "not_a_dead_letter")
}

func TestDeadLetters_RetryAndDiscardSelect(t *testing.T) {
	n := newsroomtest.Open(t)
	p, accounts := onBoth(n, post.TargetFailed, post.TargetFailed)
	first, second := newsroomtest.TargetOn(p, accounts[0]).ID, newsroomtest.TargetOn(p, accounts[1]).ID
	_, err := n.Scheduler.Retry(t.Context(), guard(n, p), []uuid.UUID{uuid.New()})
	refused(t, err, apperr.KindConflict, "not_a_dead_letter")
	got, err := n.Scheduler.Discard(t.Context(), guard(n, p), []uuid.UUID{first})
	n.Must(err)
	if got.Status != post.Failed || newsroomtest.TargetOn(got, accounts[0]).Status != post.TargetCanceled {
		t.Errorf("got %+v", got)
	}
	stale := guard(n, p)
	stale.IfVersion = p.Version
	_, err = n.Scheduler.Retry(t.Context(), stale, nil)
	refused(t, err, apperr.KindPreconditionFailed, "version_mismatch")
	got, err = n.Scheduler.Retry(t.Context(), guard(n, p), nil)
	n.Must(err)
	if got.Status != post.Scheduled || newsroomtest.TargetOn(got, accounts[0]).Status != post.TargetCanceled ||
		newsroomtest.TargetOn(got, accounts[1]).Status != post.TargetScheduled {
		t.Errorf("got %+v", got)
	}
	_, err = n.Scheduler.Discard(t.Context(), guard(n, p), []uuid.UUID{second})
	refused(t, err, apperr.KindConflict, "not_a_dead_letter")
	_, rival, _ := n.Found("Rivals")
	_, err = n.Scheduler.Discard(t.Context(), post.Guard{
		WorkspaceID: rival.WorkspaceID, PostID: p.ID,
		Actor: rival.Actor(),
	}, nil)
	refused(t, err, apperr.KindNotFound, "post_not_found")
}

func TestDeadLetters_DecideUncertain(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	doubtful := func() (post.Post, uuid.UUID) {
		p := n.Dead(n.Schedule(), post.TargetUncertain)
		return p, p.Targets[0].ID
	}
	const address = "https://social.example/@desk/109372843234"
	p, target := doubtful()
	for name, c := range map[string]struct{ url, id string }{
		"no address": {"109372843234", ""}, "no host": {"https:///@desk/1", ""}, "script": {"javascript:alert(1)", ""},
		"file":    {"file:///etc/passwd", ""},
		"no path": {"https://social.example/", ""}, "space": {"https://social .example/1", ""},
		"NUL":      {"https://social.example/%00", ""},
		"no UTF-8": {"https://social.example/%ff", ""}, "NUL in the id": {address, "1\x00"}, "empty": {"", ""},
	} {
		_, err := n.Scheduler.Confirm(t.Context(), guard(n, p), target, c.url, c.id)
		if got := problems(t, err); !slices.Equal(got, []string{"url invalid"}) {
			t.Errorf("%s: refused for %q", name, got)
		}
	}
	_, err := n.Scheduler.Confirm(t.Context(), guard(n, p), uuid.New(), address, "")
	refused(t, err, apperr.KindConflict, "not_uncertain")
	got, err := n.Scheduler.Confirm(t.Context(), guard(n, p), target, address, "")
	n.Must(err)
	t0 := got.Targets[0]
	require.Equal(t, post.Posted, got.Status)
	require.Equal(t, post.TargetPosted, t0.Status)
	require.Equal(t, "109372843234", t0.RemoteID)
	require.Equal(t, address, t0.RemoteURL)
	require.NotNil(t, got.PostedAt)
	_, err = n.Scheduler.Resend(t.Context(), guard(n, p), target)
	refused(t, err, apperr.KindConflict, "not_uncertain")

	// One post at the network cannot belong to two of ours.
	p, target = doubtful()
	_, err = n.Scheduler.Confirm(t.Context(), guard(n, p), target, address, "")
	expect(t, err, "url taken")
	got, err = n.Scheduler.Resend(t.Context(), guard(n, p), target)
	n.Must(err)
	if got.Targets[0].Status != post.TargetScheduled || got.Status.IsFinal() {
		t.Errorf("got %+v", got)
	}
	failed := n.Dead(n.Schedule(), post.TargetFailed)
	_, err = n.Scheduler.Resend(t.Context(), guard(n, failed), failed.Targets[0].ID)
	refused(t, err, apperr.KindConflict, "not_uncertain")
	_, err = n.Scheduler.Confirm(t.Context(), guard(n, failed), failed.Targets[0].ID, address, "2")
	refused(t, err, apperr.KindConflict, "not_uncertain")
}

func TestDeadLetters_BulkMatches(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	var failed []uuid.UUID
	for range 3 {
		failed = append(failed, n.Dead(n.Schedule(), post.TargetFailed).ID)
	}
	doubtful := n.Dead(n.Schedule(), post.TargetUncertain)
	_, rival, _ := n.Found("Rivals")
	bulk := func(f post.DeadLetterFilter, discard, dry bool) scheduling.DeadLetterResult {
		t.Helper()
		if f.WorkspaceID == uuid.Nil {
			f.WorkspaceID = n.Workspace.ID
		}
		got, err := n.Scheduler.BulkDeadLetters(t.Context(), n.Owner.Actor(), f, discard, dry)
		n.Must(err)
		return got
	}
	for name, c := range map[string]struct {
		f       post.DeadLetterFilter
		discard bool
		want    int
	}{
		"retry of all":      {post.DeadLetterFilter{}, false, 3}, // uncertain targets are never retried in bulk
		"discard of all":    {post.DeadLetterFilter{}, true, 4},
		"by reason":         {post.DeadLetterFilter{Reasons: []string{"ambiguous", "auth"}}, true, 1},
		"uncertain, resent": {post.DeadLetterFilter{Reasons: []string{"ambiguous"}}, false, 0},
		"by post":           {post.DeadLetterFilter{PostIDs: failed[:2]}, false, 2},
		"other network":     {post.DeadLetterFilter{Networks: []string{"bluesky"}}, true, 0},
		"both hold":         {post.DeadLetterFilter{PostIDs: failed[:2], Reasons: []string{"ambiguous"}}, true, 0},
		"rivals":            {post.DeadLetterFilter{WorkspaceID: rival.WorkspaceID}, true, 0},
		"rivals, by id":     {post.DeadLetterFilter{WorkspaceID: rival.WorkspaceID, PostIDs: failed}, true, 0},
	} {
		if got := bulk(c.f, c.discard, true); got.Matched != c.want || len(got.Posts) != c.want || got.HasMore {
			t.Errorf("%s: %+v, want %d", name, got, c.want)
		}
	}
	if got := bulk(post.DeadLetterFilter{WorkspaceID: rival.WorkspaceID, PostIDs: failed}, true,
		false); len(got.Posts) != 0 {
		t.Errorf("rivals discarded %+v", got)
	}
	if rows := n.Count("select count(*) from post_targets where status in ('failed', 'uncertain')"); rows != 4 {
		t.Fatalf("%d dead letters are left of 4", rows)
	}
	if got := bulk(post.DeadLetterFilter{PostIDs: failed[:1]}, false, false); !slices.Equal(got.Posts, failed[:1]) {
		t.Errorf("retried %+v", got)
	}
	if got := bulk(post.DeadLetterFilter{}, true, false); got.Matched != 3 || len(got.Posts) != 3 {
		t.Errorf("discarded %+v", got)
	}
	if p, err := n.Store.Publishing.Posts.Post(t.Context(), doubtful.ID); err != nil || p.Status != post.Canceled {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestBulkDeadLetters_ReportsWhenThereAreMore(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	p := n.Dead(n.Schedule(), post.TargetFailed)
	// Copied by SQL: creating a thousand posts one by one would test nothing more.
	n.Exec(
		`insert into scheduled_posts (post_id, workspace_id, user_id, content, scheduled_time, time_zone, status, attachment_ids, attachment_urls, language)
		select gen_random_uuid(), workspace_id, user_id, 'copy', scheduled_time, time_zone, status, attachment_ids, attachment_urls, language
		from scheduled_posts, generate_series(1, 1000) where post_id = $1`, p.ID)
	n.Exec(
		`insert into post_targets (id, post_id, account_id, status, error_class) select gen_random_uuid(), post_id, $1, 'failed', 'rejected' from scheduled_posts where content = 'copy'`, a.ID)
	for _, want := range []struct {
		matched int
		more    bool
	}{{1000, true}, {1, false}, {0, false}} {
		got, err := n.Scheduler.BulkDeadLetters(t.Context(), n.Owner.Actor(),
			post.DeadLetterFilter{WorkspaceID: n.Workspace.ID}, true, false)
		n.Must(err)
		if got.Matched != want.matched || len(got.Posts) != want.matched || got.HasMore != want.more {
			t.Errorf("%d matched, %d changed, more: %v; want %+v", got.Matched, len(got.Posts), got.HasMore, want)
		}
	}
}
