package login_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"dateline/internal/identity/login"
)

// The headers by which browsers report the origin of a request, and whether it may
// change state. https://www.w3.org/TR/fetch-metadata/
func TestOrigin_RejectsOtherSites(t *testing.T) {
	s := open(t, nil)
	b := s.owner()
	at, err := url.Parse(s.url)
	s.Must(err)
	own, neighbour := s.url, "http://"+at.Hostname()+":1"
	for _, c := range []struct {
		site, origin string
		may          bool
	}{
		{"same-origin", "", true},
		{"same-origin", own, true},
		{"none", "", true}, // typed by the user
		{"", own, true},    // a browser without Fetch Metadata
		{"", "", true},     // not a browser: the cookie was copied
		{"cross-site", "", false},
		{"cross-site", "https://evil.example", false},
		{"cross-site", "null", false},
		{"same-site", neighbour, false},
		{"same-site", "", false},
		{"", "https://evil.example", false},
		{"", neighbour, false},
		{"", "null", false},
		{"nonsense", "", false},
	} {
		headers := []string{"Sec-Fetch-Site", c.site, "Origin", c.origin}
		for _, r := range []struct{ method, path string }{
			{http.MethodPost, "/api/v1/posts"},
			{http.MethodPatch, "/api/v1/session"},
			{http.MethodDelete, "/api/v1/sessions/00000000-0000-0000-0000-000000000000"},
			{http.MethodDelete, "/api/v1/posts/00000000-0000-0000-0000-000000000000"},
		} {
			p := b.send(r.method, r.path, nil, headers...)
			if refused := p.status == http.StatusForbidden &&
				strings.Contains(p.body, "cross_origin"); refused == c.may {
				t.Errorf("%s %s with Sec-Fetch-Site %q and Origin %q: %d %s", r.method, r.path, c.site, c.origin,
					p.status, p.body)
			}
		}
		if p := b.send(http.MethodGet, "/api/v1/posts", nil, headers...); p.status != http.StatusOK {
			t.Errorf("reading with Sec-Fetch-Site %q and Origin %q: %d", c.site, c.origin, p.status)
		}
		if p := b.json(http.MethodDelete, "/api/v1/posts/00000000-0000-0000-0000-000000000000", "", "Sec-Fetch-Site",
			c.site, "Origin", c.origin,
			"Authorization", "Bearer "+s.Token); p.status != http.StatusNotFound {
			t.Errorf("a token with Sec-Fetch-Site %q and Origin %q: %d", c.site, c.origin, p.status)
		}
		// Other sites can neither log users in nor out.
		victim := s.browser()
		if p := victim.send(http.MethodPost, s.link(), url.Values{},
			headers...); (p.status == http.StatusOK) != c.may || victim.loggedIn() != c.may {
			t.Errorf("the link with Sec-Fetch-Site %q and Origin %q: %d", c.site, c.origin, p.status)
		}
		if p := victim.send(http.MethodPost, "/logout", url.Values{},
			headers...); (p.status == http.StatusOK) != c.may || victim.loggedIn() {
			t.Errorf("logout with Sec-Fetch-Site %q and Origin %q: %d", c.site, c.origin, p.status)
		}
	}
	s.owner()
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
	} {
		if p := b.send(http.MethodPost, "/logout", url.Values{"everywhere": {"true"}},
			headers...); p.status != http.StatusForbidden || !b.loggedIn() {
			t.Errorf("%v logged out: %d", headers, p.status)
		}
	}
}

// Browsers allow pages of any site to send GET requests with our cookie.
func TestLogout_RejectsGet(t *testing.T) {
	s := open(t, nil)
	b := s.owner()
	b.send(http.MethodGet, "/logout", nil, "Sec-Fetch-Site", "cross-site").want(http.StatusMethodNotAllowed,
		"method_not_allowed")
	b.send(http.MethodGet, "/login", nil, "Sec-Fetch-Site", "cross-site").want(http.StatusOK, "You are logged in")
	if !b.loggedIn() {
		t.Error("logged out")
	}
}

// Behind a proxy with another host name, the public URL counts.
func TestOrigin_AcceptsThePublicURL(t *testing.T) {
	s := open(t, nil, func(o *login.Options) { o.PublicURL = "https://dateline.example" })
	link := s.link()
	r := func(origin string) page {
		b := s.browser()
		return b.send(http.MethodPost, link, url.Values{}, "Sec-Fetch-Site", "", "Origin", origin)
	}
	if p := r("https://dateline.example.evil.example"); p.status != http.StatusForbidden {
		t.Errorf("%d", p.status)
	}
	if p := r("http://dateline.example"); p.status != http.StatusForbidden {
		t.Errorf("plain http: %d", p.status)
	}
	if p := r("https://dateline.example"); p.status != http.StatusOK {
		t.Errorf("%d %s", p.status, p.body)
	}
}

// A proxy may publish the site below a path and strip it.
func TestPublicURL_WithAPath(t *testing.T) {
	s := open(t, nil, func(o *login.Options) { o.PublicURL += "/newsroom" })
	b := s.browser()
	b.stopAt = "/newsroom"
	p := b.send(http.MethodPost, s.link(), url.Values{})
	if at := p.header.Get("Location"); at != "/newsroom/" {
		t.Errorf("sent to %q", at)
	}
	b.open("/login").want(http.StatusOK, `action="/newsroom/logout"`)
}

func TestCookies(t *testing.T) {
	for public, want := range map[string]string{
		"https://dateline.example": "__Host-dateline=",
		"http://127.0.0.1:8080":    "dateline=",
		"http://localhost:8080":    "dateline=",
		"http://[::1]:8080":        "dateline=",
		"http://10.0.0.1:8080":     "",
		"http://dateline.example":  "",
	} {
		s := open(t, nil, func(o *login.Options) { o.PublicURL = public })
		b := s.browser()
		b.stopAt = s.url
		p := b.send(http.MethodPost, s.link(), url.Values{})
		got := p.header.Get("Set-Cookie")
		switch {
		case want == "":
			if got != "" || p.status != http.StatusForbidden || !strings.Contains(p.body, "plain http") {
				t.Errorf("%s: %d %q", public, p.status, got)
			}
			b.open("/login").want(http.StatusForbidden, "plain http")
			b.open("/login/oidc").want(http.StatusForbidden, "plain http")
		case !strings.HasPrefix(got, want) || strings.Contains(got, "Domain"):
			t.Errorf("%s: got %q, want the prefix %q and no domain", public, got, want)
		case strings.Contains(got, "; Secure") != strings.HasPrefix(public, "https"):
			t.Errorf("%s: got %q, want Secure with https only", public, got)
		default:
			for _, attribute := range []string{"; Path=/;", "; HttpOnly", "; SameSite=Lax"} {
				if !strings.Contains(got, attribute) {
					t.Errorf("%s: got %q, want %q in it", public, got, attribute)
				}
			}
		}
	}
}

func TestSession_RejectsDuplicateCookies(t *testing.T) {
	s := open(t, nil)
	b := s.owner()
	own := "dateline=" + b.cookie("dateline")
	for header, status := range map[string]int{
		own: http.StatusOK, own + "; dateline=planted": http.StatusUnauthorized,
		"dateline=planted; " + own: http.StatusUnauthorized,
	} {
		if p := s.browser().json(http.MethodGet, "/api/v1/session", "", "Cookie", header); p.status != status {
			t.Errorf("%d, want %d", p.status, status)
		}
	}
}
