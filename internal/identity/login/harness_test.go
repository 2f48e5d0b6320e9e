package login_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/net/html"

	"dateline/api"
	"dateline/internal/identity/login"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// site is the API with its login pages on loopback, with a clock of its own.
type site struct {
	*newsroomtest.Newsroom
	t       *testing.T
	url     string
	log     *syncBuffer
	server  *api.Server
	handler http.Handler

	mu   sync.Mutex
	skip time.Duration // offset of its clock
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// open starts a site. provider gets the site's redirect URI; change alters the
// options.
func open(t *testing.T, provider func(redirect string) *login.Provider, change ...func(*login.Options)) *site {
	t.Helper()
	s := &site{Newsroom: newsroomtest.Open(t), t: t, log: &syncBuffer{}}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(listener.Close)
	s.url = listener.URL
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o := login.Options{Store: s.Store.Identity.Logins, PublicURL: s.url, Log: log, Now: s.now}
	if provider != nil {
		o.Provider = provider(s.url + "/login/callback")
	}
	for _, f := range change {
		f(&o)
	}
	service, err := login.New(o)
	s.Must(err)
	s.server = &api.Server{
		Settings: api.Settings{
			Log: log, MaxBodyBytes: 1 << 20, Page: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "the dashboard")
			}),
		},
		Identity: api.Identity{
			MemberHandler:    api.MemberHandler{Store: s.Store.Identity.Workspaces, Events: s.Bus},
			SessionHandler:   api.SessionHandler{Login: service, Events: s.Bus},
			WorkspaceHandler: api.WorkspaceHandler{Store: s.Store.Identity.Workspaces},
		},
		Notify: api.Notify{WebhookHandler: api.WebhookHandler{Webhooks: s.Webhooks}},
	}
	s.server.PostHandler = api.PostHandler{
		Store: s.Store.Publishing.Posts, Scheduler: s.Scheduler, PostChanges: api.PostChanges{Log: log},
	}
	s.server.Accounts, s.server.AccountHandler.Store = s.Accounts, s.Store.AccountList()
	s.server.MediaHandler.Media = s.Media
	s.handler, err = s.server.Handler()
	s.Must(err)
	return s
}

func (s *site) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.skip)
}

// advance moves the clock forward.
func (s *site) advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skip += d
}

// invite makes a user with an email address a member of the workspace, and returns the user.
func (s *site) invite(email, role string) string {
	s.t.Helper()
	user := uuid.NewString()
	s.Exec("insert into users (id, name, email) values ($1, $2, $2)", user, email)
	s.Exec("insert into members (workspace_id, user_id, role) values ($1, $2, $3::member_role)", s.Workspace.ID, user,
		role)
	return user
}

// link creates a login link for the owner.
func (s *site) link() string {
	s.t.Helper()
	link, err := login.NewLink(s.t.Context(), s.Store.Identity.Logins, s.url, s.Owner.UserID, s.now())
	s.Must(err)
	return link
}

// owner returns a browser in which the owner is logged in.
func (s *site) owner() *browser {
	s.t.Helper()
	b := s.browser()
	if p := b.open(s.link()).submit(0); p.status != http.StatusOK || p.body != "the dashboard" {
		s.t.Fatalf("%d %s", p.status, p.body)
	}
	return b
}

// browser follows redirects, stores cookies and submits forms.
type browser struct {
	s      *site
	jar    *cookiejar.Jar
	client *http.Client
	stopAt string        // prefix of URLs that are not opened
	before *http.Request // the request that was not sent
}

// page is a page as a browser shows it.
type page struct {
	b      *browser
	at     *url.URL
	status int
	header http.Header
	body   string
}

func (s *site) browser() *browser {
	b := &browser{s: s}
	b.jar, _ = cookiejar.New(nil)
	b.client = &http.Client{Jar: b.jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if b.stopAt != "" && strings.Contains(r.URL.String(), b.stopAt) {
			b.before = r
			return http.ErrUseLastResponse
		}
		return nil
	}}
	s.t.Cleanup(b.client.CloseIdleConnections)
	return b
}

func (b *browser) open(address string) page {
	b.s.t.Helper()
	return b.send(http.MethodGet, address, nil)
}

// send makes a request like a page of the site.
func (b *browser) send(method, address string, form url.Values, headers ...string) page {
	b.s.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.s.url + address
	}
	r, err := http.NewRequestWithContext(b.s.t.Context(), method, address, strings.NewReader(form.Encode()))
	b.s.Must(err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return b.do(r)
}

func (b *browser) do(r *http.Request) page {
	b.s.t.Helper()
	answer, err := b.client.Do(r)
	b.s.Must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	b.s.Must(err)
	return page{b, answer.Request.URL, answer.StatusCode, answer.Header, string(body)}
}

// json sends a JSON body to the API.
func (b *browser) json(method, path, body string, headers ...string) page {
	b.s.t.Helper()
	r, err := http.NewRequestWithContext(b.s.t.Context(), method, b.s.url+path, strings.NewReader(body))
	b.s.Must(err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return b.do(r)
}

// cookie returns the value of a cookie that the site would get.
func (b *browser) cookie(name string) string {
	at, err := url.Parse(b.s.url)
	b.s.Must(err)
	for _, c := range b.jar.Cookies(at) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (b *browser) setCookie(name, value string) {
	at, err := url.Parse(b.s.url)
	b.s.Must(err)
	b.jar.SetCookies(at, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// loggedIn reports whether the API accepts the browser's session.
func (b *browser) loggedIn() bool {
	b.s.t.Helper()
	p := b.open("/api/v1/session")
	if p.status != http.StatusOK && p.status != http.StatusUnauthorized {
		b.s.t.Fatalf("%d %s", p.status, p.body)
	}
	return p.status == http.StatusOK
}

// submit submits the page's form with that index. fill replaces values: name, value,
// name, value.
func (p page) submit(number int, fill ...string) page {
	p.b.s.t.Helper()
	document, err := html.Parse(strings.NewReader(p.body))
	p.b.s.Must(err)
	var forms []*html.Node
	for n := range document.Descendants() {
		if n.Type == html.ElementNode && n.Data == "form" {
			forms = append(forms, n)
		}
	}
	if number >= len(forms) {
		p.b.s.t.Fatalf("%s (%d) has %d forms:\n%s", p.at, p.status, len(forms), p.body)
	}
	values := url.Values{}
	for n := range forms[number].Descendants() {
		if n.Type == html.ElementNode && n.Data == "input" && attribute(n, "name") != "" {
			values.Set(attribute(n, "name"), attribute(n, "value"))
		}
	}
	for i := 0; i < len(fill); i += 2 {
		values.Set(fill[i], fill[i+1])
	}
	action, err := p.at.Parse(attribute(forms[number], "action"))
	p.b.s.Must(err)
	return p.b.send(http.MethodPost, action.String(), values)
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (p page) want(status int, text string) {
	p.b.s.t.Helper()
	if p.status != status || !strings.Contains(p.body, text) {
		p.b.s.t.Errorf("%s: %d, want %d with %q:\n%s", p.at.Path, p.status, status, text, p.body)
	}
}
