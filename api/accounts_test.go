package api_test

import (
	"net/http"
	"strings"
	"testing"

	"dateline/api/spec"
)

func TestAnAccountIsConnectedThroughTheConsentPage(t *testing.T) {
	s := start(t)
	_, err := s.Fake.AddAccount("desk")
	s.Must(err)
	var begun struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	s.decode(s.send("POST", "/api/v1/accounts/connect", object{"network": "mastodon", "base_url": s.Fake.URL()}), 200, &begun)
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, begun.AuthorizeURL, nil)
	s.Must(err)
	consent, err := browser.Do(r)
	s.Must(err)
	s.Must(consent.Body.Close())
	back, err := consent.Location()
	s.Must(err)

	// The browser carries no API token; the state is what counts.
	callback := back.Path + "?" + back.RawQuery
	a := s.send("GET", callback, nil, "Authorization", "")
	if a.StatusCode != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || !strings.Contains(string(a.body), "@desk@") {
		t.Errorf("the callback answered %s %s", a.Status, a.body)
	}
	var list spec.AccountList
	s.decode(s.send("GET", "/api/v1/accounts", nil), 200, &list)
	if len(list.Accounts) != 1 || !list.Accounts[0].Default || list.Accounts[0].Status != "connected" || *list.Accounts[0].BaseUrl != s.Fake.URL() {
		t.Errorf("accounts %+v", list.Accounts)
	}
	s.post(s.send("POST", "/api/v1/posts", hello()), 201)
	s.refused(s.send("GET", callback, nil, "Authorization", ""), 422, "invalid_request", "state")
}

func TestConsentThatWasNotGivenIsExplained(t *testing.T) {
	s := start(t)
	s.refused(s.send("GET", "/api/v1/oauth/callback?state=s&error=access_denied&error_description="+strings.Repeat("x", 100), nil, "Authorization", ""), 422, "invalid_request", "code")
	s.refused(s.send("GET", "/api/v1/oauth/callback?state=s", nil, "Authorization", ""), 422, "invalid_request", "code")
}

func TestAnAccountIsConnectedByItsToken(t *testing.T) {
	s := start(t)
	there, err := s.Fake.AddAccount("desk")
	s.Must(err)
	body := object{"network": "mastodon", "base_url": s.Fake.URL(), "access_token": there.Token}
	a := s.send("POST", "/api/v1/accounts", body)
	var made spec.Account
	s.decode(a, 201, &made)
	if !strings.HasPrefix(made.Handle, "@desk@") || !made.Default || strings.Contains(string(a.body), there.Token) {
		t.Errorf("made %s", a.body)
	}
	body["access_token"] = "wrong-horse"
	a = s.send("POST", "/api/v1/accounts", body)
	s.refused(a, 422, "network_refused", "access_token")
	if strings.Contains(string(a.body), "wrong-horse") {
		t.Errorf("the token is repeated: %s", a.body)
	}
}
