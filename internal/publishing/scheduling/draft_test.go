package scheduling_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/newsroomtest"
)

// refused checks that err is a refusal with this kind and code.
func refused(t *testing.T, err error, kind apperr.Kind, code string) {
	t.Helper()
	var e *apperr.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Code != code || e.Message == "" {
		t.Errorf("got %v, want the refusal %s", err, code)
	}
}

func draft(n *newsroomtest.Newsroom, change ...func(*scheduling.Draft)) post.Post {
	n.T.Helper()
	d := scheduling.Draft{SaveAsDraft: true}
	for _, f := range change {
		f(&d)
	}
	p, err := schedule(n, d)
	n.Must(err)
	return p
}

func TestDraft_MayBeIncomplete(t *testing.T) {
	n := newsroomtest.Open(t)
	p := draft(n) // no text, no time, no account connected
	if p.Status != post.Draft || !p.ScheduledTime.IsZero() || len(p.Targets) != 0 {
		t.Errorf("got %+v", p)
	}
	a := n.Connect("desk")
	long := strings.Repeat("x", 600)
	if p := draft(n, func(d *scheduling.Draft) { d.Content = long }); p.Content != long || len(p.Targets) != 1 ||
		p.Targets[0].AccountID != a.ID {
		t.Errorf("got %+v", p)
	}
}

// Values that cannot be stored are refused for drafts, too.
func TestDraft_RejectsUnstorableValues(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk").ID.String()
	nul := "a\x00b"
	for name, c := range map[string]struct {
		change func(*scheduling.Draft)
		want   string
	}{
		"text": {func(d *scheduling.Draft) { d.Content = nul }, "content invalid_text"},
		"segment": {
			func(d *scheduling.Draft) { d.Thread = []scheduling.Segment{{Content: "x"}, {Content: nul}} },
			"thread[1].content invalid_text",
		},
		"override": {
			func(d *scheduling.Draft) { d.Overrides = map[string]scheduling.Override{a: {Content: &nul}} },
			"overrides." + a + ".content invalid_text",
		},
		"override thread": {func(d *scheduling.Draft) {
			d.Overrides = map[string]scheduling.Override{a: {Thread: &[]scheduling.Segment{{Content: nul}}}}
		}, "overrides." + a + ".thread[0].content invalid_text"},
		"file": {
			func(d *scheduling.Draft) { d.Attachments = []string{uuid.NewString()} },
			"attachments[0] unknown_file",
		},
		"past":       {func(d *scheduling.Draft) { d.ScheduledTime = in(-time.Hour) }, "scheduled_time in_the_past"},
		"zone":       {func(d *scheduling.Draft) { d.TimeZone = "Mars/Olympus" }, "time_zone unknown_time_zone"},
		"language":   {func(d *scheduling.Draft) { d.Language = "Vietnamese" }, "language not_a_language"},
		"late limit": {func(d *scheduling.Draft) { d.LateLimit = -1 }, "drop_if_late_minutes invalid"},
	} {
		d := scheduling.Draft{SaveAsDraft: true}
		c.change(&d)
		_, err := schedule(n, d)
		if got := problems(t, err); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: refused for %q, want %q", name, got, c.want)
		}
	}
	p := draft(n)
	_, err := n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{Content: &nul})
	expect(t, err, "content invalid_text")
}

func TestDraft_ScheduleValidates(t *testing.T) {
	n := newsroomtest.Open(t)
	bare := draft(n)
	_, err := n.Scheduler.ScheduleDraft(t.Context(), guard(n, bare), scheduling.Time{})
	expect(t, err, "accounts required", "content empty", "scheduled_time required")

	a := n.Connect("desk")
	long := draft(n, func(d *scheduling.Draft) {
		d.Content, d.Thread = strings.Repeat("x", 501), []scheduling.Segment{{Content: ""}}
	})
	for name, do := range map[string]func() (post.Post, error){
		"schedule": func() (post.Post, error) {
			return n.Scheduler.ScheduleDraft(t.Context(), guard(n, long), scheduling.Time{ScheduledTime: in(time.Hour)})
		},
		"publish now": func() (post.Post, error) { return n.Scheduler.PublishNow(t.Context(), guard(n, long)) },
	} {
		if _, err := do(); !slices.Equal(problems(t, err), []string{"thread[0].content empty"}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := "short"
	_, err = n.Scheduler.Edit(t.Context(), guard(n, long), scheduling.Edit{
		Thread: &[]scheduling.Segment{{Content: strings.Repeat("y", 501)}},
	})
	n.Must(err)
	_, err = n.Scheduler.ScheduleDraft(t.Context(), guard(n, long), scheduling.Time{
		ScheduledTime: in(-time.Hour), TimeZone: "Mars/Olympus",
	})
	expect(t, err, "content too_long", "thread[0].content too_long", "time_zone unknown_time_zone")
	if now, err := n.Store.Publishing.Posts.Post(t.Context(), long.ID); err != nil || now.Status != post.Draft ||
		!now.ScheduledTime.IsZero() {
		t.Errorf("a refused request changed the draft: %+v, %v", now, err)
	}

	n.Refuse(a.ID)
	_, err = n.Scheduler.Edit(t.Context(), guard(n, long), scheduling.Edit{
		Content: &text, Thread: &[]scheduling.Segment{},
	})
	n.Must(err)
	_, err = n.Scheduler.ScheduleDraft(t.Context(), guard(n, long), scheduling.Time{ScheduledTime: in(time.Hour)})
	expect(t, err, "accounts not_connected")
	n.Exec("update accounts set status = 'connected' where id = $1", a.ID)
	day := time.Now().AddDate(0, 1, 0).Format("2006-01-02")
	p, err := n.Scheduler.ScheduleDraft(t.Context(), guard(n, long), scheduling.Time{
		ScheduledTime: day + "T18:00", TimeZone: "Asia/Tokyo",
	})
	n.Must(err)
	if p.Status != post.Scheduled || p.TimeZone != "Asia/Tokyo" || p.ScheduledTime.Format("15:04") != "09:00" ||
		p.Revision <= long.Revision {
		t.Errorf("got %+v", p)
	}
	_, err = n.Scheduler.ScheduleDraft(t.Context(), guard(n, p), scheduling.Time{ScheduledTime: in(2 * time.Hour)})
	refused(t, err, apperr.KindConflict, "not_a_draft")
	if now, err := n.Store.Publishing.Posts.Post(t.Context(), p.ID); err != nil || !now.ScheduledTime.Equal(p.ScheduledTime) ||
		now.Version != p.Version {
		t.Errorf("the refusal moved the post: %+v, %v", now, err)
	}
}

func TestDraft_ScheduleAtItsTime(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	timed := func() post.Post {
		return draft(n, func(d *scheduling.Draft) {
			d.Content, d.ScheduledTime, d.TimeZone = "Hello", in(time.Hour), "UTC"
		})
	}
	d := timed()
	p, err := n.Scheduler.ScheduleDraft(t.Context(), guard(n, d), scheduling.Time{TimeZone: "Asia/Tokyo"})
	n.Must(err)
	if !p.ScheduledTime.Equal(d.ScheduledTime) || p.TimeZone != "Asia/Tokyo" {
		t.Errorf("got %s in %s", p.ScheduledTime, p.TimeZone)
	}
	d = timed()
	n.Exec("update scheduled_posts set scheduled_time = now() - interval '1 day' where post_id = $1", d.ID)
	_, err = n.Scheduler.ScheduleDraft(t.Context(), guard(n, d), scheduling.Time{})
	expect(t, err, "scheduled_time in_the_past")
	// Its time was long ago: when it is published now, it is not late.
	p, err = n.Scheduler.PublishNow(t.Context(), guard(n, d))
	n.Must(err)
	if since := time.Since(p.ScheduledTime).Abs(); p.Status != post.Scheduled || since > time.Minute {
		t.Errorf("got %s at %s", p.Status, p.ScheduledTime)
	}
}

// When a person publishes an overdue post now, it is not dropped as late.
func TestPublishNow_LatenessCountsFromNow(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	p := n.Schedule(func(d *scheduling.Draft) { d.LateLimit = 5 })
	n.Exec("update scheduled_posts set scheduled_time = now() - interval '1 hour' where post_id = $1", p.ID)
	p, err := n.Scheduler.PublishNow(t.Context(), guard(n, p))
	n.Must(err)
	if p.RedrivenAt == nil || time.Since(*p.RedrivenAt).Abs() > time.Minute ||
		time.Since(p.ScheduledTime) < time.Minute {
		t.Errorf("got %s, requested at %v", p.ScheduledTime, p.RedrivenAt)
	}
}

func TestDraft_ReplyIsCheckedAgainstItsParent(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	parent := n.Schedule()
	reply := draft(n, func(d *scheduling.Draft) { d.Content, d.ThreadParentID = "And more", parent.ID.String() })
	_, err := n.Scheduler.ScheduleDraft(t.Context(), guard(n, reply), scheduling.Time{ScheduledTime: in(time.Minute)})
	expect(t, err, "scheduled_time before_parent")
	_, err = n.Scheduler.PublishNow(t.Context(), guard(n, reply))
	expect(t, err, "scheduled_time before_parent")
	_, err = n.Scheduler.Cancel(t.Context(), guard(n, parent))
	n.Must(err)
	_, err = n.Scheduler.ScheduleDraft(t.Context(), guard(n, reply), scheduling.Time{ScheduledTime: in(2 * time.Hour)})
	expect(t, err, "thread_parent_id not_published")
}

func TestDraft_ChecksTheVersion(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	d := draft(n, func(d *scheduling.Draft) { d.Content = "Hello" })
	text := "Changed"
	_, err := n.Scheduler.Edit(t.Context(), guard(n, d), scheduling.Edit{Content: &text})
	n.Must(err)
	old := guard(n, d)
	old.IfVersion = d.Version
	for name, do := range map[string]func() (post.Post, error){
		"edit": func() (post.Post, error) {
			return n.Scheduler.Edit(t.Context(), old, scheduling.Edit{Content: &text})
		},
		"schedule": func() (post.Post, error) {
			return n.Scheduler.ScheduleDraft(t.Context(), old, scheduling.Time{ScheduledTime: in(time.Hour)})
		},
		"publish now": func() (post.Post, error) { return n.Scheduler.PublishNow(t.Context(), old) },
		"cancel":      func() (post.Post, error) { return n.Scheduler.Cancel(t.Context(), old) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := do()
			refused(t, err, apperr.KindPreconditionFailed, "version_mismatch")
		})
	}
	p, err := n.Scheduler.Cancel(t.Context(), guard(n, d))
	n.Must(err)
	if p.Status != post.Canceled || !p.ScheduledTime.IsZero() {
		t.Errorf("got %+v", p)
	}
	_, err = n.Scheduler.ScheduleDraft(t.Context(), guard(n, d), scheduling.Time{ScheduledTime: in(time.Hour)})
	refused(t, err, apperr.KindConflict, "not_a_draft")
	_, err = n.Scheduler.PublishNow(t.Context(), guard(n, d))
	refused(t, err, apperr.KindConflict, "too_late")
}

// The stored text is the validated one, also with concurrent changes; a request without
// a version never causes a version conflict.
func TestEdit_ConcurrentChangesAreCheckedAgain(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	d := draft(n, func(d *scheduling.Draft) { d.Content, d.ScheduledTime = "Hello", in(time.Hour) })
	long := strings.Repeat("x", 501)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = n.Scheduler.Edit(t.Context(), guard(n, d), scheduling.Edit{Content: &long})
			} else {
				_, err = n.Scheduler.ScheduleDraft(t.Context(), guard(n, d), scheduling.Time{})
			}
			var e *apperr.Error
			if err != nil && !errors.As(err, &e) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p, err := n.Store.Publishing.Posts.Post(t.Context(), d.ID)
	n.Must(err)
	if p.Status == post.Scheduled && p.Content == long {
		t.Error("a text that no network accepts is scheduled")
	}
}

func TestSchedule_BoundsLateLimits(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	for limit, fits := range map[int]bool{-1: false, 0: true, 1: true, 527_040: true, 527_041: false} {
		p, err := schedule(n, scheduling.Draft{Content: "Hello", ScheduledTime: in(time.Hour), LateLimit: limit})
		if (err == nil) != fits || fits && p.LateLimit != time.Duration(limit)*time.Minute {
			t.Errorf("%d: %v, %v", limit, p.LateLimit, err)
		}
	}
	p := n.Schedule(func(d *scheduling.Draft) { d.LateLimit = 30 })
	for limit, want := range map[int]time.Duration{10: 10 * time.Minute, 0: 0} {
		got, err := n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{LateLimit: &limit})
		n.Must(err)
		if got.LateLimit != want {
			t.Errorf("changed to %s, want %s", got.LateLimit, want)
		}
	}
	over := 527_041
	_, err := n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{LateLimit: &over})
	expect(t, err, "drop_if_late_minutes invalid")
}
