package login_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/login"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/testing/enginetest"
)

const clientSecret = "a secret: with+signs%"

func accounts() map[string]any {
	person := func(email string, verified bool) map[string]any {
		return map[string]any{"email": email, "email_verified": verified, "name": "Somebody"}
	}
	return map[string]any{
		"ann":      person("Ann@News.example", true),
		"mallory":  person("ann@news.example", false),
		"eve":      person("eve@elsewhere.example", true),
		"new-ann":  person("ann@news.example", true),
		"kelvin":   person("\u212Aarl@news.example", true),
		"nobody":   map[string]any{},
		"stranger": person("stranger@news.example", true),
	}
}

// real is the npm package oidc-provider on loopback.
func real(t *testing.T, change ...func(map[string]any)) func(redirect string) *login.Provider {
	t.Helper()
	return func(redirect string) *login.Provider {
		options := map[string]any{"redirect": redirect, "accounts": accounts()}
		for _, f := range change {
			f(options)
		}
		return &login.Provider{
			Issuer: enginetest.Node(t, "testdata/oidc", options), ClientID: "dateline",
			ClientSecret: secret.NewText(clientSecret),
			Scopes:       []string{"openid", "email", "profile"}, Label: "the newsroom's login",
		}
	}
}

// signIn completes the provider's pages and returns the last page.
func (b *browser) signIn(name string) page {
	b.s.t.Helper()
	p := b.open("/login")
	p.want(http.StatusOK, "Log in with the newsroom&#39;s login")
	p = b.open("/login/oidc")
	if strings.Contains(p.body, `name="login"`) {
		p = p.submit(0, "login", name, "password", "any")
	}
	if strings.Contains(p.body, `name="prompt"`) {
		p = p.submit(0) // consent
	}
	return p
}

func TestOIDC_RealProvider(t *testing.T) {
	for name, inToken := range map[string]bool{"address in the ID token": true, "address on the userinfo page": false} {
		t.Run(name, func(t *testing.T) {
			s := open(t, real(t, func(o map[string]any) { o["inToken"] = inToken }))
			s.invite("ann@news.example", "editor")
			b := s.browser()
			if b.loggedIn() {
				t.Fatal("logged in before the login")
			}
			b.signIn("ann").want(http.StatusOK, "the dashboard")
			b.open("/api/v1/session").want(http.StatusOK, `"email":"ann@news.example"`)
			b.open("/api/v1/session").want(http.StatusOK, `"role":"editor"`)
			b.open("/api/v1/posts").want(http.StatusOK, "posts")
			if b.cookie("dateline-login") != "" {
				t.Error("the attempt's cookie still exists")
			}
			b.open("/login").want(http.StatusOK, "You are logged in")
			for _, kept := range []string{clientSecret, b.cookie("dateline"), "ann@news.example"} {
				if strings.Contains(s.log.String(), kept) {
					t.Errorf("the log contains %q", kept)
				}
			}
		})
	}
}

func TestOIDC_SameIdentityIsTheSameUser(t *testing.T) {
	s := open(t, real(t))
	s.invite("ann@news.example", "author")
	first, second := s.browser(), s.browser()
	first.signIn("ann").want(http.StatusOK, "the dashboard")
	// Subject and issuer identify the user
	s.Exec("update users set email = 'ann.new@news.example' where email is not null")
	second.signIn("ann").want(http.StatusOK, "the dashboard")
	if n := s.Count("select count(distinct user_id) from sessions"); n != 1 ||
		s.Count("select count(*) from sessions") != 2 {
		t.Errorf("%d users", n)
	}
	// A new user of the same address does not get the account of the previous one.
	s.Exec("update users set email = 'ann@news.example' where email is not null")
	third := s.browser()
	third.signIn("new-ann").want(http.StatusForbidden, "You are not a member")
	if third.loggedIn() {
		t.Error("logged in")
	}
}

func TestOIDC_RejectsUninvitedPeople(t *testing.T) {
	s := open(t, real(t))
	s.invite("ann@news.example", "owner")
	s.invite("karl@news.example", "owner")
	users := s.Count("select count(*) from users")
	for name, why := range map[string]string{
		"eve": "no invitation", "nobody": "no address",
		"kelvin": "an address that only looks the same in lower case",
	} {
		b := s.browser()
		b.signIn(name).want(http.StatusForbidden, "You are not a member")
		if b.loggedIn() || b.cookie("dateline") != "" {
			t.Errorf("logged in with %s", why)
		}
	}
	if n := s.Count("select count(*) from sessions") + s.Count("select count(*) from identities"); n != 0 ||
		s.Count("select count(*) from users") != users {
		t.Errorf("%d rows were left", n)
	}
}

// An invitation knows only the address: the first login brings the name, and so does a
// later one for members who joined before their provider sent names.
func TestOIDC_NameOfTheProviderReplacesTheAddress(t *testing.T) {
	for name, inToken := range map[string]bool{"in the ID token": true, "on the userinfo page": false} {
		t.Run(name, func(t *testing.T) {
			s := open(t, real(t, func(o map[string]any) {
				o["inToken"] = inToken
				o["accounts"].(map[string]any)["ann"].(map[string]any)["name"] = "Nguyễn Thị Ánh"
			}))
			s.invite("ann@news.example", "editor")
			for _, row := range []struct{ stored, want string }{
				{"ann@news.example", "Nguyễn Thị Ánh"},
				{"Ann@News.example", "Nguyễn Thị Ánh"},
				{"Ann of the night desk", "Ann of the night desk"},
				{"ann", "ann"},
			} {
				s.Exec("update users set name = $1 where email = 'ann@news.example'", row.stored)
				s.browser().signIn("ann").want(http.StatusOK, "the dashboard")
				if n := s.Count("select count(*) from users where email = 'ann@news.example' and name = $1",
					row.want); n != 1 {
					t.Errorf("%q: not named %q", row.stored, row.want)
				}
			}
		})
	}
}

func TestOIDC_RefusedLoginNamesItsReason(t *testing.T) {
	s := open(t, real(t))
	s.invite("ann@news.example", "author")
	s.browser().signIn("ann").want(http.StatusOK, "the dashboard")
	for _, row := range []struct {
		name, page string
		reason     login.Refusal
	}{
		{"mallory", "the newsroom&#39;s login has not verified your email address", login.NotVerified},
		{"eve", "You are not a member of any workspace", login.NotInvited},
		{"nobody", "You are not a member of any workspace", login.NoEmail},
		{"kelvin", "You are not a member of any workspace", login.NoEmail},
		{"new-ann", "You are not a member of any workspace", login.OtherSubject},
	} {
		before := len(s.log.String())
		s.browser().signIn(row.name).want(http.StatusForbidden, row.page)
		if log := s.log.String()[before:]; !strings.Contains(log, string(row.reason)) || strings.Contains(log, "@") {
			t.Errorf("%s: got the log %s, want the reason %q without an address", row.name, log, row.reason)
		}
	}
	s.Exec("delete from members where role = 'author'")
	before := len(s.log.String())
	s.browser().signIn("ann").want(http.StatusForbidden, "You are not a member")
	if log := s.log.String()[before:]; !strings.Contains(log, string(login.NoWorkspace)) {
		t.Errorf("got the log %s, want %q", log, login.NoWorkspace)
	}
}

func TestOIDC_AllowedDomainCanJoin(t *testing.T) {
	s := open(t, real(t), func(o *login.Options) {
		o.Join = login.Joining{Domains: []string{"news.example"}, Role: workspace.Author}
	})
	b := s.browser()
	b.signIn("stranger").want(http.StatusOK, "the dashboard")
	b.open("/api/v1/session").want(http.StatusOK, `"role":"author"`)
	s.browser().signIn("mallory").want(http.StatusForbidden, "has not verified your email address")
	for _, name := range []string{"eve", "nobody", "kelvin"} {
		s.browser().signIn(name).want(http.StatusForbidden, "You are not a member")
	}
	// A removed member stays out and is logged out immediately.
	s.Exec("delete from members where role = 'author'")
	if b.loggedIn() {
		t.Error("the session outlived the membership")
	}
	s.browser().signIn("stranger").want(http.StatusForbidden, "You are not a member")
}

func TestOIDC_ResponseIsAcceptedOnceInItsBrowser(t *testing.T) {
	s := open(t, real(t))
	s.invite("ann@news.example", "author")
	b := s.browser()
	b.stopAt = "/login/callback"
	b.signIn("ann")
	answer, attempt := b.before.URL.String(), b.cookie("dateline-login")
	if attempt == "" || !strings.Contains(answer, "code=") {
		t.Fatal(answer)
	}

	victim := s.browser() // another user's response must not log this browser in
	victim.open(answer).want(http.StatusBadRequest, "Please log in again")
	victim.stopAt = "/auth"
	victim.open("/login/oidc") // has an attempt of its own now
	victim.open(answer).want(http.StatusBadRequest, "Please log in again")
	for _, change := range []func(url.Values){
		func(q url.Values) { q.Del("state") },
		func(q url.Values) { q.Set("state", "1."+q.Get("state")) },
		func(q url.Values) { q.Set("state", q.Get("state")+"A") },
		func(q url.Values) {
			_, mac, _ := strings.Cut(q.Get("state"), ".")
			q.Set("state", "99999999999."+mac)
		},
	} {
		changed := *b.before.URL
		q := changed.Query()
		change(q)
		changed.RawQuery = q.Encode()
		b.open(changed.String()).want(http.StatusBadRequest, "Please log in again")
	}
	if victim.loggedIn() || b.loggedIn() {
		t.Fatal("logged in with another user's response")
	}

	b.stopAt = ""
	b.open(answer).want(http.StatusOK, "the dashboard")
	if !b.loggedIn() {
		t.Fatal("not logged in")
	}
	thief := s.browser() // with both the URL and the cookie
	thief.setCookie("dateline-login", attempt)
	thief.open(answer).want(http.StatusBadRequest, "Please log in again")
	if thief.loggedIn() {
		t.Error("a response was accepted twice")
	}
}

// A code of another attempt is refused by the provider: the verifier does not match
// (RFC 7636).
func TestOIDC_StolenCodeIsUseless(t *testing.T) {
	s := open(t, real(t))
	s.invite("ann@news.example", "author")
	ann, thief := s.browser(), s.browser()
	ann.stopAt, thief.stopAt = "/login/callback", "/login/callback"
	ann.signIn("ann")
	thief.signIn("eve")
	answer := thief.before.URL
	q := answer.Query()
	q.Set("code", ann.before.URL.Query().Get("code"))
	answer.RawQuery = q.Encode()
	thief.stopAt = ""
	thief.open(answer.String()).want(http.StatusForbidden, "Login refused")
	if thief.loggedIn() {
		t.Error("logged in with another user's code")
	}
	if !strings.Contains(s.log.String(), "invalid_grant") || strings.Contains(s.log.String(), q.Get("code")) {
		t.Errorf("the log says\n%s", s.log)
	}
}

func TestLogin_ExpiresAfterTenMinutes(t *testing.T) {
	s := open(t, real(t))
	s.invite("ann@news.example", "author")
	b := s.browser()
	b.stopAt = "/login/callback"
	b.signIn("ann")
	s.advance(10 * time.Minute)
	b.open(b.before.URL.String()).want(http.StatusBadRequest, "Please log in again")
	if b.loggedIn() {
		t.Error("logged in")
	}
}

func TestOIDC_DeniedConsent(t *testing.T) {
	s := open(t, real(t))
	s.invite("ann@news.example", "author")
	b := s.browser()
	p := b.open("/login/oidc").submit(0, "login", "ann", "password", "any")
	abort, _, _ := strings.Cut(p.body[strings.Index(p.body, "/interaction/"):], `"`)
	p = b.open("http://" + p.at.Host + strings.TrimSuffix(abort, "/abort") + "/abort")
	p.want(http.StatusForbidden, "Login refused")
	if b.loggedIn() || !strings.Contains(s.log.String(), "access_denied") {
		t.Errorf("%v\n%s", b.loggedIn(), s.log)
	}
}

func TestLogout(t *testing.T) {
	s := open(t, real(t))
	s.invite("ann@news.example", "author")
	here, there := s.browser(), s.browser()
	here.signIn("ann")
	there.signIn("ann")
	saved := here.cookie("dateline")
	here.open("/login").submit(0).want(http.StatusOK, "Log in with")
	if here.cookie("dateline") != "" {
		t.Error("the cookie still exists")
	}
	here.setCookie("dateline", saved)
	if here.loggedIn() || !there.loggedIn() {
		t.Errorf("here %v, there %v", here.loggedIn(), there.loggedIn())
	}
	here.setCookie("dateline", "")
	here.signIn("ann").want(http.StatusOK, "the dashboard")
	here.open("/login").submit(1) // everywhere
	if here.loggedIn() || there.loggedIn() {
		t.Errorf("here %v, there %v", here.loggedIn(), there.loggedIn())
	}
}
