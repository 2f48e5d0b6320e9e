package fake_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"dateline/platforms/fake"
)

func TestFaults_TokenExpiresAtTime(t *testing.T) {
	clock := newTestClock()
	s := start(t, fake.Options{Clock: clock.Now})
	other, err := s.AddAccount("evening")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Inject(fake.Fault{
		Kind: fake.TokenExpired, Account: "desk",
		At: clock.Now().Add(time.Hour),
	}); err != nil {
		t.Fatal(err)
	}
	who := func(token string, want int) {
		t.Helper()
		if res, message := s.call(http.MethodGet, "/api/v1/accounts/verify_credentials", "", "Authorization",
			"Bearer "+token); res.StatusCode != want {
			t.Errorf("%s %s, want %d", res.Status, message, want)
		}
	}
	who(s.token, 200)
	clock.advance(time.Hour)
	who(s.token, 401)
	who(s.token, 401) // and stays expired
	who(other.Token, 200)
	s.ClearFaults()
	who(s.token, 200)
}

type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Expires int    `json:"expires_in"`
	Error   string `json:"error"`
}

// client is an app to which an account granted access.
type client struct {
	sandbox
	id, secret string
}

func (s sandbox) app() client {
	s.t.Helper()
	_, body := s.call(http.MethodPost, "/api/v1/apps",
		`{"client_name":"Desk","redirect_uris":"http://desk.example/cb","scopes":"read write"}`)
	var app struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal([]byte(body), &app); err != nil {
		s.t.Fatal(err)
	}
	return client{s, app.ID, app.Secret}
}

func (c client) exchange(want int, form url.Values) (got tokens) {
	c.t.Helper()
	form.Set("client_id", c.id)
	form.Set("client_secret", c.secret)
	res, body := c.call(http.MethodPost, "/oauth/token", form.Encode(), "Content-Type",
		"application/x-www-form-urlencoded")
	if err := json.Unmarshal([]byte(body), &got); err != nil || res.StatusCode != want {
		c.t.Fatalf("%s %s, want %d", res.Status, body, want)
	}
	return got
}

// allow completes the authorize page, which approves by itself.
func (c client) allow() tokens {
	c.t.Helper()
	query := url.Values{
		"response_type": {"code"}, "client_id": {c.id}, "redirect_uri": {"http://desk.example/cb"},
		"scope": {"read"},
	}
	page := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := page.Get(c.URL() + "/oauth/authorize?" + query.Encode())
	if err != nil {
		c.t.Fatal(err)
	}
	_ = res.Body.Close()
	back, err := res.Location()
	if err != nil {
		c.t.Fatal(err)
	}
	return c.exchange(200, url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")},
		"redirect_uri": {"http://desk.example/cb"},
	})
}

func (c client) refresh(token string, want int) tokens {
	c.t.Helper()
	return c.exchange(want, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

func (c client) works(token string) bool {
	res, _ := c.call(http.MethodGet, "/api/v1/accounts/verify_credentials", "", "Authorization", "Bearer "+token)
	return res.StatusCode == http.StatusOK
}

func TestMastodon_RefreshTokenReuseRevokesFamily(t *testing.T) {
	clock := newTestClock()
	journal := filepath.Join(t.TempDir(), "sandbox.jsonl")
	options := fake.Options{Clock: clock.Now, AutoApprove: true, TokenTTL: time.Hour, Journal: journal}
	c := start(t, options).app()
	first, others := c.allow(), c.allow()
	if first.Refresh == "" || first.Expires != 3600 || !c.works(first.Access) {
		t.Fatalf("%+v", first)
	}
	clock.advance(time.Hour)
	if c.works(first.Access) {
		t.Error("a token is valid after its hour")
	}
	second := c.refresh(first.Refresh, 200)
	if second.Refresh == first.Refresh || !c.works(second.Access) {
		t.Errorf("%+v after %+v", second, first)
	}
	otherApp := c.app()
	otherApp.refresh(second.Refresh, 400) // of another app: no effect
	c.sandbox = start(t, options)         // a restart keeps everything
	third := c.refresh(second.Refresh, 200)
	if got := c.refresh(first.Refresh, 400); got.Error != "invalid_grant" {
		t.Errorf("%+v", got)
	}
	if c.works(third.Access) {
		t.Error("a used refresh token was repeated, and its family is still valid")
	}
	c.refresh(third.Refresh, 400)
	if fourth := c.refresh(others.Refresh, 200); !c.works(fourth.Access) || !c.works(c.token) {
		t.Error("tokens of other families were revoked")
	}
}

func TestMastodon_TokensWithoutTTLDoNotExpire(t *testing.T) {
	clock := newTestClock()
	c := start(t, fake.Options{Clock: clock.Now, AutoApprove: true}).app()
	got := c.allow()
	clock.advance(10_000 * time.Hour)
	if got.Refresh != "" || !c.works(got.Access) {
		t.Errorf("%+v", got)
	}
	if refused := c.refresh("x", 400); refused.Error != "unsupported_grant_type" {
		t.Errorf("%+v", refused)
	}
}

func TestCounts(t *testing.T) {
	s := start(t, fake.Options{})
	evening, err := s.AddAccount("evening")
	if err != nil {
		t.Fatal(err)
	}
	parent := s.post("once")
	s.post("twice")
	s.post("twice")
	s.post("key", "Idempotency-Key", "k")
	s.post("key", "Idempotency-Key", "k") // the same post
	s.call(http.MethodPost, "/api/v1/statuses", `{"status":"once","in_reply_to_id":"`+parent+`"}`)
	missing := s.post("once")
	s.call(http.MethodDelete, "/api/v1/statuses/"+missing, "")
	if err := s.Inject(fake.Fault{Kind: fake.ActThen500, Path: "/api/v1/statuses"}); err != nil {
		t.Fatal(err)
	}
	s.call(http.MethodPost, "/api/v1/statuses", `{"status":"lost"}`)
	s.call(http.MethodPost, "/api/v1/statuses", `{"status":"once"}`, "Authorization", "Bearer "+evening.Token)
	s.call(http.MethodPost, "/api/v1/statuses", `{"status":"nobody"}`, "Authorization", "Bearer wrong")
	counts := func() (list []fake.Counts) {
		t.Helper()
		_, body := s.call(http.MethodGet, "/__state/counts", "")
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return list
	}
	want := []fake.Counts{
		{Network: "mastodon", Account: "desk", Posts: 6, Deleted: 1, Duplicates: 1, Requests: 9},
		{Network: "mastodon", Account: "evening", Posts: 1, Requests: 1},
	}
	if got := counts(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v, want %+v", got, want)
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	if got := counts(); got[0] != (fake.Counts{Network: "mastodon", Account: "desk"}) {
		t.Errorf("after a reset %+v", got[0])
	}
}
