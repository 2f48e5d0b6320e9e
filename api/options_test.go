package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
)

// optionStates is a post on three accounts, of which one inherits the post's
// options, one replaces them, and one has none.
type optionStates struct {
	*server
	inherit, custom, none account.Account
}

func startOptionStates(t *testing.T) optionStates {
	t.Helper()
	s := start(t)
	return optionStates{server: s, inherit: s.Connect("inherit"), custom: s.Connect("custom"), none: s.Connect("none")}
}

func (s optionStates) body(more ...object) object {
	return hello(append([]object{{
		"accounts": []string{s.inherit.ID.String(), s.custom.ID.String(), s.none.ID.String()},
		"options": object{
			"mastodon": object{"visibility": "unlisted", "content_warning": "Bão"},
			"x":        object{"reply_settings": "verified"},
		},
		"overrides": object{
			s.custom.ID.String(): object{"options": object{"mastodon": object{"visibility": "private"}}},
			s.none.ID.String():   object{"options": object{}},
		},
	}}, more...)...)
}

// want checks what the publisher gets for each account.
func (s optionStates) want(where string, workspace, id uuid.UUID) {
	s.t.Helper()
	p, err := s.Store.Publishing.Posts.PostInWorkspace(s.t.Context(), workspace, id)
	s.Must(err)
	want := map[string]string{
		"inherit": `{"content_warning":"Bão","visibility":"unlisted"}`, "custom": `{"visibility":"private"}`,
		"none": "",
	}
	for _, target := range p.Targets {
		name, _, _ := strings.Cut(strings.TrimPrefix(target.Handle, "@"), "@")
		if got := compact(s.t, p.OptionsFor(target)); got != want[name] {
			s.t.Errorf("%s: the publisher gets %s for %s, want %s", where, got, name, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		s.t.Errorf("%s: nothing for %v", where, want)
	}
}

// compact writes JSON with sorted fields.
func compact(t *testing.T, raw []byte) string {
	t.Helper()
	if len(raw) == 0 {
		return ""
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}

func TestOptions_AreStoredAndEdited(t *testing.T) {
	s := startOptionStates(t)
	p := s.post(s.send("POST", "/api/v1/posts", s.body()), 201)
	s.want("created", s.Workspace.ID, p.Id)
	if p.Options == nil || compact(t, (*p.Options)["x"]) != `{"reply_settings":"verified"}` {
		t.Errorf("got the options %v, want those of x", p.Options)
	}
	path := "/api/v1/posts/" + p.Id.String()
	// Another order of the same options is not a change.
	version := p.Version
	p = s.post(s.send("PATCH", path,
		object{"options": object{
			"x":        object{"reply_settings": "verified"},
			"mastodon": object{"content_warning": "Bão", "visibility": "unlisted"},
		}}), 200)
	if p.Version != version {
		t.Errorf("got version %d after an edit that changes nothing, want %d", p.Version, version)
	}
	p = s.post(s.send("PATCH", path, object{"options": object{"mastodon": object{"visibility": "direct"}}}), 200)
	if p.Version == version || p.Options == nil || compact(t, (*p.Options)["mastodon"]) != `{"visibility":"direct"}` ||
		len(*p.Options) != 1 {
		t.Errorf("got version %d and %v, want a new version with one visibility", p.Version, p.Options)
	}
	p = s.post(s.send("PATCH", path, object{"options": object{}}), 200)
	if p.Options != nil {
		t.Errorf("got %v, want no options", *p.Options)
	}
}

func TestOptions_AreRefusedWithTheirField(t *testing.T) {
	s := startOptionStates(t)
	account := s.inherit.ID.String()
	poll := func(choices ...string) object {
		return object{"mastodon": object{"poll": object{"choices": choices, "duration_minutes": 60}}}
	}
	long := strings.Repeat("x", 51)
	for name, c := range map[string]struct {
		body        object
		status      int
		code, field string
	}{
		"unknown network": {object{"options": object{"myspace": object{}}}, 400, "", "options.myspace"},
		"unknown option": {
			object{"options": object{"mastodon": object{"colour": "red"}}}, 400, "", "options.mastodon.colour",
		},
		"unknown value": {
			object{"options": object{"mastodon": object{"visibility": "friends"}}},
			400, "",
			"options.mastodon.visibility",
		},
		"wrong type": {
			object{"options": object{"mastodon": object{"sensitive": "yes"}}}, 400, "", "options.mastodon.sensitive",
		},
		"long choice": {
			object{"options": poll("A", long)}, 422, "too_long", "options.mastodon.poll.choices[1]",
		},
		"private quotes": {
			object{"options": object{"mastodon": object{"visibility": "private", "quote_policy": "public"}}},
			422,
			"quote_of_private", "options.mastodon.quote_policy",
		},
		"long choice in an override": {
			object{"overrides": object{account: object{"options": poll("A", long)}}},
			422,
			"too_long", "overrides." + account + ".options.mastodon.poll.choices[1]",
		},
		"first comment elsewhere": {
			object{"options": object{"mastodon": object{"first_comment": object{"content": "x"}}}},
			400, "",
			"options.mastodon.first_comment",
		},
		"late segment": {
			object{"thread": []object{{"content": "Later", "after_minutes": 1441}}},
			400,
			"", "thread[0].after_minutes",
		},
		"other network's in override": {
			object{"overrides": object{account: object{"options": object{"x": object{"made_with_ai": true}}}}},
			422,
			"other_network", "overrides." + account + ".options.x",
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := hello(object{"accounts": []string{account}}, c.body)
			a := s.send("POST", "/api/v1/posts", body)
			var problem spec.Problem
			s.decode(a, c.status, &problem)
			if problem.Errors == nil || len(*problem.Errors) != 1 || (*problem.Errors)[0].Field != c.field ||
				c.code != "" && (*problem.Errors)[0].Code != c.code {
				t.Errorf("got %s, want one error of %s", a.body, c.field)
			}
			if c.status != 422 {
				return
			}
			shown := s.preview(body)
			if len(shown.Problems) != 1 || shown.Problems[0].Field != c.field || shown.Problems[0].Code != c.code {
				t.Errorf("the preview has %+v, want %s of %s", shown.Problems, c.code, c.field)
			}
		})
	}
}

func TestOptions_SurviveImportAndExport(t *testing.T) {
	s := startOptionStates(t)
	s.survivesImportAndExport(s.body(), s.want)
}

func TestOptions_SeriesKeepThem(t *testing.T) {
	s := startOptionStates(t)
	template := s.body()
	delete(template, "scheduled_time")
	a := s.send("POST", "/api/v1/series", daily(object{"template": template}))
	one := s.series(a, 201)
	posts := s.postsOf(one.Id, "scheduled")
	if len(posts) == 0 {
		t.Fatal("got no posts of the series")
	}
	s.want("series", s.Workspace.ID, posts[0].Id)
	template["options"] = object{"mastodon": object{"visibility": "direct"}}
	s.series(s.send("PATCH", a.Header.Get("Location"), object{"template": template}), 200)
	p, err := s.Store.Publishing.Posts.PostInWorkspace(t.Context(), s.Workspace.ID, posts[0].Id)
	s.Must(err)
	if !p.Options.Equal(post.Options{"mastodon": json.RawMessage(`{"visibility":"direct"}`)}) {
		t.Errorf("after the edit of the series: got %s, want the visibility direct", p.Options)
	}
}

// Options are content: an author's change of an approved post requires a new approval.
func TestOptions_ChangingOneNeedsApproval(t *testing.T) {
	s := startApproving(t)
	p := s.pending(s.send("POST", "/api/v1/posts",
		hello(object{"options": object{"mastodon": object{"visibility": "public"}}}), s.author...), 201)
	path := "/api/v1/posts/" + p.Id.String()
	p = s.post(s.send("POST", path+"/approve", nil, s.editorAnyVersion()...), 200)
	if p.Status != spec.PostStatus(post.Scheduled) {
		t.Fatalf("got the status %s, want scheduled", p.Status)
	}
	s.pending(s.send("PATCH", path, object{"options": object{"mastodon": object{"visibility": "direct"}}}, s.author...),
		200)
}
