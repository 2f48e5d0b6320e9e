package scheduling_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func in(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339) }

// problems lists the reasons of a refusal as "field code".
func problems(t *testing.T, err error) []string {
	t.Helper()
	var e *apperr.Error
	if !errors.As(err, &e) || e.Kind != apperr.KindInvalid {
		t.Fatalf("want a refusal for the fields, got %v", err)
	}
	var list []string
	for _, p := range e.Fields {
		if p.Message == "" {
			t.Errorf("%s %s has no message", p.Field, p.Code)
		}
		list = append(list, p.Field+" "+p.Code)
	}
	slices.Sort(list)
	return list
}

func schedule(n *newsroomtest.Newsroom, d scheduling.Draft) (post.Post, error) {
	p, _, err := n.Scheduler.Schedule(n.T.Context(), n.Owner, d, idempotency.Key{})
	return p, err
}

func expect(t *testing.T, err error, want ...string) {
	t.Helper()
	if got := problems(t, err); !slices.Equal(got, want) {
		t.Errorf("refused for %q, want %q", got, want)
	}
}

func TestSchedule_ReportsAllProblems(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	_, err := schedule(n, scheduling.Draft{
		Content: strings.Repeat("x", 501), ScheduledTime: in(-time.Hour),
		Language:    "Vietnamese",
		Attachments: []string{"none", uuid.NewString()}, Accounts: []string{
			"desk", a.ID.String(), a.ID.String(),
			uuid.NewString(),
		}, ThreadParentID: uuid.NewString(),
	})
	expect(t, err, "accounts[0] not_a_uuid", "accounts[2] duplicate", "accounts[3] unknown_account",
		"attachments[0] not_a_uuid", "attachments[1] unknown_file",
		"content too_long", "language not_a_language", "scheduled_time in_the_past", "thread_parent_id unknown_post")
	if rows := n.Count("select count(*) from scheduled_posts"); rows != 0 {
		t.Errorf("%d posts were stored", rows)
	}
}

func TestSchedule_UsesDefaultAccounts(t *testing.T) {
	n := newsroomtest.Open(t)
	_, err := schedule(n, scheduling.Draft{Content: "Hello", ScheduledTime: in(time.Hour)})
	expect(t, err, "accounts required")
	first, second := n.Connect("desk"), n.Connect("sports")
	if p := n.Schedule(); len(p.Targets) != 1 || p.Targets[0].AccountID != first.ID {
		t.Errorf("targets %+v", p.Targets)
	}
	p := n.Schedule(func(d *scheduling.Draft) { d.Accounts = []string{second.ID.String(), first.ID.String()} })
	if len(p.Targets) != 2 {
		t.Errorf("targets %+v", p.Targets)
	}
}

func TestSchedule_RejectsAnAccountThatNeedsReconnect(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	n.Refuse(a.ID)
	_, err := schedule(n, scheduling.Draft{
		Content: "Hello", ScheduledTime: in(time.Hour), Accounts: []string{a.ID.String()},
	})
	expect(t, err, "accounts[0] not_connected")
}

func TestSchedule_ReadsLocalTimes(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	day := time.Now().AddDate(0, 1, 0).Format("2006-01-02")
	for zone, utc := range map[string]string{"": "11:00", "Asia/Tokyo": "09:00", "UTC": "18:00"} {
		p := n.Schedule(func(d *scheduling.Draft) { d.ScheduledTime, d.TimeZone = day+"T18:00", zone })
		if got := p.ScheduledTime.Format("15:04"); got != utc {
			t.Errorf("18:00 in %q is %s UTC, want %s", zone, got, utc)
		}
		if zone == "" && p.TimeZone != "Asia/Ho_Chi_Minh" {
			t.Errorf("the zone is %q, want the workspace's", p.TimeZone)
		}
	}
}

func TestSchedule_RejectsImpossibleTimes(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	next := time.Now().Year() + 1
	for name, c := range map[string]struct{ at, zone, want string }{
		"past":          {in(-time.Second), "", "scheduled_time in_the_past"},
		"too far":       {in(6 * 366 * 24 * time.Hour), "", "scheduled_time too_far"},
		"no time":       {"soon", "", "scheduled_time invalid_time"},
		"unknown zone":  {in(time.Hour), "Mars/Olympus", "time_zone unknown_time_zone"},
		"skipped clock": {lastSunday(next, time.March) + "T02:30", "Europe/Berlin", "scheduled_time invalid_time"},
	} {
		_, err := schedule(n, scheduling.Draft{Content: "Hello", ScheduledTime: c.at, TimeZone: c.zone})
		if got := problems(t, err); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: refused for %q, want %s", name, got, c.want)
		}
	}
}

func lastSunday(year int, month time.Month) string {
	d := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	return d.AddDate(0, 0, -int(d.Weekday())).Format("2006-01-02")
}

func TestSchedule_RejectsInvalidText(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	for text, want := range map[string]string{
		"a\x00b": "content invalid_text", "a\xffb": "content invalid_text",
		"": "content empty", " \n\t": "content empty",
	} {
		_, err := schedule(n, scheduling.Draft{Content: text, ScheduledTime: in(time.Hour)})
		if got := problems(t, err); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: refused for %q, want %s", text, got, want)
		}
	}
}

func TestSchedule_CountsLikeTheNetwork(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	link := " https://example.com/" + strings.Repeat("long/", 100) // counts as 23
	for name, c := range map[string]struct {
		text string
		fits bool
	}{
		"500 letters":           {strings.Repeat("ạ", 500), true},
		"501 letters":           {strings.Repeat("ạ", 501), false},
		"500 families":          {strings.Repeat("👨‍👩‍👧‍👦", 500), true},
		"a link beside 476":     {strings.Repeat("x", 476) + link, true},
		"a link beside 477":     {strings.Repeat("x", 477) + link, false},
		"a mention's host":      {strings.Repeat("x", 490) + " @desk@" + strings.Repeat("a", 50) + ".example", true},
		"white space around it": {strings.Repeat(" ", 50) + strings.Repeat("x", 500) + "\n\n", true},
	} {
		_, err := schedule(n, scheduling.Draft{Content: c.text, ScheduledTime: in(time.Hour)})
		if (err == nil) != c.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSchedule_WithAnUnavailableInstance(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	fresh := newsroomtest.Open(t) // its limits are not known yet
	fresh.Connect("desk")
	fresh.Scheduler.Networks = fresh.Networks
	fresh.Must(fresh.Fake.Close())
	if p := fresh.Schedule(); p.Status != post.Scheduled {
		t.Errorf("got %+v", p)
	}
}

func TestSchedule_ReplyNeedsItsParent(t *testing.T) {
	n := newsroomtest.Open(t)
	first, second := n.Connect("desk"), n.Connect("sports")
	root := n.Schedule(func(d *scheduling.Draft) { d.Accounts = []string{second.ID.String()} })
	reply := func(to post.Post, change ...func(*scheduling.Draft)) (post.Post, error) {
		d := scheduling.Draft{Content: "And more", ScheduledTime: in(2 * time.Hour), ThreadParentID: to.ID.String()}
		for _, f := range change {
			f(&d)
		}
		return schedule(n, d)
	}
	child, err := reply(root)
	n.Must(err)
	if len(child.Targets) != 1 || child.Targets[0].AccountID != second.ID || *child.ThreadID != root.ID ||
		*child.ThreadParentID != root.ID {
		t.Errorf("the reply is %+v", child)
	}
	grandchild, err := reply(child)
	n.Must(err)
	if *grandchild.ThreadID != root.ID || *grandchild.ThreadParentID != child.ID {
		t.Errorf("the reply to the reply is %+v", grandchild)
	}

	_, err = reply(root, func(d *scheduling.Draft) { d.Accounts = []string{first.ID.String()} })
	expect(t, err, "accounts[0] not_in_thread")
	_, err = reply(root, func(d *scheduling.Draft) { d.ScheduledTime = in(time.Minute) })
	expect(t, err, "scheduled_time before_parent")
	_, err = reply(root, func(d *scheduling.Draft) { d.ScheduledTime = "soon" })
	expect(t, err, "scheduled_time invalid_time")
	_, err = reply(root, func(d *scheduling.Draft) { d.ThreadParentID = "none" })
	expect(t, err, "thread_parent_id not_a_uuid")

	early := in(time.Minute)
	_, err = n.Scheduler.Edit(t.Context(), guard(n, child), scheduling.Edit{ScheduledTime: &early})
	expect(t, err, "scheduled_time before_parent")
	elsewhere := []string{first.ID.String()}
	_, err = n.Scheduler.Edit(t.Context(), guard(n, child), scheduling.Edit{Accounts: &elsewhere})
	expect(t, err, "accounts[0] not_in_thread")

	canceled := n.Schedule()
	_, err = n.Scheduler.Cancel(t.Context(), guard(n, canceled))
	n.Must(err)
	failed := n.Schedule()
	n.Finish(n.Claim(failed), post.TargetFailed)
	for _, gone := range []post.Post{canceled, failed} {
		_, err = reply(gone)
		expect(t, err, "thread_parent_id not_published")
	}
	published := n.Schedule()
	n.Finish(n.Claim(published), post.TargetPosted)
	if _, err = reply(published, func(d *scheduling.Draft) { d.ScheduledTime = in(time.Minute) }); err != nil {
		t.Errorf("a reply to a published post: %v", err)
	}
}

func TestSchedule_IsIsolated(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	p := n.Schedule()
	_, rival, _ := n.Found("Rivals")
	_, _, err := n.Scheduler.Schedule(t.Context(), rival,
		scheduling.Draft{
			Content: "Hello", ScheduledTime: in(time.Hour), Accounts: []string{a.ID.String()},
			ThreadParentID: p.ID.String(),
		}, idempotency.Key{})
	expect(t, err, "accounts[0] unknown_account", "thread_parent_id unknown_post")
}

func TestSchedule_ReplayIsNotValidated(t *testing.T) {
	n := newsroomtest.Open(t)
	a := n.Connect("desk")
	key := idempotency.Key{Key: "key", RequestHash: []byte("hash")}
	d := scheduling.Draft{Content: "Hello", ScheduledTime: in(time.Hour)}
	first, replayed, err := n.Scheduler.Schedule(t.Context(), n.Owner, d, key)
	if err != nil || replayed {
		t.Fatal(replayed, err)
	}
	n.Refuse(a.ID)
	again, replayed, err := n.Scheduler.Schedule(t.Context(), n.Owner, d, key)
	if err != nil || !replayed || again.ID != first.ID {
		t.Errorf("%v %v %v", again.ID, replayed, err)
	}
}

func TestSchedule_NotifiesListeners(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	p := n.Schedule()
	heard := n.Bus.Listen(t.Context(), p.ID)
	text := "Changed"
	for name, change := range map[string]func() (post.Post, error){
		"edit": func() (post.Post, error) {
			return n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{Content: &text})
		},
		"publish now": func() (post.Post, error) { return n.Scheduler.PublishNow(t.Context(), guard(n, p)) },
	} {
		_, err := change()
		n.Must(err)
		select {
		case <-heard:
		case <-time.After(30 * time.Second):
			t.Error(fmt.Sprint(name, " was not announced"))
		}
	}
}
