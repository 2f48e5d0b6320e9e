package api_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"dateline/api/spec"
)

// The UTM parameters of a post replace those of its campaign, which replace those of the
// account. They are added when a reader follows a tracked link.
func TestUTM_IsAddedToTrackedLinks(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := s.Connect("desk")
	var account spec.Account
	s.decode(s.send("PATCH", "/api/v1/accounts/"+desk.ID.String(),
		object{"utm": object{"source": "mastodon", "medium": "social"}}), 200, &account)
	if account.Utm == nil || (*account.Utm)["source"] != "mastodon" {
		t.Errorf("account: got %+v", account.Utm)
	}
	var campaign, label spec.Label
	s.decode(s.send("POST", "/api/v1/labels", object{"name": "Storm", "kind": "campaign"}), 201, &campaign)
	s.decode(s.send("PATCH", "/api/v1/labels/"+campaign.Id.String(),
		object{"utm": object{"campaign": "storm", "medium": "breaking"}}), 200, &campaign)
	s.decode(s.send("POST", "/api/v1/labels", object{"name": "Sports"}), 201, &label)
	s.refused(s.send("PATCH", "/api/v1/labels/"+label.Id.String(), object{"utm": object{"source": "x"}}), 422,
		"invalid_request", "utm")

	location := func(body object, labels ...uuid.UUID) string {
		t.Helper()
		body["content"], body["track_links"], body["accounts"],
			body["labels"] = "Read https://news.example/flood?a=1#top now", true, []any{desk.ID}, append([]uuid.UUID{},
			labels...)
		p := s.post(s.send("POST", "/api/v1/posts", hello(body)), 201)
		var page spec.LinkList
		s.decode(s.send("GET", linksPath+"?post="+p.Id.String(), nil), 200, &page)
		got := s.click("GET", page.Links[0].Code, "a")
		if got.StatusCode != http.StatusFound {
			t.Errorf("got %s, want a redirect", got.Status)
		}
		return got.Header.Get("Location")
	}
	const base = "https://news.example/flood?a=1"
	for name, c := range map[string]struct {
		body   object
		labels []uuid.UUID
		want   string
	}{
		"account": {object{}, nil, base + "&utm_source=mastodon&utm_medium=social#top"},
		"campaign": {
			object{},
			[]uuid.UUID{campaign.Id, label.Id},
			base + "&utm_source=mastodon&utm_medium=breaking&utm_campaign=storm#top",
		},
		"post": {
			object{"utm": object{"source": "toot", "campaign": ""}},
			[]uuid.UUID{campaign.Id},
			base + "&utm_source=toot&utm_medium=breaking#top",
		},
	} {
		if got := location(c.body, c.labels...); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}

	p := s.post(s.send("POST", "/api/v1/posts", hello(object{"track_links": true, "utm": object{"term": "a"}})), 201)
	if p.Utm == nil || (*p.Utm)["term"] != "a" {
		t.Errorf("created: got %+v", p.Utm)
	}
	p = s.post(s.send("PATCH", "/api/v1/posts/"+p.Id.String(), object{"utm": object{"term": "b"}}), 200)
	if p.Utm == nil || (*p.Utm)["term"] != "b" {
		t.Errorf("edited: got %+v", p.Utm)
	}
	s.refused(s.send("POST", "/api/v1/posts", hello(object{"utm": object{"id": "1"}})), 422, "invalid_request",
		"utm.id")
	// A link that somebody made for a post leads where it was made to lead.
	made := s.link(object{"url": "https://news.example/other", "post_id": p.Id})
	if got := s.click("GET", made.Code, "a").Header.Get("Location"); got != "https://news.example/other" {
		t.Errorf("own link: got %s", got)
	}
}
