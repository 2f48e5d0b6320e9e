package fake_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"dateline/internal/infra/csp"
	"dateline/internal/infra/webpage"
	"dateline/platforms/fake"
)

func TestTimeline(t *testing.T) {
	s := start(t, fake.Options{})
	s.post(`<script>alert(1)</script> https://www.example.com/a/very/long/address/with/many/parts`)
	id := s.post("second")
	res, page := s.call(http.MethodGet, "/", "")
	policy := res.Header.Get("Content-Security-Policy")
	nonce := regexp.MustCompile(`nonce-([A-Z0-9]+)`).FindStringSubmatch(policy)
	if nonce == nil || !strings.Contains(policy, "default-src 'none'") ||
		!strings.Contains(page, `<script nonce="`+nonce[1]+`">`) {
		t.Errorf("policy %q does not match the page", policy)
	}
	if strings.Contains(page, "<script>") || !strings.Contains(page, "&lt;script&gt;") {
		t.Error("a post's text is not escaped")
	}
	if strings.Index(page, "second") > strings.Index(page, "alert") {
		t.Error("the newest is not first")
	}
	if regexp.MustCompile(`(?:src|action|@import)[^>]*https?://`).MatchString(page) {
		t.Error("the page loads other origins")
	}
	if _, part := s.call(http.MethodGet, "/?part=posts", ""); strings.Contains(part, "<html") ||
		!strings.Contains(part, `id="p`+id) {
		t.Errorf("part: %s", part)
	}
	if res, _ := s.call(http.MethodGet, "/@desk/"+id, ""); res.Request.URL.Fragment != "p"+id {
		t.Errorf("the permalink leads to %s", res.Request.URL)
	}
}

func TestTimeline_StreamsChanges(t *testing.T) {
	s := start(t, fake.Options{})
	res, err := http.Get(s.URL() + "/__state/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	buf := make([]byte, 64)
	read := func() string {
		n, err := res.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(bytes.TrimSpace(buf[:n]))
	}
	if got := read(); got != "data: 0" {
		t.Errorf("first event %q", got)
	}
	s.post("news")
	for got := ""; got != "data: 1"; {
		got = read()
	}
}

func TestAuthorizePage(t *testing.T) {
	s := start(t, fake.Options{})
	_, body := s.call(http.MethodPost, "/api/v1/apps",
		`{"client_name":"<Desk>","redirect_uris":"http://desk.example/cb","scopes":"read write"}`)
	var app struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(body), &app); err != nil {
		t.Fatal(err)
	}
	query := "response_type=code&client_id=" + app.ID +
		"&redirect_uri=http%3A%2F%2Fdesk.example%2Fcb&scope=read&state=s"
	res, page := s.call(http.MethodGet, "/oauth/authorize?"+query, "")
	if res.StatusCode != http.StatusOK || !strings.Contains(page, "&lt;Desk&gt;") || !strings.Contains(page, "@desk") {
		t.Fatalf("%s: %s", res.Status, page)
	}
	if got, want := csp.StyleHash(page), webpage.StyleSource(); got != want ||
		!strings.Contains(res.Header.Get("Content-Security-Policy"), want) {
		t.Errorf("got the style %s, want %s allowed by the policy", got, want)
	}
	if _, text := s.call(http.MethodGet, "/oauth/authorize?"+query, "", "Accept-Language",
		"vi"); !strings.Contains(text, `<html lang="vi">`) || !strings.Contains(text, "Cho phép") {
		t.Errorf("got %s, want the page in Vietnamese", text)
	}
	if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy,
		"form-action 'self' http://desk.example") {
		t.Errorf("policy %q blocks the redirect", policy)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	account := regexp.MustCompile(`<option value="(\d+)"`).FindStringSubmatch(page)[1]
	for decision, want := range map[string]string{"allow": "code", "deny": "error"} {
		form := strings.NewReader(query + "&account=" + account + "&decision=" + decision)
		res, err := client.Post(s.URL()+"/oauth/authorize", "application/x-www-form-urlencoded", form)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		back, err := res.Location()
		if err != nil || back.Host != "desk.example" || back.Query().Get(want) == "" ||
			back.Query().Get("state") != "s" {
			t.Errorf("%s: %v, %v", decision, back, err)
		}
	}
	bad := strings.Replace(query, "desk.example", "evil.example", 1)
	if res, page := s.call(http.MethodGet, "/oauth/authorize?"+bad, ""); res.StatusCode != http.StatusBadRequest ||
		!strings.Contains(page, `role="alert">The redirect uri`) {
		t.Errorf("got %s %s, want a page that refuses an unregistered redirect", res.Status, page)
	}
}
