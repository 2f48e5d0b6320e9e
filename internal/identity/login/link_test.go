package login_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/identity/login"
	"dateline/internal/infra/clientaddr"
)

func TestLoginLink_WorksOnce(t *testing.T) {
	s := open(t, nil)
	link := s.link()
	if n := s.Count("select count(*) from login_links l where l::text like '%' || $1 || '%'",
		link[len(link)-30:]); n != 0 {
		t.Error("the link is stored in plain text")
	}
	preview := s.browser() // GET requests, as by mail scanners and link previews, do not use the link up
	for range 2 {
		preview.open(link).want(http.StatusOK, "<button>Log in</button>")
		preview.send(http.MethodHead, link, nil)
	}
	if preview.loggedIn() {
		t.Fatal("logged in by opening the link")
	}
	b, late := s.browser(), s.browser()
	page, latePage := b.open(link), late.open(link)
	page.submit(0).want(http.StatusOK, "the dashboard")
	if !b.loggedIn() {
		t.Fatal("not logged in")
	}
	latePage.submit(0).want(http.StatusForbidden, "no longer valid")
	if late.loggedIn() {
		t.Error("logged in by a used link")
	}
	if secret := link[strings.LastIndex(link, "/")+1:]; strings.Contains(s.log.String(), secret) {
		t.Errorf("the log holds the link:\n%s", s.log)
	}
}

func TestLoginLink_ExpiresAfterTenMinutesOrTheNextLink(t *testing.T) {
	s := open(t, nil)
	first := s.link()
	second := s.link()
	s.advance(login.LinkLimit - time.Second)
	s.browser().open(first).submit(0).want(http.StatusForbidden, "no longer valid")
	third := s.browser()
	third.open(second).submit(0).want(http.StatusOK, "the dashboard")
	old := s.link()
	s.advance(login.LinkLimit)
	s.browser().open(old).submit(0).want(http.StatusForbidden, "no longer valid")
	s.browser().open("/login/once/nonsense").submit(0).want(http.StatusForbidden, "no longer valid")
	if n := s.Count("select count(*) from sessions"); n != 1 {
		t.Errorf("%d sessions, want one", n)
	}
}

func TestLoginLink_OfARemovedMember(t *testing.T) {
	s := open(t, nil)
	link := s.link()
	s.Exec("delete from members")
	b := s.browser()
	b.open(link).submit(0).want(http.StatusForbidden, "You are not a member")
	if b.loggedIn() {
		t.Error("logged in")
	}
}

func TestPages_SetSecurityHeaders(t *testing.T) {
	s := open(t, nil)
	b := s.browser()
	for _, path := range []string{"/login", "/login/oidc", "/login/callback?state=1.a&code=b", "/login/once/abc"} {
		p := b.open(path)
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "same-origin",
			"X-Frame-Options": "DENY",
		} {
			if got := p.header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if csp := p.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") ||
			!strings.Contains(csp, "form-action 'self'") {
			t.Errorf("%s: %q", path, csp)
		}
	}
}

func TestLogin_LimitsAttemptsPerClient(t *testing.T) {
	s := open(t, nil)
	try := func(from string) int {
		return s.browser().send(http.MethodPost, "/login/once/nonsense", nil, "X-Forwarded-For", from).status
	}
	n := 0
	for ; n < 200 && try("203.0.113.1") != http.StatusTooManyRequests; n++ {
	}
	if n < 20 || n == 200 {
		t.Errorf("refused after %d attempts", n)
	}
	if status := try("203.0.113.2"); status != http.StatusTooManyRequests {
		t.Errorf("a header set by the client bypassed the limit: %d", status)
	}
	s.browser().open("/login/callback").want(http.StatusTooManyRequests, "Too many attempts")
	s.browser().open("/login").want(http.StatusOK, "Log in to Dateline") // the page itself is not limited
	s.advance(time.Minute)
	if status := try("203.0.113.1"); status != http.StatusForbidden {
		t.Errorf("still %d after a minute", status)
	}
	if strings.Contains(s.log.String(), "203.0.113.") || strings.Contains(s.log.String(), "127.0.0.1") {
		t.Errorf("the log holds an address:\n%s", s.log)
	}
}

// A proxy that sets no X-Forwarded-For passes on the X-Real-IP that the client wrote.
func TestLogin_IgnoresOtherHeadersOfAClient(t *testing.T) {
	s := open(t, nil)
	s.server.TrustedProxies = []string{"127.0.0.0/8"}
	var err error
	s.handler, err = s.server.Handler()
	s.Must(err)
	limited := false
	for n := 0; n < 200 && !limited; n++ {
		limited = s.browser().send(http.MethodPost, "/login/once/nonsense", nil, "X-Real-IP",
			"203.0.113."+strconv.Itoa(n), "CF-Connecting-IP",
			"203.0.113."+strconv.Itoa(n)).status == http.StatusTooManyRequests
	}
	if !limited {
		t.Error("a header of the client bypassed the limit")
	}
	if p := s.browser().send(http.MethodGet, "/livez",
		nil); p.header.Get(clientaddr.ForwardedHeader) != clientaddr.ForwardedMissing {
		t.Errorf("got %q, want that X-Forwarded-For is missing", p.header.Get(clientaddr.ForwardedHeader))
	}
	if p := s.browser().send(http.MethodGet, "/livez", nil, "X-Forwarded-For",
		"203.0.113.1"); p.header.Get(clientaddr.ForwardedHeader) != clientaddr.ForwardedYes {
		t.Errorf("got %q, want that the client is known", p.header.Get(clientaddr.ForwardedHeader))
	}
}

func TestLogin_UsesTheClientAddressOfATrustedProxy(t *testing.T) {
	s := open(t, nil)
	s.server.TrustedProxies = []string{"127.0.0.0/8"}
	var err error
	s.handler, err = s.server.Handler()
	s.Must(err)
	var next atomic.Int64
	try := func(from string) int {
		return s.browser().send(http.MethodPost, "/login/once/nonsense", nil, "X-Forwarded-For", from, "X-Real-IP",
			"192.0.2."+strconv.Itoa(int(next.Add(1)%250))).status
	}
	for n := 0; n < 200 && try("203.0.113.1") != http.StatusTooManyRequests; n++ {
	}
	passed := 0 // one of several: clients may share a bucket by chance
	for _, from := range []string{"203.0.113.2", "203.0.113.3", "2001:db8::1", "2001:db8:1::1"} {
		if try(from) == http.StatusForbidden {
			passed++
		}
	}
	if first := try("203.0.113.1"); first != http.StatusTooManyRequests || passed == 0 {
		t.Errorf("%d, and %d others passed", first, passed)
	}
	if status := try("203.0.113.9, 203.0.113.1"); status != http.StatusTooManyRequests {
		t.Errorf("an address before the proxy's own was trusted: %d", status)
	}
}

func TestPages_SpeakTheReadersLanguage(t *testing.T) {
	s := open(t, nil)
	b := s.browser()
	for _, c := range []struct {
		path, header, value string
		status              int
		want                []string
	}{
		{"/login", "Accept-Language", "vi-VN,vi;q=0.9", http.StatusOK, []string{
			`<html lang="vi">`, "Đăng nhập vào Dateline", `<link rel="icon" href="data:`,
		}},
		{"/login", "Cookie", "dateline-language=vi; dateline-scheme=dark", http.StatusOK, []string{
			`<html lang="vi" data-scheme="dark">`, "Đăng nhập vào Dateline",
		}},
		{"/login/once/x", "Accept-Language", "vi", http.StatusOK, []string{"<button>Đăng nhập</button>"}},
		{"/login/callback", "Accept-Language", "vi", http.StatusBadRequest, []string{"Vui lòng đăng nhập lại"}},
		{"/login", "Accept-Language", "fr", http.StatusOK, []string{`<html lang="en">`, "Log in to Dateline"}},
	} {
		p := b.send(http.MethodGet, c.path, nil, c.header, c.value)
		for _, want := range c.want {
			p.want(c.status, want)
		}
	}
}

// The pages name a command that prints a login link: `dateline login` asks for a token.
func TestPages_NameTheCommandThatPrintsALink(t *testing.T) {
	s := open(t, nil)
	for _, language := range []string{"en", "vi"} {
		p := s.browser().send(http.MethodGet, "/login", nil, "Accept-Language", language)
		p.want(http.StatusOK, "<code>dateline login-link</code>")
	}
}
