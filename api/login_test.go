package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/identity/login"
	"dateline/internal/identity/workspace"
)

// browser logs in as the owner and returns the header with the session's cookie.
func (s *server) browser() []string {
	s.t.Helper()
	return s.browserOf(s.Owner.UserID)
}

func (s *server) browserOf(user uuid.UUID) []string {
	s.t.Helper()
	link, err := login.NewLink(s.t.Context(), s.Store.Identity.Logins, s.url, user, time.Now())
	s.Must(err)
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, link, nil)
	s.Must(err)
	answer, err := http.DefaultTransport.RoundTrip(r)
	s.Must(err)
	_ = answer.Body.Close()
	cookies := answer.Cookies()
	if answer.StatusCode != http.StatusSeeOther || len(cookies) != 1 || cookies[0].Name != "__Host-dateline" {
		s.t.Fatalf("%s %v", answer.Status, cookies)
	}
	return []string{"Authorization", "", "Cookie", cookies[0].Name + "=" + cookies[0].Value}
}

func TestSession_HasTheAccessOfItsUser(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	as := s.browser()
	made := s.post(s.send("POST", "/api/v1/posts", hello(), as...), 201)
	s.post(s.send("GET", "/api/v1/posts/"+made.Id.String(), nil), 200) // also visible to the token's user
	s.post(s.send("PATCH", "/api/v1/posts/"+made.Id.String(), object{"content": "Better"}, as...), 200)
	s.refused(s.send("DELETE", "/api/v1/posts/"+made.Id.String(), nil, append(as, "Sec-Fetch-Site", "cross-site")...),
		403, "cross_origin")
	s.post(s.send("DELETE", "/api/v1/posts/"+made.Id.String(), nil, append(as, "Sec-Fetch-Site", "same-origin")...),
		200)
	if strings.Contains(s.log.String(), strings.TrimPrefix(as[3], "__Host-dateline=")) {
		t.Errorf("the log holds the cookie:\n%s", s.log)
	}
	s.Exec("update members set role = $1", string(workspace.Viewer)) // applies immediately
	s.refused(s.send("POST", "/api/v1/posts", hello(), as...), 403, "role_insufficient")
	s.Exec("delete from members")
	s.refused(s.send("GET", "/api/v1/posts", nil, as...), 401, "session_ended")
}

func TestSession_ResponsesMatchOpenAPI(t *testing.T) {
	t.Parallel()
	s := start(t)
	here, there := s.browser(), s.browser()
	var own spec.OwnSession
	s.decode(s.send("GET", "/api/v1/session", nil, here...), 200, &own)
	require.Equal(t, s.Owner.UserID, own.User.Id)
	require.Equal(t, s.Workspace.ID, own.Workspace.Id)
	require.Equal(t, "owner", own.Workspace.Role)
	require.Len(t, own.Workspaces, 1)
	require.Nil(t, own.User.Email)
	require.Equal(t, login.AbsoluteLimit, own.ExpiresAt.Sub(own.CreatedAt))
	s.decode(s.send("PATCH", "/api/v1/session", object{"workspace_id": s.Workspace.ID}, here...), 200, &own)
	for _, body := range []string{`{}`, `{"workspace_id":"x"}`, `{"workspace_id":null}`, `[]`} {
		s.refused(s.send("PATCH", "/api/v1/session", body, here...), 400, "invalid_request")
	}
	var list spec.SessionList
	s.decode(s.send("GET", "/api/v1/sessions", nil, here...), 200, &list)
	if len(list.Sessions) != 2 {
		t.Fatalf("%+v", list)
	}
	s.refused(s.send("DELETE", "/api/v1/sessions/"+uuid.NewString(), nil, here...), 404, "session_not_found")
	s.refused(s.send("DELETE", "/api/v1/sessions/x", nil, here...), 400, "invalid_request", "id")
	if a := s.send("DELETE", "/api/v1/sessions", nil, here...); a.StatusCode != http.StatusNoContent ||
		len(a.body) != 0 {
		t.Errorf("%s %s", a.Status, a.body)
	}
	s.refused(s.send("GET", "/api/v1/session", nil, there...), 401, "session_ended")
	s.refused(s.send("GET", "/api/v1/session", nil, "Authorization", ""), 401, "session_required")
	s.refused(s.send("GET", "/api/v1/session", nil), 403, "session_required")
}

func TestSession_CannotAccessOthers(t *testing.T) {
	t.Parallel()
	s := start(t)
	rivals, rival, _ := s.Found("Rivals")
	mine, theirs := s.browser(), s.browserOf(rival.UserID)
	var own spec.OwnSession
	s.decode(s.send("GET", "/api/v1/session", nil, mine...), 200, &own)
	s.refused(s.send("DELETE", "/api/v1/sessions/"+own.Id.String(), nil, theirs...), 404, "session_not_found")
	if a := s.send("PATCH", "/api/v1/session", object{"workspace_id": rivals.ID}, mine...); a.StatusCode < 400 {
		t.Errorf("in a workspace of others: got %s", a.body)
	}
	if a := s.send("DELETE", "/api/v1/sessions", nil, theirs...); a.StatusCode != http.StatusNoContent {
		t.Errorf("%s", a.Status)
	}
	s.decode(s.send("GET", "/api/v1/session", nil, mine...), 200, &own) // still logged in
}

// Visitors without a session are redirected to the login: the dashboard's first request
// would be refused.
func TestDashboard_LeadsToLoginWithoutASession(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/app", "/app/", "/app/posts/1"} {
		a := s.send("GET", path, nil, "Authorization", "")
		if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/login" {
			t.Errorf("%s: got %s to %q, want a redirect to /login", path, a.Status, a.Header.Get("Location"))
		}
		if a := s.send("GET", path, nil, s.browser()...); a.StatusCode != http.StatusOK {
			t.Errorf("%s with a session: got %s, want the dashboard", path, a.Status)
		}
	}
}
