package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
)

// overrideStates is a post on three accounts whose overrides have each state: none,
// custom and inherited media and thread.
type overrideStates struct {
	*server
	none, custom, inherit account.Account
	base, own             uuid.UUID
}

func startOverrideStates(t *testing.T) overrideStates {
	t.Helper()
	s := start(t)
	return overrideStates{
		server: s, none: s.Connect("none"), custom: s.Connect("custom"),
		inherit: s.Connect("inherit"),
		base:    s.upload("base.png", "Base").Id, own: s.upload("own.png", "Own").Id,
	}
}

// body is a post without media.
func (s overrideStates) body(more ...object) object {
	return hello(append([]object{{
		"accounts": []string{s.none.ID.String(), s.custom.ID.String(), s.inherit.ID.String()},
		"overrides": object{
			s.none.ID.String(): object{"content": "None", "attachments": []string{}, "thread": []object{}},
			s.custom.ID.String(): object{
				"content": "Custom", "attachments": []string{s.own.String()}, "thread": []object{
					{"content": "Own part"},
				},
			},
			s.inherit.ID.String(): object{"content": "Inherit"},
		},
	}}, more...)...)
}

// withMedia adds media to the base post.
func (s overrideStates) withMedia() object {
	return object{"attachments": []string{s.base.String()}, "thread": []object{
		{"content": "Base part", "attachments": []string{s.base.String()}},
	}}
}

// want checks what the publisher gets for each account once the base post has media and
// a thread, and what the API returns.
func (s overrideStates) want(where string, workspace, id uuid.UUID) {
	s.t.Helper()
	p, err := s.Store.Publishing.Posts.PostInWorkspace(s.t.Context(), workspace, id)
	s.Must(err)
	name := map[uuid.UUID]string{s.base: "base", s.own: "own"}
	want := map[string]string{
		"None": "None[]", "Custom": "Custom[own] Own part[]", "Inherit": "Inherit[base] Base part[base]",
	}
	for _, target := range p.Targets {
		var parts []string
		for _, segment := range p.Segments(target) {
			var files []string
			for _, file := range segment.AttachmentIDs {
				if name[file] == "" {
					name[file] = s.fileName(file)
				}
				files = append(files, name[file])
			}
			parts = append(parts, segment.Content+"["+strings.Join(files, " ")+"]")
		}
		first, _, _ := strings.Cut(parts[0], "[")
		if got := strings.Join(parts, " "); got != want[first] {
			s.t.Errorf("%s: the publisher gets %q, want %q", where, got, want[first])
		}
		delete(want, first)
	}
	if len(want) > 0 {
		s.t.Errorf("%s: nothing for %v", where, want)
	}
}

func (s overrideStates) fileName(id uuid.UUID) (name string) {
	s.t.Helper()
	name = "base"
	if s.Count("select count(*) from media where id = $1 and file_name = 'own.png'", id) == 1 {
		name = "own"
	}
	return name
}

// states returns each account's override as the API shows it: null is inherited.
func states(p spec.Post, a account.Account) string {
	for _, target := range p.Targets {
		if target.AccountId == a.ID {
			raw, _ := json.Marshal(struct {
				Attachments *[]uuid.UUID
				Thread      *[]spec.PostSegment
			}{target.Override.Attachments, target.Override.Thread})
			return string(raw)
		}
	}
	return ""
}

func TestOverrideMedia_NoneStaysNoneWhenTheBasePostGetsMedia(t *testing.T) {
	s := startOverrideStates(t)
	for name, draft := range map[string]bool{"scheduled": false, "draft": true} {
		body := s.body()
		if draft {
			body["draft"] = true
		}
		p := s.post(s.send("POST", "/api/v1/posts", body), 201)
		path := "/api/v1/posts/" + p.Id.String()
		p = s.post(s.send("PATCH", path, s.withMedia()), 200)
		s.want(name, s.Workspace.ID, p.Id)
		for _, c := range []struct {
			account account.Account
			want    string
		}{
			{s.none, `{"Attachments":[],"Thread":[]}`},
			{s.inherit, `{"Attachments":null,"Thread":null}`},
		} {
			if got := states(p, c.account); got != c.want {
				t.Errorf("%s: the API returns %s for %s, want %s", name, got, c.account.Handle, c.want)
			}
		}
		// The override changes from custom to none to inherited.
		custom := s.custom.ID.String()
		for _, c := range []struct {
			override object
			want     string
		}{
			{object{"content": "Custom", "attachments": []string{}}, `{"Attachments":[],"Thread":null}`},
			{object{"content": "Custom"}, `{"Attachments":null,"Thread":null}`},
		} {
			p = s.post(s.send("PATCH", path, object{"overrides": object{custom: c.override}}), 200)
			if got := states(p, s.custom); got != c.want {
				t.Errorf("%s: %v is returned as %s, want %s", name, c.override, got, c.want)
			}
		}
		s.refused(s.send("PATCH", path, object{"overrides": object{custom: object{"attachments": nil}}}), 400,
			"invalid_request")
	}
}

func TestOverrideMedia_SurvivesImportAndExport(t *testing.T) {
	s := startOverrideStates(t)
	s.survivesImportAndExport(s.body(s.withMedia()), s.want)
}

// survivesImportAndExport imports a post in bulk, exports and imports it in each
// format, and moves it to another workspace; want checks the post each time.
func (s *server) survivesImportAndExport(body object, want func(where string, workspace, id uuid.UUID)) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	s.Must(err)
	s.bulkResult(s.ndjson("", string(raw)), 201)
	for _, format := range []struct{ name, contentType string }{
		{"csv", "text/csv"},
		{"ndjson", "application/x-ndjson"},
	} {
		a := s.send("GET", "/api/v1/posts/export?status=scheduled&format="+format.name, nil)
		s.Exec("delete from scheduled_posts")
		r := s.bulkResult(s.send("POST", bulk, string(a.body), "Content-Type", format.contentType), 201)
		want(format.name, s.Workspace.ID, *r.Rows[0].Id)
	}
	e := s.export("")
	_, err = s.archives().Write(s.t.Context(), e.Id)
	s.Must(err)
	archive := s.send("GET", "/api/v1/workspace/exports/"+e.Id.String()+"/archive", nil)
	w, _, token := s.Found("Elsewhere")
	a := s.send("POST", "/api/v1/workspace/import", bytes.NewReader(archive.body), "Authorization", "Bearer "+token,
		"Content-Type", "application/zstd")
	if a.StatusCode != http.StatusOK {
		s.t.Fatalf("got %s: %s", a.Status, a.body)
	}
	var page spec.PostPage
	s.decode(s.send("GET", "/api/v1/posts?status=draft", nil, "Authorization", "Bearer "+token), 200, &page)
	if len(page.Posts) != 1 {
		s.t.Fatalf("got %d imported posts, want 1", len(page.Posts))
	}
	want("archive", w.ID, page.Posts[0].Id)
}

func TestOverrideMedia_SeriesKeepTheState(t *testing.T) {
	s := startOverrideStates(t)
	template := s.body()
	delete(template, "scheduled_time")
	a := s.send("POST", "/api/v1/series", daily(object{"template": template}))
	one := s.series(a, 201)
	template["attachments"], template["thread"] = s.withMedia()["attachments"], s.withMedia()["thread"]
	s.series(s.send("PATCH", a.Header.Get("Location"), object{"template": template}), 200)
	posts := s.postsOf(one.Id, "scheduled")
	if len(posts) == 0 {
		t.Fatal("got no posts of the series")
	}
	s.want("series", s.Workspace.ID, posts[0].Id)
}

func TestOverrideMedia_PreviewShowsWhatIsPublished(t *testing.T) {
	s := startOverrideStates(t)
	shown := s.preview(s.body(s.withMedia()))
	want := map[uuid.UUID]int{s.none.ID: 1, s.custom.ID: 2, s.inherit.ID: 2}
	for _, target := range shown.Targets {
		if got := len(target.Segments); got != want[target.AccountId] {
			t.Errorf("got %d segments for %s, want %d", got, target.Handle, want[target.AccountId])
		}
	}
	// An account without text of its own and without media has nothing to publish.
	shown = s.preview(hello(object{
		"content": "", "attachments": []string{s.base.String()}, "accounts": []string{
			s.none.ID.String(),
		},
		"overrides": object{s.none.ID.String(): object{"attachments": []string{}}},
	}))
	if len(shown.Problems) != 1 || shown.Problems[0].Code != "empty" {
		t.Errorf("got the problems %+v, want one that is empty", shown.Problems)
	}
}

func TestOverrideMedia_AuthorsChangeNeedsApproval(t *testing.T) {
	t.Parallel()
	s := startApproving(t)
	one := s.Connect("none")
	override := func(o object) object { return object{"overrides": object{one.ID.String(): o}} }
	p := s.post(s.send("POST", "/api/v1/posts",
		hello(object{"accounts": []string{one.ID.String()}},
			override(object{"content": "None", "attachments": []string{}})), s.editor...), 201)
	path := "/api/v1/posts/" + p.Id.String()
	same := s.post(s.send("PATCH", path, override(object{"content": "None", "attachments": []string{}}), s.author...),
		200)
	if same.Status != spec.PostStatusScheduled || same.Version != p.Version {
		t.Errorf("saving the same override again made it %s, version %d; want scheduled, version %d", same.Status,
			same.Version, p.Version)
	}
	s.pending(s.send("PATCH", path, override(object{"content": "None"}), s.author...), 200)
}

func TestTimeline_ListsOnlyWhatAnEditChanged(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	file := s.upload("a.png", "").Id.String()
	edits := func(p spec.Post) (texts []string) {
		var got spec.Timeline
		s.decode(s.send("GET", "/api/v1/posts/"+p.Id.String()+"/timeline", nil), 200, &got)
		for _, e := range got.Entries {
			if e.Type == post.EventEdited {
				texts = append(texts, e.Text)
			}
		}
		return texts
	}
	body := hello(object{
		"time_zone": "Asia/Tokyo", "attachments": []string{file}, "language": "vi",
		"drop_if_late_minutes": 10,
	})
	p := s.post(s.send("POST", "/api/v1/posts", body), 201)
	path := "/api/v1/posts/" + p.Id.String()
	whole := func(content string, minutes int) object {
		return object{
			"content": content, "scheduled_time": body["scheduled_time"], "time_zone": "Asia/Tokyo",
			"attachments": []string{file}, "thread": []object{},
			"accounts": []string{p.Targets[0].AccountId.String()}, "overrides": object{}, "language": "vi",
			"drop_if_late_minutes": minutes, "track_links": false,
		}
	}
	if same := s.post(s.send("PATCH", path, whole("Hello", 10)), 200); same.Version != p.Version || len(edits(p)) != 0 {
		t.Errorf("saving without a change made version %d and %q, want version %d and no line", same.Version, edits(p),
			p.Version)
	}
	s.post(s.send("PATCH", path, whole("Second", 10)), 200)
	s.post(s.send("PATCH", path, whole("Second", 20)), 200)
	want := "Edited: the text.|Edited: how late it may be published."
	if got := strings.Join(edits(p), "|"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	draft := s.post(s.send("POST", "/api/v1/posts", hello(object{"draft": true})), 201)
	s.post(s.send("PATCH", "/api/v1/posts/"+draft.Id.String(), object{"content": "Typed"}), 200)
	if got := edits(draft); len(got) != 0 {
		t.Errorf("the timeline of a draft has %q, want no line", got)
	}
	// Other windows get the edit by their event stream.
	events, err := s.Store.Publishing.Posts.Events(t.Context(), draft.Id, 0, 10)
	s.Must(err)
	if len(events) != 2 || events[1].Type != post.EventEdited {
		t.Errorf("got the events %+v, want created and edited", events)
	}
}
