package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/google/uuid"

	"dateline/api/spec"
)

func (s *server) label(kind, name string) spec.Label {
	s.t.Helper()
	var l spec.Label
	s.decode(s.send("POST", "/api/v1/labels", object{"kind": kind, "name": name, "color": "red"}), 201, &l)
	return l
}

func TestLabels_AreAddedToPostsInAnyState(t *testing.T) {
	s := start(t)
	s.Connect("desk")
	flood, storm, urgent := s.label("campaign", "Flood"), s.label("campaign", "Storm"), s.label("label", "Urgent")
	p := s.post(s.send("POST", "/api/v1/posts", hello(object{"labels": []any{flood.Id, urgent.Id}})), 201)
	want := func(where string, ids ...uuid.UUID) {
		t.Helper()
		got := s.post(s.send("GET", "/api/v1/posts/"+p.Id.String(), nil), 200)
		have := []uuid.UUID{}
		if got.Labels != nil {
			have = *got.Labels
		}
		slices.SortFunc(have, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
		if !slices.Equal(have, ids) {
			t.Errorf("%s: got the labels %v, want %v", where, have, ids)
		}
	}
	want("created", flood.Id, urgent.Id)
	change := func(body object) (out struct{ Changed []uuid.UUID }) {
		t.Helper()
		body["posts"] = []any{p.Id}
		s.decode(s.send("POST", "/api/v1/posts/labels", body), 200, &out)
		return out
	}
	revision := func() int { return s.Count("select revision from scheduled_posts where post_id = $1", p.Id) }
	before := revision()
	if got := change(object{"add": []any{storm.Id}}); len(got.Changed) != 1 {
		t.Errorf("got the changed posts %v, want one", got.Changed)
	}
	want("another campaign", storm.Id, urgent.Id)
	if got := change(object{"add": []any{storm.Id}}); len(got.Changed) != 0 {
		t.Errorf("labels that a post has changed it: %v", got.Changed)
	}
	s.send("DELETE", "/api/v1/posts/"+p.Id.String(), nil)
	change(object{"remove": []any{storm.Id}})
	want("canceled", urgent.Id)
	if got := revision(); got != before+1 {
		t.Errorf("labels changed the revision from %d to %d, want only that of canceling", before, got)
	}
	if got := s.send("DELETE", "/api/v1/labels/"+urgent.Id.String(), nil); got.StatusCode != http.StatusNoContent {
		t.Errorf("deleting a label: got %s, want 204", got.Status)
	}
	want("deleted")
}

func TestLabels_AreRefused(t *testing.T) {
	s := start(t)
	s.Connect("desk")
	one, two := s.label("campaign", "Flood"), s.label("campaign", "Storm")
	s.refused(s.send("POST", "/api/v1/labels", object{"kind": "campaign", "name": " fLOOD"}), 422, "invalid_request",
		"name")
	s.refused(s.send("POST", "/api/v1/labels", object{"name": "Flood", "color": "mauve"}), 422, "invalid_request",
		"color")
	s.refused(s.send("POST", "/api/v1/posts", hello(object{"labels": []any{one.Id, two.Id}})), 422, "invalid_request",
		"labels")
	s.refused(s.send("POST", "/api/v1/posts", hello(object{"labels": []any{someID()}})), 422, "invalid_request",
		"labels")
	s.refused(s.send("POST", "/api/v1/posts/labels", object{"posts": []any{someID()}}), 422, "invalid_request", "add")
	if got := s.send("PATCH", "/api/v1/labels/"+someID().String(),
		object{"name": "Rain"}); got.StatusCode != http.StatusNotFound {
		t.Errorf("renaming an unknown label: got %d, want 404", got.StatusCode)
	}
}

func TestListPosts_FindsTextAndLabels(t *testing.T) {
	s := start(t)
	s.Connect("desk")
	sports := s.Connect("sports")
	flood := s.label("campaign", "Flood")
	bridge := s.post(s.send("POST", "/api/v1/posts",
		hello(object{"content": "Cầu Đà Nẵng đóng cửa", "labels": []any{flood.Id}})), 201)
	thread := s.post(s.send("POST", "/api/v1/posts",
		hello(object{"content": "Tin sáng", "thread": []any{object{"content": "Mưa 50% ở Huế"}}})), 201)
	match := s.post(s.send("POST", "/api/v1/posts",
		hello(object{
			"content": "Kết quả", "accounts": []any{sports.ID},
			"overrides": object{sports.ID.String(): object{"content": "Thắng rồi"}},
		})), 201)
	for query, want := range map[string]uuid.UUID{
		"q=" + url.QueryEscape("da nang CAU"): bridge.Id, "q=" + url.QueryEscape("50%"): thread.Id, "q=thang": match.Id,
		"q=sports+ket":               match.Id,
		"label=" + flood.Id.String(): bridge.Id, "label=" + flood.Id.String() + "&q=dong": bridge.Id,
	} {
		var page spec.PostPage
		s.decode(s.send("GET", "/api/v1/posts?"+query, nil), 200, &page)
		if len(page.Posts) != 1 || page.Posts[0].Id != want {
			t.Errorf("%s: got %d posts, want the one %s", query, len(page.Posts), want)
		}
	}
	for _, query := range []string{"q=50_", "q=nowhere", "label=" + someID().String(), "order=asc&q=da+nang+hue"} {
		var page spec.PostPage
		s.decode(s.send("GET", "/api/v1/posts?"+query, nil), 200, &page)
		if len(page.Posts) != 0 {
			t.Errorf("%s: got %d posts, want none", query, len(page.Posts))
		}
	}
}
