package login_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/login"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/clientaddr"
	"dateline/internal/infra/idempotency"
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

// A link may name the workspace that it opens, which the user must be a member of.
func TestLoginLink_OpensAWorkspace(t *testing.T) {
	s := open(t, nil)
	second, _, err := s.People.CreateWorkspace(t.Context(), s.Owner, "Second", "UTC", idempotency.Key{})
	s.Must(err)
	rivals, _, _ := s.Found("Rivals")
	for name, c := range map[string]struct {
		query string
		want  uuid.UUID
	}{
		"none":              {"", s.Workspace.ID},
		"the second":        {second.ID.String(), second.ID},
		"somebody else's":   {rivals.ID.String(), s.Workspace.ID},
		"not an identifier": {"x", s.Workspace.ID},
	} {
		s.browser().open(s.link()+"?"+url.Values{login.WorkspaceParameter: {c.query}}.Encode()).submit(0).
			want(http.StatusOK, "the dashboard")
		if n := s.Count("select count(*) from sessions where workspace_id = $1", c.want); n != 1 {
			t.Errorf("%s: the session shows another workspace", name)
		}
		s.Exec("delete from sessions")
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
	for _, path := range []string{
		"/login", "/login/oidc", "/login/callback?state=1.a&code=b", "/login/once/abc",
		"/login/invitation/abc",
	} {
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
	invitation := func() int {
		return s.browser().send(http.MethodPost, "/login/invitation/nonsense", nil).status
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
	if status := invitation(); status != http.StatusTooManyRequests {
		t.Errorf("invitations are not limited: %d", status)
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
		{"/login/invitation/x", "Accept-Language", "vi", http.StatusOK, []string{
			"Tên của bạn", "<button>Tham gia</button>",
		}},
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

// memberLink creates a login link of a member, whose address is returned by the API once.
func (s *site) memberLink(owner *browser, user string) string {
	s.t.Helper()
	p := owner.json(http.MethodPost, "/api/v1/members/"+user+"/login-link", "", "Sec-Fetch-Site", "same-origin")
	var link struct{ URL string }
	if s.Must(json.Unmarshal([]byte(p.body), &link)); p.status != http.StatusCreated || link.URL == "" {
		s.t.Fatalf("%d %s", p.status, p.body)
	}
	return link.URL
}

func TestInvitation_LogsInOnceUnderTheNameEntered(t *testing.T) {
	s := open(t, nil)
	user := s.invite("lan@news.example", "editor")
	link := s.memberLink(s.owner(), user)
	if n := s.Count("select count(*) from member_login_links l where l::text like '%' || $1 || '%'",
		link[len(link)-30:]); n != 0 {
		t.Error("the link is stored in plain text")
	}
	s.browser().open(link).want(http.StatusOK, "<button>Join</button>") // a preview does not use it
	b, late := s.browser(), s.browser()
	page, latePage := b.open(link), late.open(link)
	page.submit(0, "name", "Nguyễn Thị Lan\u202e").want(http.StatusOK, "the dashboard")
	b.open("/api/v1/session").want(http.StatusOK, `"name":"Nguyễn Thị Lan"`)
	latePage.submit(0, "name", "Eve").want(http.StatusForbidden, "no longer valid")
	if late.loggedIn() {
		t.Error("logged in by a used link")
	}
	if n := s.Count("select count(*) from members m join users u on u.id = m.user_id where u.name = 'Nguyễn Thị Lan' " +
		"and m.role = 'editor' and m.joined_at is not null"); n != 1 {
		t.Error("the invitation was not accepted")
	}
	if secret := link[strings.LastIndex(link, "/")+1:]; strings.Contains(s.log.String(), secret) {
		t.Errorf("the log holds the link:\n%s", s.log)
	}
	again := s.memberLink(s.owner(), user) // the name stays, and nobody asks for it
	second := s.browser()
	second.open(again).submit(0).want(http.StatusOK, "the dashboard")
	second.open("/api/v1/session").want(http.StatusOK, "Nguyễn Thị Lan")
	for _, action := range []string{"member.login_link_created", "login.succeeded"} {
		if n := s.Count("select count(*) from audit_log where action = $1 and (object_id = $2 or user_id = $2)", action,
			user); n != 2 {
			t.Errorf("%d entries %s, want 2", n, action)
		}
	}
}

func TestInvitation_EndsWithTimeRevocationReplacementAndRemoval(t *testing.T) {
	for name, end := range map[string]func(s *site, owner *browser, user string){
		"Time":        func(s *site, _ *browser, _ string) { s.advance(login.MemberLinkLimit) },
		"Replacement": func(s *site, owner *browser, user string) { s.memberLink(owner, user) },
		"Removal":     func(s *site, _ *browser, user string) { s.Exec("delete from members where user_id = $1::uuid", user) },
		"Revocation": func(s *site, owner *browser, user string) {
			path := "/api/v1/members/" + user + "/login-link"
			for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
				if p := owner.json(http.MethodDelete, path, "", "Sec-Fetch-Site", "same-origin"); p.status != want {
					s.t.Errorf("%d %s, want %d", p.status, p.body, want)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, nil)
			user, owner := s.invite("lan@news.example", "author"), s.owner()
			link := s.memberLink(owner, user)
			end(s, owner, user)
			b := s.browser()
			b.open(link).submit(0, "name", "Lan").want(http.StatusForbidden, "no longer valid")
			if b.loggedIn() {
				t.Error("logged in")
			}
		})
	}
}

// The owner of a workspace could use the link of a member, who may belong to other workspaces.
func TestMemberLink_ReachesOnlyItsWorkspace(t *testing.T) {
	s := open(t, nil)
	user, other := s.invite("lan@news.example", "author"), uuid.NewString()
	s.Exec("insert into workspaces (id, name, time_zone) values ($1, 'Secret', 'UTC')", other)
	s.Exec("insert into members (workspace_id, user_id, role, created_at) values ($1, $2, 'owner', "+
		"now() - interval '1 day')", other, user) // the older membership
	b := s.browser()
	b.open(s.memberLink(s.owner(), user)).submit(0, "name", "Lan").want(http.StatusOK, "the dashboard")
	b.open("/api/v1/workspace").want(http.StatusOK, s.Workspace.ID.String())
	for _, path := range []string{"/login", "/api/v1/session", "/api/v1/workspaces"} {
		if p := b.open(path); p.status != http.StatusOK || strings.Contains(p.body, "Secret") {
			t.Errorf("%s: %d %s", path, p.status, p.body)
		}
	}
	b.json(http.MethodPatch, "/api/v1/session", `{"workspace_id":"`+other+`"}`, "Sec-Fetch-Site", "same-origin").
		want(http.StatusNotFound, "workspace_not_found")
	if n := s.Count("select count(*) from members where workspace_id = $1::uuid and joined_at is not null", other); n != 0 {
		t.Error("the invitation to another workspace was accepted")
	}
	// Other workspaces' owners and other members of this one create none.
	s.Exec("update members set role = 'owner' where workspace_id = $1 and user_id = $2", s.Workspace.ID, user)
	stranger := uuid.NewString()
	s.Exec("insert into users (id, name) values ($1, 'Stranger')", stranger)
	s.Exec("insert into members (workspace_id, user_id, role) values ($1, $2, 'author')", other, stranger)
	for path, want := range map[string]int{stranger: http.StatusNotFound, user: http.StatusCreated} {
		b.json(http.MethodPost, "/api/v1/members/"+path+"/login-link", "", "Sec-Fetch-Site", "same-origin").want(want, "")
	}
	s.Exec("update members set role = 'editor' where workspace_id = $1 and user_id = $2", s.Workspace.ID, user)
	b.json(http.MethodPost, "/api/v1/members/"+user+"/login-link", "", "Sec-Fetch-Site", "same-origin").
		want(http.StatusForbidden, "role_insufficient")
}

// A link could not log anybody in.
func TestMemberLink_IsRefusedOverPlainHTTP(t *testing.T) {
	s := open(t, nil)
	user := uuid.MustParse(s.invite("lan@news.example", "author"))
	plain, err := login.New(login.Options{Store: s.Store.Identity.Logins, PublicURL: "http://desk.news.example"})
	s.Must(err)
	var refused *apperr.Error
	if _, err := plain.NewMemberLink(t.Context(), s.Owner, user); !errors.As(err, &refused) ||
		refused.Code != "no_plain_http" {
		t.Errorf("got %v", err)
	}
}
