package api_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

func (s approving) describe(id uuid.UUID, text string, who []string) answer {
	s.t.Helper()
	return s.send("PATCH", "/api/v1/media/"+id.String(), object{"alt_text": text}, who...)
}

func (s approving) altText(id uuid.UUID) string {
	s.t.Helper()
	var m spec.Media
	s.decode(s.send("GET", "/api/v1/media/"+id.String(), nil), 200, &m)
	return m.AltText
}

func TestAltText_AuthorsCannotChangeItOnceApproved(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	accounts, err := s.Store.Publishing.Accounts.Accounts(t.Context(), s.Workspace.ID)
	s.Must(err)
	account := accounts[0].ID.String()
	using := func(file uuid.UUID) object { return object{"attachments": []any{file}} }
	day := time.Now().AddDate(0, 0, 2).Format("2006-01-02")
	dead := func(status post.TargetStatus) func(uuid.UUID) {
		return func(file uuid.UUID) {
			s.Dead(s.Schedule(func(d *scheduling.Draft) { d.Attachments = []string{file.String()} }), status)
		}
	}
	schedule := func(o func(file uuid.UUID) object) func(uuid.UUID) {
		return func(file uuid.UUID) { s.post(s.send("POST", "/api/v1/posts", hello(o(file)), s.editor...), 201) }
	}
	for name, use := range map[string]func(file uuid.UUID){
		"an editor's scheduled post": schedule(using),
		"a part of a thread": schedule(func(f uuid.UUID) object {
			return object{"thread": []object{{"content": "x", "attachments": []any{f}}}}
		}),
		"an override": schedule(func(f uuid.UUID) object {
			return object{"overrides": object{account: object{"attachments": []any{f}}}}
		}),
		"a part of an override's thread": schedule(func(f uuid.UUID) object {
			return object{
				"overrides": object{account: object{"thread": []object{{"content": "x", "attachments": []any{f}}}}},
			}
		}),
		"the author's own approved post": func(f uuid.UUID) {
			p := s.pending(s.send("POST", "/api/v1/posts", hello(using(f)), s.author...), 201)
			s.post(s.send("POST", "/api/v1/posts/"+p.Id.String()+"/approve", nil, s.editorAnyVersion()...), 200)
		},
		"a post that failed":       dead(post.TargetFailed),
		"a post that is uncertain": dead(post.TargetUncertain),
		"an editor's series": func(f uuid.UUID) {
			a := s.send("POST", "/api/v1/series", object{
				"rule": "FREQ=DAILY;COUNT=2", "starts": day + "T07:00",
				"template": object{"content": "Hello", "attachments": []any{f}},
			}, s.editor...)
			if a.StatusCode != http.StatusCreated {
				t.Fatalf("POST /series: got %s %s", a.Status, a.body)
			}
		},
		"two posts, one of them a draft": func(f uuid.UUID) {
			s.post(s.send("POST", "/api/v1/posts", object{"content": "x", "draft": true, "attachments": []any{f}},
				s.author...), 201)
			schedule(using)(f)
		},
	} {
		file := s.upload("a.png", "Approved").Id
		use(file)
		s.refused(s.describe(file, "Not approved", s.author), 409, "approval_required")
		s.refused(s.send("PATCH", "/api/v1/media/"+file.String(), object{"file_name": "not-approved.png"}, s.author...),
			409, "approval_required")
		if got := s.altText(file); got != "Approved" {
			t.Errorf("%s: got the alt text %q after an author's refused edit, want %q", name, got, "Approved")
		}
		if a := s.describe(file, "Approved", s.author); a.StatusCode != http.StatusOK {
			t.Errorf("%s: an author's edit that changes nothing: got %s, want 200", name, a.Status)
		}
		if a := s.describe(file, "By an editor", s.editor); a.StatusCode != http.StatusOK {
			t.Errorf("%s: an editor's edit: got %s %s, want 200", name, a.Status, a.body)
		}
	}
}

func TestAltText_AuthorsChangeItWhileNothingIsApproved(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	draft := func(f uuid.UUID) spec.Post {
		return s.post(s.send("POST", "/api/v1/posts", object{"content": "x", "draft": true, "attachments": []any{f}},
			s.author...), 201)
	}
	for name, use := range map[string]func(file uuid.UUID){
		"no post": func(uuid.UUID) {},
		"a draft": func(f uuid.UUID) { draft(f) },
		"a rejected post": func(f uuid.UUID) {
			p := s.pending(s.send("POST", "/api/v1/posts", hello(object{"attachments": []any{f}}), s.author...), 201)
			s.post(s.send("POST", "/api/v1/posts/"+p.Id.String()+"/reject", object{"note": "Describe the picture"},
				s.editor...), 200)
		},
		"a canceled post": func(f uuid.UUID) {
			p := s.post(s.send("POST", "/api/v1/posts", hello(object{"attachments": []any{f}}), s.editor...), 201)
			s.post(s.send("DELETE", "/api/v1/posts/"+p.Id.String(), nil, s.editor...), 200)
		},
	} {
		file := s.upload("a.png", "First").Id
		use(file)
		if a := s.describe(file, "Second", s.author); a.StatusCode != http.StatusOK || s.altText(file) != "Second" {
			t.Errorf("%s: got %s %s, want 200", name, a.Status, a.body)
		}
	}
	s.Exec("update workspaces set authors_need_approval = false")
	file := s.upload("a.png", "First").Id
	p := s.post(s.send("POST", "/api/v1/posts", hello(object{"attachments": []any{file}}), s.editor...), 201)
	if a := s.describe(file, "Second", s.author); a.StatusCode != http.StatusOK {
		t.Errorf("without approval: got %s %s, want 200", a.Status, a.body)
	}
	if now := s.post(s.send("GET", "/api/v1/posts/"+p.Id.String(), nil), 200); now.Version <= p.Version ||
		s.temporal.signals(p.Id) == 0 {
		t.Errorf("a scheduled post whose file got a new description: got version %d after %d, %d signals, want a new "+
			"version that its workflow knows", now.Version, p.Version, s.temporal.signals(p.Id))
	}
}

// An approval of the old description is refused.
func TestAltText_IsApprovedAsItWasRead(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	file := s.upload("a.png", "First").Id
	made := s.send("POST", "/api/v1/posts", hello(object{"attachments": []any{file}}), s.author...)
	p := s.pending(made, 201)
	path := "/api/v1/posts/" + p.Id.String()
	if a := s.describe(file, "Second", s.author); a.StatusCode != http.StatusOK {
		t.Fatalf("an author's edit of a pending post: got %s %s, want 200", a.Status, a.body)
	}
	s.refused(s.send("POST", path+"/approve", nil, append(s.editor, "If-Match", made.Header.Get("ETag"))...), 412,
		"version_mismatch")
	if got, want := s.eventTypes(p.Id), "created submitted edited"; got != want {
		t.Errorf("the timeline: got %q, want %q", got, want)
	}
	read := s.send("GET", path, nil, s.editor...)
	s.pending(read, 200)
	s.post(s.send("POST", path+"/approve", nil, append(s.editor, "If-Match", read.Header.Get("ETag"))...), 200)
}

// Whatever the order of an author's edit, a submission and an approval: an approved
// post has the description that its editor saw.
func TestAltText_CannotBeSwappedDuringApproval(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	approved := 0
	for i := range 12 {
		file := s.upload("a.png", "First").Id
		draft := s.post(s.send("POST", "/api/v1/posts", hello(object{"draft": true, "attachments": []any{file}}),
			s.author...), 201)
		path := "/api/v1/posts/" + draft.Id.String()
		var both sync.WaitGroup
		both.Go(func() { s.describe(file, fmt.Sprintf("Swapped %d", i), s.author) })
		both.Go(func() { s.send("POST", path+"/submit", nil, s.author...) })
		read := s.send("GET", path, nil, s.editor...)
		alt := s.altText(file)
		a := s.send("POST", path+"/approve", nil, append(s.editor, "If-Match", read.Header.Get("ETag"))...)
		both.Wait()
		if a.StatusCode != http.StatusOK {
			read = s.send("GET", path, nil, s.editor...)
			alt = s.altText(file)
			a = s.send("POST", path+"/approve", nil, append(s.editor, "If-Match", read.Header.Get("ETag"))...)
		}
		if a.StatusCode == http.StatusOK {
			approved++
			if now := s.altText(file); now != alt {
				t.Errorf("approved with %q, now %q", alt, now)
			}
		}
	}
	if approved == 0 {
		t.Error("no post was approved")
	}
}
