package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"dateline/api"
	"dateline/api/spec"
)

func TestRequests_WithNULNameTheField(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	for _, c := range []struct {
		method, path string
		body         any
		field        string
	}{
		{"GET", "/api/v1/posts?series=a%00", nil, "series"},
		{"GET", "/api/v1/media?q=a%00b", nil, "q"},
		{"GET", "/api/v1/media?q=a%FFb", nil, "q"},
		{"GET", "/api/v1/media?cursor=%00", nil, "cursor"},
		{"GET", "/api/v1/search?q=a%00b", nil, "q"},
		{"GET", "/api/v1/articles?domain=a%00b", nil, "domain"},
		{"GET", "/api/v1/domains?cursor=a%00", nil, "cursor"},
		{"GET", "/api/v1/seeds?domain=a%00b", nil, "domain"},
		{"GET", "/api/v1/domains/a%00b", nil, "domain"},
		{"GET", "/api/v1/domains/a%00b/selectors", nil, "domain"},
		{"GET", "/api/v1/dead-letters?error_code=a%00b", nil, "error_code"},
		{"GET", "/api/v1/members?cursor=a%00b", nil, "cursor"},
		{"GET", "/api/v1/links/a%00b", nil, "code"},
		{"GET", "/api/v1/sites/" + s.Workspace.ID.String() + "/pages/stats?page=/a%00b", nil, "page"},
		{"POST", "/api/v1/posts", object{"content": "a", "draft": true, "language": "v\x00"}, "language"},
		{
			"POST", "/api/v1/posts",
			object{"content": "a", "draft": true, "thread": []object{{"content": "x"}, {"content": "a\x00"}}},
			"thread[1].content",
		},
		{"POST", "/api/v1/saved-searches", object{"name": "a", "query": "a\x00b"}, "query"},
		{"POST", "/api/v1/sites", object{"name": "a\x00b"}, "name"},
		{"POST", "/api/v1/tokens", object{"name": "a\x00b", "scopes": []string{"posts:read"}}, "name"},
		{"PATCH", "/api/v1/workspace", object{"name": "a\x00b"}, "name"},
		{"POST", "/api/v1/webhooks", object{"url": "https://hooks.example/a\x00b"}, "url"},
		{"POST", "/api/v1/seeds", object{"url": "https://news.example/\x00"}, "url"},
		{"POST", "/api/v1/links", object{"url": "https://news.example/\x00"}, "url"},
		{"POST", "/api/v1/members", object{"email": "a\x00@news.example", "role": "viewer"}, "email"},
		{
			"POST", "/api/v1/accounts",
			object{"network": "mastodon", "base_url": s.Fake.URL(), "access_token": "a\x00"},
			"access_token",
		},
	} {
		a := s.send(c.method, c.path, c.body)
		if a.StatusCode != http.StatusBadRequest && a.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(string(a.body), `"field":"`+c.field+`"`) {
			t.Errorf("%s %s with a NUL: got %s %s, want 400 or 422 that names %s", c.method, c.path, a.Status, a.body,
				c.field)
		}
	}
	path := "/api/v1/posts/" + uuid.NewString()
	s.refused(s.send("PATCH", path, `{"a\u0000b":1}`), 400, "invalid_request")
	s.refused(s.send("PATCH", path, `{"content":"a\\u0000b"}`), 404, "post_not_found") // six characters, no NUL
}

func TestIntegers_MayBeWrittenWithAFraction(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	for text, want := range map[string]int{"725": 725, "725.0": 725, "7.25e2": 725, "7250E-1": 725, "725.000": 725} {
		p := s.post(s.send("POST", "/api/v1/posts",
			`{"content":"725.0 e2 \"1.0\"","draft":true,"drop_if_late_minutes":`+text+`}`), 201)
		if p.DropIfLateMinutes == nil || *p.DropIfLateMinutes != want || p.Content != `725.0 e2 "1.0"` {
			t.Errorf("drop_if_late_minutes %s: got %v and the text %q, want %d", text, p.DropIfLateMinutes, p.Content,
				want)
		}
		var bulk spec.BulkResult
		s.decode(s.send("POST", "/api/v1/posts/bulk?dry_run=true", `{"content":"x","scheduled_time":"`+in(3600e9)+
			`","drop_if_late_minutes":`+text+`}`, "Content-Type", "application/x-ndjson"), 200, &bulk)
		if bulk.Valid != 1 {
			t.Errorf("drop_if_late_minutes %s in a bulk row: got %+v, want no error", text, bulk)
		}
	}
	for _, text := range []string{"725.5", "1e999", "7.255e2"} {
		s.refused(s.send("POST", "/api/v1/posts", `{"content":"x","draft":true,"drop_if_late_minutes":`+text+`}`), 400,
			"invalid_request")
	}
}

func TestPlainIntegers_ChangesNothingElse(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1.0,"b":"1.0","c":[2e3,-0.0,-5.00],"d":1.5}`: `{"a":1,"b":"1.0","c":[2000,0,-5],"d":1.5}`,
		`"\"1.0\\"`:            `"\"1.0\\"`,
		`1.0`:                  `1`,
		`9007199254740993.0`:   `9007199254740993.0`,
		`1e400`:                `1e400`,
		`true`:                 `true`,
		`{"1.0":null,"x":1e0}`: `{"1.0":null,"x":1}`,
	} {
		if got := string(api.PlainIntegers([]byte(raw))); got != want {
			t.Errorf("PlainIntegers(%s): got %s, want %s", raw, got, want)
		}
	}
}
