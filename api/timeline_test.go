package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

func TestTimeline_ListsEveryEvent(t *testing.T) {
	t.Parallel()
	s := start(t)
	account := s.Connect("desk")
	p := s.Schedule(func(d *scheduling.Draft) { d.TimeZone = "Europe/Berlin" })
	path := "/api/v1/posts/" + p.ID.String()
	s.post(s.send("PATCH", path, object{"content": "Second"}), 200)
	p, err := s.Store.Publishing.Posts.Post(t.Context(), p.ID)
	s.Must(err)
	c := s.Claim(p)
	s.Exec(
		`insert into post_events (post_id, workspace_id, target_id, type, actor, data) values ($1, $2, $3, 'ambiguous', 'dateline',
		'{"code": "connection_reset", "sent": "2026-12-24T11:00:00.412345Z"}')`, p.ID, s.Workspace.ID, c.TargetID)
	s.Exec("insert into post_events (post_id, workspace_id, type, actor) values ($1, $2, 'from_a_newer_version', "+
		"'dateline')", p.ID, s.Workspace.ID)
	s.Finish(c, post.TargetPosted)

	var got spec.Timeline
	s.decode(s.send("GET", path+"/timeline", nil), 200, &got)
	if got.PostId != p.ID || got.TimeZone != "Europe/Berlin" || len(got.Entries) != 7 {
		t.Fatalf("%+v", got)
	}
	zone, err := timezone.Load("Europe/Berlin")
	s.Must(err)
	due := p.ScheduledTime.In(zone).Format("2 January 2006 15:04:05.000")
	planned := p.ScheduledTime.In(zone).Format("15:04:05.000")
	for i, want := range []struct {
		kind, text string
		target     bool
	}{
		{"created", "Created, to be published at " + due + " (Europe/Berlin), to " + account.Handle + ".", false},
		{"edited", "Edited: the text.", false},
		{"sending", "Being sent to " + account.Handle + ", planned for " + planned + ".", true},
		{
			"ambiguous", "Sent to " + account.Handle + " at 24 December 2026 12:00:00.412; the connection was reset " +
				"before a response arrived.", true,
		},
		{"from_a_newer_version", "Noted: from_a_newer_version.", false},
		{"posted", "Posted to " + account.Handle + ".", true},
		{"status", "Published on all accounts.", false},
	} {
		e := got.Entries[i]
		// Around midnight, the planned date differs from the event's.
		text := strings.ReplaceAll(e.Text, "planned for "+due, "planned for "+planned)
		if e.Type != want.kind || text != want.text || e.Data == nil || e.Actor == "" {
			t.Errorf("%d: %+v, want %s", i, e, want.text)
		}
		if want.target != (e.Target != nil) || want.target &&
			(e.Target.Id != c.TargetID || e.Target.Handle != account.Handle || e.Target.Network != "mastodon") {
			t.Errorf("%d: target %+v", i, e.Target)
		}
		at, err := time.Parse("2006-01-02T15:04:05.000Z07:00", e.At)
		if _, offset := at.Zone(); err != nil || offset != offsetIn(zone, at) || time.Since(at).Abs() > time.Hour {
			t.Errorf("%d: at %s: %v", i, e.At, err)
		}
	}

	a := s.send("GET", path+"/timeline?format=text", nil)
	lines := strings.Split(strings.TrimSuffix(string(a.body), "\n"), "\n")
	if a.StatusCode != http.StatusOK || len(lines) != 7 ||
		!strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
		t.Fatalf("%s: %s", a.Status, a.body)
	}
	for i, line := range lines {
		if want := got.Entries[i].At + "  " + got.Entries[i].Text; line != want {
			t.Errorf("line %q, want %q", line, want)
		}
	}
}

func offsetIn(zone *time.Location, at time.Time) int {
	_, offset := at.In(zone).Zone()
	return offset
}

func TestTimeline_IsVisibleToItsWorkspaceOnly(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	path := "/api/v1/posts/" + s.Schedule().ID.String() + "/timeline"
	_, _, stranger := s.Found("Elsewhere")
	s.refused(s.send("GET", path, nil, "Authorization", "Bearer "+stranger), 404, "post_not_found")
	s.refused(s.send("GET", "/api/v1/posts/"+uuid.NewString()+"/timeline", nil), 404, "post_not_found")
	s.refused(s.send("GET", path, nil, "Authorization", ""), 401, "token_required")
	s.refused(s.send("GET", path+"?format=xml", nil), 400, "invalid_request", "format")
}

func TestTimeline_ReturnsAllEvents(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Schedule()
	s.Exec("insert into post_events (post_id, workspace_id, type, actor) select $1, $2, 'edited', 'dateline' from "+
		"generate_series(1, 450)", p.ID, s.Workspace.ID)
	a := s.send("GET", "/api/v1/posts/"+p.ID.String()+"/timeline?format=text", nil)
	if got := regexp.MustCompile(`(?m)^.+  .+\.$`).FindAll(a.body, -1); len(got) != 451 {
		t.Errorf("%d lines", len(got))
	}
}
