package scheduling_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/testing/newsroomtest"
)

func guard(n *newsroomtest.Newsroom, p post.Post) post.Guard {
	return post.Guard{WorkspaceID: n.Workspace.ID, PostID: p.ID, Actor: n.Owner.Actor()}
}

func TestEdit_Validates(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	p := n.Schedule()
	text := func(s string) *string { return &s }
	list := func(s ...string) *[]string { return &s }
	for name, c := range map[string]struct {
		edit scheduling.Edit
		want string
	}{
		"nothing":         {scheduling.Edit{}, " nothing_to_change"},
		"too long":        {scheduling.Edit{Content: text(strings.Repeat("x", 501))}, "content too_long"},
		"no text":         {scheduling.Edit{Content: text("")}, "content empty"},
		"NUL":             {scheduling.Edit{Content: text("\x00")}, "content invalid_text"},
		"past":            {scheduling.Edit{ScheduledTime: text(in(-time.Hour))}, "scheduled_time in_the_past"},
		"unknown zone":    {scheduling.Edit{TimeZone: text("Mars/Olympus")}, "time_zone unknown_time_zone"},
		"empty zone":      {scheduling.Edit{TimeZone: text("")}, "time_zone unknown_time_zone"},
		"language":        {scheduling.Edit{Language: text("xxxx")}, "language not_a_language"},
		"no account":      {scheduling.Edit{Accounts: list()}, "accounts required"},
		"unknown account": {scheduling.Edit{Accounts: list(uuid.NewString())}, "accounts[0] unknown_account"},
		"unknown file":    {scheduling.Edit{Attachments: list(uuid.NewString())}, "attachments[0] unknown_file"},
	} {
		_, err := n.Scheduler.Edit(t.Context(), guard(n, p), c.edit)
		if got := problems(t, err); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: refused for %q, want %q", name, got, c.want)
		}
	}
	if now, err := n.Store.Publishing.Posts.Post(t.Context(), p.ID); err != nil || now.Version != p.Version {
		t.Errorf("the post is %+v, %v", now, err)
	}
}

func TestEdit_TimeZoneAloneKeepsTheInstant(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	p := n.Schedule()
	zone := "Europe/Berlin"
	got, err := n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{TimeZone: &zone})
	n.Must(err)
	if got.TimeZone != zone || !got.ScheduledTime.Equal(p.ScheduledTime) {
		t.Errorf("got %s in %s", got.ScheduledTime, got.TimeZone)
	}
}

func TestEdit_EmptyTimeZoneIsTheWorkspaces(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	zone, at := "", time.Now().AddDate(0, 1, 0).Format("2006-01-02")+"T18:00"
	got, err := n.Scheduler.Edit(t.Context(), guard(n, n.Schedule(func(d *scheduling.Draft) { d.TimeZone = "UTC" })),
		scheduling.Edit{TimeZone: &zone, ScheduledTime: &at})
	n.Must(err)
	if got.TimeZone != "Asia/Ho_Chi_Minh" || got.ScheduledTime.Format("15:04") != "11:00" {
		t.Errorf("got %s in %q", got.ScheduledTime, got.TimeZone)
	}
}

func TestEdit_TooLateIsReportedFirst(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Connect("desk")
	p := n.Schedule()
	n.Claim(p)
	long := strings.Repeat("x", 501)
	_, err := n.Scheduler.Edit(t.Context(), guard(n, p), scheduling.Edit{Content: &long})
	var e *apperr.Error
	if !errors.As(err, &e) || e.Code != "too_late" {
		t.Errorf("got %v", err)
	}
}
