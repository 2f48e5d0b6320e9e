package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"dateline/api"
	"dateline/internal/identity/audit"
	"dateline/internal/identity/login"
	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
)

var errDown = errors.New("the database is down")

// identities are the tokens and the session of an in-memory API. It implements only
// what authentication and event streams read.
type identities struct {
	api.IdentityStore
	api.PostStore
	api.EventStore
	api.AccountStore

	mu      sync.Mutex
	who     workspace.Principal
	status  workspace.TokenStatus
	err     error
	session *login.Session
	origins []audit.Origin // requests that reached a handler
	block   chan struct{}  // not nil: token lookups block until it is closed
	ready   error          // called by the readiness check
}

func (s *identities) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *identities) Bearer(_ context.Context, hash []byte) (workspace.Principal, workspace.TokenStatus, error) {
	if s.block != nil {
		<-s.block
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(hash, workspace.HashToken("good")) {
		return workspace.Principal{}, workspace.TokenUnknown, s.err
	}
	return s.who, s.status, s.err
}

// browserSessions looks up the session of the identities.
type browserSessions struct {
	login.Store
	of *identities
}

func (s browserSessions) SessionByHash(context.Context, []byte, login.Limits) (login.Session, bool, error) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.of.session == nil {
		return login.Session{}, false, s.of.err
	}
	return *s.of.session, true, s.of.err
}

func (browserSessions) TouchSession(context.Context, uuid.UUID, time.Time) error { return nil }

func (s *identities) User(ctx context.Context, _ uuid.UUID) (workspace.User, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.origins = append(s.origins, audit.OriginOf(ctx))
	return workspace.User{}, errDown
}

func (s *identities) LatestEventCursor(context.Context) (post.EventCursor, error) {
	return post.EventCursor{}, nil
}

func (s *identities) WorkspaceEvents(
	context.Context, post.EventFilter, post.EventCursor, int,
) ([]post.WorkspaceEvent, post.EventCursor, bool, error) {
	return nil, post.EventCursor{}, false, nil
}

// gateway is the API with its middleware and identities only.
type gateway struct {
	*identities
	t       *testing.T
	log     *syncBuffer
	handler http.Handler
}

func newGateway(t *testing.T, change func(s *api.Server)) *gateway {
	t.Helper()
	g := &gateway{log: &syncBuffer{}, identities: &identities{}}
	g.reset(t)
	sessions, err := login.New(login.Options{
		Store: browserSessions{of: g.identities}, PublicURL: "https://dateline.example",
	})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewJSONHandler(g.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := &api.Server{
		Settings: api.Settings{
			Page: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Log: log, MaxBodyBytes: 1 << 10,
		},
		Identity: api.Identity{
			MemberHandler:  api.MemberHandler{Store: g.identities, Events: deaf{}},
			SessionHandler: api.SessionHandler{Login: sessions},
		},
		Audience: &api.Audience{},
		Installation: api.Installation{SystemHandler: api.SystemHandler{
			Checks: map[string]api.Check{"postgres": func(context.Context) error { return g.ready }}, Log: log,
		}},
	}
	s.PostHandler.Store, s.PostHandler.Log = g.identities, log
	s.WorkspaceHandler.Store, s.AccountHandler.Store = g.identities, g.identities
	s.EventHandler = api.EventHandler{Store: g.identities, Events: deaf{}, Log: log}
	s.MediaHandler.Media = &media.Service{MaxBytes: 1}
	if change != nil {
		change(s)
	}
	if g.handler, err = s.Handler(); err != nil {
		t.Fatal(err)
	}
	return g
}

// reset clears the state of earlier tests: building the routes takes longer than most
// tests.
func (g *gateway) reset(t *testing.T) {
	g.t, g.status, g.err, g.session, g.origins, g.block, g.ready = t, workspace.TokenActive, nil, nil, nil, nil, nil
	g.who = workspace.Principal{
		WorkspaceID: uuid.New(), UserID: uuid.New(), TokenID: uuid.New(), Role: workspace.Owner,
		Scopes: []workspace.Scope{workspace.Everything},
	}
	g.log.mu.Lock()
	defer g.log.mu.Unlock()
	g.log.b.Reset()
}

func (g *gateway) request(method, path string, header ...string) *http.Request {
	r := httptest.NewRequestWithContext(g.t.Context(), method, path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func (g *gateway) send(method, path string, header ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, g.request(method, path, header...))
	return w
}

// wantProblem checks status and code of a response.
func wantProblem(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var problem struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	}
	_ = json.Unmarshal(w.Body.Bytes(), &problem)
	if w.Code != status || problem.Code != code || problem.Detail == "" {
		t.Errorf("got %d %q %q, want %d %q", w.Code, problem.Code, problem.Detail, status, code)
	}
}

const (
	goodToken = "Bearer good"
	cookie    = "__Host-dateline=secret"
)

// lines returns the log entries of requests.
func (g *gateway) lines() (entries []map[string]any) {
	g.t.Helper()
	for line := range strings.Lines(g.log.String()) {
		entry := map[string]any{}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			g.t.Fatal(err)
		}
		if entry["msg"] == "request" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// Every request is logged with its id: changes at info, failures at error, health
// checks at debug level.
func TestObserve_LogsRequests(t *testing.T) {
	t.Parallel()
	g := newGateway(t, nil)
	for name, row := range map[string]struct {
		method, path string
		header       []string
		ready        error
		status       int
		level        string
		route        string
	}{
		"Read":         {"GET", "/livez", nil, nil, 200, "DEBUG", "/livez"},
		"ReadRefused":  {"GET", "/api/v1/posts?q=x", nil, nil, 401, "DEBUG", "/api/v1/posts"},
		"Change":       {"POST", "/api/v1/posts", nil, nil, 401, "INFO", "/api/v1/posts"},
		"Failure":      {"GET", "/api/v1/me", []string{"Authorization", goodToken}, nil, 503, "ERROR", "/api/v1/me"},
		"FailedChange": {"POST", "/api/v1/me", []string{"Authorization", goodToken}, nil, 405, "INFO", ""},
		"Panic": {
			"GET", "/api/v1/accounts",
			[]string{"Authorization", goodToken},
			nil, 500, "ERROR",
			"/api/v1/accounts",
		},
		"NotReady": {"GET", "/readyz", nil, errDown, 503, "DEBUG", "/readyz"},
		"Nowhere":  {"GET", "/nowhere", nil, nil, 404, "DEBUG", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g.reset(t)
			g.ready = row.ready
			w := g.send(row.method, row.path, row.header...)
			entries := g.lines()
			if w.Code != row.status || len(entries) != 1 {
				t.Fatalf("got %d %s and %d entries, want %d and one", w.Code, w.Body, len(entries), row.status)
			}
			e := entries[0]
			if e["level"] != row.level || e["route"] != row.route || e["method"] != row.method ||
				e["status"] != float64(row.status) {
				t.Errorf("logged %v, want %s of %s", e, row.level, row.route)
			}
			id := w.Header().Get("X-Request-ID")
			if _, err := uuid.Parse(id); err != nil || e["request_id"] != id {
				t.Errorf("the response has id %q, the log %v", id, e["request_id"])
			}
			if name == "Failure" && !strings.Contains(e["errors"].(string), errDown.Error()) {
				t.Errorf("logged %v, want the error", e["errors"])
			}
			if name == "Panic" && (!strings.Contains(g.log.String(), `"panic in a request"`) ||
				!strings.Contains(w.Body.String(), `"internal"`)) {
				t.Errorf("got %s, log %s, want the panic in the log only", w.Body, g.log)
			}
		})
	}
}

// Requests that are rejected because of overload are logged at debug level.
func TestObserve_OverloadIsNoError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, func(s *api.Server) { s.Limits.AtOnce = 1 })
		g.block = make(chan struct{})
		go g.send("GET", "/api/v1/me", "Authorization", goodToken)
		synctest.Wait()
		wantProblem(t, g.send("GET", "/api/v1/posts", "Authorization", goodToken), http.StatusServiceUnavailable,
			"overloaded")
		if e := g.lines(); len(e) != 1 || e[0]["level"] != "DEBUG" {
			t.Errorf("logged %v, want one entry at debug level", e)
		}
		close(g.block)
		synctest.Wait()
	})
}

// answered records responses.
type answered struct {
	mu   sync.Mutex
	all  []string
	took time.Duration
}

func (a *answered) Answered(_ context.Context, method, route, status string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all, a.took = append(a.all, method+" "+route+" "+status), took
}

// Unknown paths and methods share one label each, so that clients cannot create
// metrics.
func TestObserve_CountsAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		meter := &answered{}
		g := newGateway(t, func(s *api.Server) { s.Meter = meter })
		g.send("GET", "/api/v1/posts/"+uuid.NewString())
		g.send("BREW", "/coffee/1")
		g.send("DELETE", "/coffee/2")
		if want := []string{"GET /api/v1/posts/:id 401", "other none 404", "DELETE none 404"}; !slices.Equal(meter.all,
			want) {
			t.Errorf("got %q, want %q", meter.all, want)
		}
		g.block = make(chan struct{})
		time.AfterFunc(3*time.Second, func() { close(g.block) })
		g.send("GET", "/api/v1/me", "Authorization", goodToken)
		if meter.took != 3*time.Second {
			t.Errorf("took %s, want 3s", meter.took)
		}
	})
}

func TestObserve_NamesSpans(t *testing.T) {
	t.Parallel()
	g := newGateway(t, nil)
	for name, row := range map[string]struct {
		method, path, token string
		want, route         string
		status              int
		code                codes.Code
	}{
		"Refused": {
			"GET", "/api/v1/posts/" + uuid.NewString(), "", "GET /api/v1/posts/:id", "/api/v1/posts/:id", 401,
			codes.Unset,
		},
		"Failure": {"GET", "/api/v1/accounts", goodToken, "GET /api/v1/accounts", "/api/v1/accounts", 500, codes.Error},
		"Nowhere": {"BREW", "/coffee", "", "other none", "none", 404, codes.Unset},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := tracetest.NewSpanRecorder()
			ctx, span := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test").
				Start(t.Context(), "HTTP")
			r := g.request(row.method, row.path, "Authorization", row.token)
			g.handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
			span.End()
			got := recorder.Ended()[0]
			attributes := attribute.NewSet(got.Attributes()...)
			route, _ := attributes.Value("http.route")
			status, _ := attributes.Value("http.response.status_code")
			if got.Name() != row.want || got.Status().Code != row.code || route.AsString() != row.route ||
				status.AsInt64() != int64(row.status) {
				t.Errorf("got %q, %v, %v, want %q of %q, %d", got.Name(), got.Status(), got.Attributes(), row.want,
					row.route, row.status)
			}
		})
	}
}

func TestSecureHeaders_AreOnEveryAnswer(t *testing.T) {
	t.Parallel()
	for origin, reach := range map[string]string{
		"":                   "connect-src 'self';",
		"https://s3.example": "connect-src 'self' https://s3.example;",
	} {
		g := newGateway(t, func(s *api.Server) { s.BucketOrigin = origin })
		for path, cache := range map[string]string{"/api/v1/posts": "no-store", "/": "", "/nowhere": ""} {
			h := g.send("GET", path).Header()
			if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" ||
				h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cache-Control") != cache {
				t.Errorf("%s: got %v", path, h)
			}
			if policy := h.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") ||
				!strings.Contains(policy, reach) || !strings.Contains(policy, "frame-ancestors 'none'") {
				t.Errorf("%s: got policy %q, want %q", path, policy, reach)
			}
		}
	}
}

// A request is authenticated by a token or by a browser's session.
func TestAuthenticate(t *testing.T) {
	t.Parallel()
	g := newGateway(t, nil)
	session := func(g *gateway) { g.session = &login.Session{ID: uuid.New(), Role: workspace.Owner} }
	for name, row := range map[string]struct {
		path    string
		header  []string
		prepare func(g *gateway)
		status  int // 500 or 503 with internal or unavailable: it passed authentication
		code    string
		ask     string // WWW-Authenticate
	}{
		"NoToken": {"/api/v1/me", nil, nil, 401, "token_required", `Bearer realm="dateline"`},
		"OtherScheme": {
			"/api/v1/me",
			[]string{"Authorization", "Basic good"},
			nil, 401, "token_required",
			`Bearer realm="dateline"`,
		},
		"EmptyToken": {
			"/api/v1/me",
			[]string{"Authorization", "Bearer "},
			nil, 401, "token_required",
			`Bearer realm="dateline"`,
		},
		"UnknownToken": {
			"/api/v1/me",
			[]string{"Authorization", "Bearer bad"},
			nil, 401, "token_invalid",
			`Bearer realm="dateline", error="invalid_token"`,
		},
		"ExpiredToken": {
			"/api/v1/me",
			[]string{"Authorization", goodToken},
			func(g *gateway) { g.status = workspace.TokenExpired }, 401, "token_expired",
			`Bearer realm="dateline", error="invalid_token"`,
		},
		"RevokedToken": {
			"/api/v1/me",
			[]string{"Authorization", goodToken},
			func(g *gateway) { g.status = workspace.TokenRevoked }, 401, "token_revoked",
			`Bearer realm="dateline", error="invalid_token"`,
		},
		"GoodToken": {"/api/v1/me", []string{"Authorization", goodToken}, nil, 503, "unavailable", ""},
		"LowerCase": {"/api/v1/me", []string{"Authorization", "bearer good"}, nil, 503, "unavailable", ""},
		"TokensUnknown": {
			"/api/v1/accounts",
			[]string{"Authorization", goodToken},
			func(g *gateway) { g.err = errDown }, 503, "unavailable", "",
		},
		"Session": {"/api/v1/me", []string{"Cookie", cookie}, session, 503, "unavailable", ""},
		"SessionEnded": {
			"/api/v1/me",
			[]string{"Cookie", cookie},
			nil, 401, "session_ended",
			`Bearer realm="dateline"`,
		},
		// Read-only
		"CrossOrigin": {
			"/api/v1/me",
			[]string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"},
			session, 503,
			"unavailable", "",
		},
		"TokenAndCookie": {
			"/api/v1/me",
			[]string{"Authorization", "Bearer bad", "Cookie", cookie},
			session, 401,
			"token_invalid", `Bearer realm="dateline", error="invalid_token"`,
		},
		"SessionsOnly": {
			"/api/v1/session",
			[]string{"Authorization", goodToken},
			nil, 403, "session_required",
			"",
		},
		"SessionsOnlyBad": {
			"/api/v1/session",
			[]string{"Authorization", "Bearer bad"},
			nil, 401, "token_invalid",
			`Bearer realm="dateline", error="invalid_token"`,
		},
		"SessionsOnlyNobody": {"/api/v1/session", nil, nil, 401, "session_required", `Bearer realm="dateline"`},
		"ScopeMissing": {
			"/api/v1/accounts",
			[]string{"Authorization", goodToken},
			func(g *gateway) { g.who.Scopes = []workspace.Scope{workspace.PostsRead} }, 403, "scope_insufficient",
			`Bearer realm="dateline", error="insufficient_scope", scope="accounts:read"`,
		},
		"RoleTooLow": {
			"/api/v1/members",
			[]string{"Authorization", goodToken},
			func(g *gateway) { g.who.Role = workspace.Viewer }, 403, "role_insufficient", "",
		},
		"Page":     {"/", nil, nil, 200, "", ""},
		"Document": {"/api/openapi.yaml", nil, nil, 200, "", ""},
		"Health":   {"/livez", nil, nil, 200, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g.reset(t)
			if row.prepare != nil {
				row.prepare(g)
			}
			w := g.send("GET", row.path, row.header...)
			if row.code == "" {
				if w.Code != row.status {
					t.Errorf("got %d %s, want %d", w.Code, w.Body, row.status)
				}
			} else {
				wantProblem(t, w, row.status, row.code)
			}
			if got := w.Header().Get("WWW-Authenticate"); got != row.ask {
				t.Errorf("got WWW-Authenticate %q, want %q", got, row.ask)
			}
			if reached := row.code == "unavailable" && row.path == "/api/v1/me"; len(g.origins) == 1 != reached {
				t.Errorf("reached the handler %d times, want it: %t", len(g.origins), reached)
			}
		})
	}
	t.Run("CrossOriginChange", func(t *testing.T) {
		g.reset(t)
		session(g)
		wantProblem(t, g.send("POST", "/api/v1/posts", "Cookie", cookie, "Sec-Fetch-Site", "cross-site"), 403,
			"cross_origin")
	})
}

// The audit log gets the user and the request.
func TestAuthenticate_NamesTheOrigin(t *testing.T) {
	t.Parallel()
	g := newGateway(t, nil)
	w := g.send("GET", "/api/v1/me", "Authorization", goodToken)
	g.session = &login.Session{ID: uuid.New(), UserID: uuid.New(), Role: workspace.Owner}
	g.send("GET", "/api/v1/me", "Cookie", cookie)
	if len(g.origins) != 2 {
		t.Fatalf("%d requests were let through, want 2", len(g.origins))
	}
	byToken, bySession := g.origins[0], g.origins[1]
	if byToken.Actor != audit.User || byToken.UserID != g.who.UserID || byToken.TokenID != g.who.TokenID ||
		byToken.SessionID != uuid.Nil {
		t.Errorf("got %+v, want the token's user", byToken)
	}
	if got, want := byToken.RequestID.String(), w.Header().Get("X-Request-ID"); got != want {
		t.Errorf("got the request id %s, want %s", got, want)
	}
	if bySession.UserID != g.session.UserID || bySession.SessionID != g.session.ID || bySession.TokenID != uuid.Nil {
		t.Errorf("got %+v, want the session's user", bySession)
	}
}

// Requests without a valid token are paced by address. Health checks, short links and
// valid tokens from the same address are not.
func TestAuthenticate_PacesStrangers(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		path, token string
		paced       bool
	}{
		"NoToken":      {"/api/v1/posts", "", true},
		"BadToken":     {"/api/v1/posts", "Bearer bad", true},
		"Public":       {"/api/v1/feeds/" + uuid.NewString() + "/rss?token=x", "", true},
		"SessionsOnly": {"/api/v1/session", "Bearer bad", true},
		"Live":         {"/livez", "", false},
		"Ready":        {"/readyz", "", false},
		"Link":         {"/l/abcdef", "", false},
		"GoodToken":    {"/api/v1/me", goodToken, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, func(s *api.Server) { s.Limits.PerAddress = 1 })
				refused := 0
				for range 20 {
					if w := g.send("GET", row.path, "Authorization", row.token); w.Code == http.StatusTooManyRequests {
						refused++
					}
				}
				if (refused > 0) != row.paced {
					t.Errorf("%d of 20 were refused, want paced: %t", refused, row.paced)
				}
			})
		})
	}
	t.Run("OneToken", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, func(s *api.Server) { s.Limits.PerToken = 1 })
			last := (*httptest.ResponseRecorder)(nil)
			for range 20 {
				last = g.send("GET", "/api/v1/me", "Authorization", goodToken)
			}
			wantProblem(t, last, http.StatusTooManyRequests, "rate_limited")
			if len(g.origins) == 20 || len(g.origins) == 0 {
				t.Errorf("%d of 20 requests were carried out", len(g.origins))
			}
		})
	})
}

// A stream ends with a reason when its client loses access.
func TestAuthenticate_StreamsAreAuthorizedAgain(t *testing.T) {
	t.Parallel()
	g := newGateway(t, nil)
	for name, row := range map[string]struct {
		session bool
		change  func(g *gateway)
		code    string // of the last event; empty: it ends without one
		ends    bool
	}{
		"Unchanged":    {false, func(*gateway) {}, "", false},
		"TokenRevoked": {false, func(g *gateway) { g.status = workspace.TokenRevoked }, "token_revoked", true},
		"ScopeLost": {
			false, func(g *gateway) { g.who.Scopes = []workspace.Scope{workspace.MediaRead} },
			"scope_insufficient", true,
		},
		"Unchecked":        {false, func(g *gateway) { g.err = errDown }, "", true},
		"SessionUnchanged": {true, func(*gateway) {}, "", false},
		"SessionEnded":     {true, func(g *gateway) { g.session = nil }, "session_ended", true},
		"WorkspaceSwitched": {
			true, func(g *gateway) { g.session.WorkspaceID = uuid.New() }, "workspace_switched",
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g.reset(t)
				header := []string{"Authorization", goodToken}
				if row.session {
					header = []string{"Cookie", cookie}
					g.session = &login.Session{ID: uuid.New(), WorkspaceID: uuid.New(), Role: workspace.Owner}
				}
				ctx, cancel := context.WithCancel(t.Context())
				w := httptest.NewRecorder()
				done := false
				go func() {
					g.handler.ServeHTTP(w, g.request("GET", "/api/v1/events", header...).WithContext(ctx))
					done = true
				}()
				time.Sleep(20 * time.Second)
				if done {
					t.Fatalf("ended with %d %s", w.Code, w.Body)
				}
				g.change(func() { row.change(g) })
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if done != row.ends {
					t.Errorf("ended: %t, want %t", done, row.ends)
				}
				cancel()
				synctest.Wait()
				body := w.Body.String()
				if strings.Contains(body, `"code"`) != (row.code != "") || !strings.Contains(body, row.code) {
					t.Errorf("got %q, want the code %q", body, row.code)
				}
			})
		})
	}
}
