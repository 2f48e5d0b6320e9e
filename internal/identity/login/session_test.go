package login_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/login"
)

func TestSession_ExpiresWhenIdle(t *testing.T) {
	s := open(t, nil)
	b := s.owner()
	for range 3 { // each use extends it by twelve hours
		s.advance(login.IdleLimit - time.Minute)
		if !b.loggedIn() {
			t.Fatal("ended early")
		}
	}
	s.advance(login.IdleLimit)
	if b.loggedIn() {
		t.Error("used again after twelve hours")
	}
	b.open("/api/v1/posts").want(http.StatusUnauthorized, "session_ended")
	b.open("/login").want(http.StatusOK, "Log in to Dateline")
	s.owner()
	if n := s.Count("select count(*) from sessions"); n != 1 {
		t.Errorf("%d sessions are stored, want the new one", n)
	}
}

func TestSession_ExpiresAfterThirtyDays(t *testing.T) {
	s := open(t, nil)
	b := s.owner()
	for range 60 {
		if !b.loggedIn() {
			t.Fatal("ended early")
		}
		s.advance(login.IdleLimit - time.Minute)
	}
	s.advance(2 * time.Hour)
	if b.loggedIn() {
		t.Error("logged in after thirty days")
	}
}

func TestSession_LastUsedUpdatesOncePerMinute(t *testing.T) {
	s := open(t, nil)
	b := s.owner()
	const untouched = "select count(*) from sessions where last_used_at = created_at"
	s.advance(50 * time.Second)
	if b.loggedIn(); s.Count(untouched) != 1 {
		t.Error("recorded within the minute")
	}
	s.advance(11 * time.Second)
	if b.loggedIn(); s.Count(untouched) != 0 {
		t.Error("not recorded after the minute")
	}
}

func TestSession_HasANewIDAfterLogin(t *testing.T) {
	s := open(t, nil)
	b := s.browser()
	const planted = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	b.setCookie("dateline", planted)
	b.open(s.link()).submit(0).want(http.StatusOK, "the dashboard")
	first := b.cookie("dateline")
	if first == planted || len(first) != 43 {
		t.Errorf("the session is %q", first)
	}
	b.open(s.link()).submit(0).want(http.StatusOK, "the dashboard")
	if second := b.cookie("dateline"); second == first || !b.loggedIn() {
		t.Error("the previous session's id is reused")
	}
	b.setCookie("dateline", first)
	if b.loggedIn() {
		t.Error("the previous session is still valid")
	}
	if n := s.Count("select count(*) from sessions s where s::text like '%' || $1 || '%'", first[7:]); n != 0 {
		t.Error("the cookie's value is stored in plain text")
	}
}

func TestSession_ListAndEnd(t *testing.T) {
	s := open(t, nil)
	s.invite("ann@news.example", "viewer")
	phone, desktop := s.owner(), s.owner()
	s.advance(time.Hour)
	var list struct {
		Sessions []struct {
			ID        string `json:"id"`
			Current   bool   `json:"current"`
			UserAgent string `json:"user_agent"`
		} `json:"sessions"`
	}
	s.Must(json.Unmarshal([]byte(desktop.open("/api/v1/sessions").body), &list))
	if len(list.Sessions) != 2 || !list.Sessions[0].Current || list.Sessions[1].Current ||
		list.Sessions[0].UserAgent != "Firefox on Linux" {
		t.Fatalf("%+v", list)
	}
	other := "/api/v1/sessions/" + list.Sessions[1].ID
	desktop.json(http.MethodDelete, other, "").want(http.StatusNoContent, "")
	if phone.loggedIn() || !desktop.loggedIn() {
		t.Errorf("phone %v, desktop %v", phone.loggedIn(), desktop.loggedIn())
	}
	desktop.json(http.MethodDelete, other, "").want(http.StatusNotFound, "session_not_found")

	stranger := s.as("ann@news.example") // cannot see or end it, viewers manage their own
	stranger.json(http.MethodDelete, "/api/v1/sessions/"+list.Sessions[0].ID, "").want(http.StatusNotFound,
		"session_not_found")
	if p := stranger.open("/api/v1/sessions"); strings.Contains(p.body, list.Sessions[0].ID) {
		t.Errorf("shown to another user: %s", p.body)
	}
	stranger.json(http.MethodDelete, "/api/v1/sessions", "").want(http.StatusNoContent, "")
	if stranger.loggedIn() || !desktop.loggedIn() {
		t.Errorf("stranger %v, desktop %v", stranger.loggedIn(), desktop.loggedIn())
	}
	desktop.json(http.MethodDelete, "/api/v1/sessions", "").want(http.StatusNoContent, "")
	if desktop.loggedIn() {
		t.Error("still logged in")
	}
}

func TestSession_SwitchesWorkspace(t *testing.T) {
	s := open(t, nil)
	second, _, _ := s.Found("Second")
	rival, _, _ := s.Found("Rival")
	s.Exec("insert into members (workspace_id, user_id, role) values ($1, $2, 'viewer')", second.ID, s.Owner.UserID)
	b, elsewhere := s.owner(), s.owner()
	b.open("/api/v1/session").want(http.StatusOK, `"workspace":{"id":"`+s.Workspace.ID.String())
	b.json(http.MethodPatch, "/api/v1/session", `{"workspace_id":"`+second.ID.String()+`"}`).want(http.StatusOK,
		`"workspace":{"id":"`+second.ID.String())
	b.open("/api/v1/session").want(http.StatusOK, `"name":"Second","role":"viewer"`)
	b.json(http.MethodPost, "/api/v1/posts", `{"content":"Hello","scheduled_time":"2099-01-01T00:00:00Z"}`).
		want(http.StatusForbidden, "role_insufficient")
	elsewhere.open("/api/v1/session").want(http.StatusOK, `"workspace":{"id":"`+s.Workspace.ID.String())
	b.json(http.MethodPatch, "/api/v1/session", `{"workspace_id":"`+rival.ID.String()+`"}`).want(http.StatusNotFound,
		"workspace_not_found")
	b.json(http.MethodPatch, "/api/v1/session", `{"workspace_id":"`+s.Workspace.ID.String()+`"}`).want(http.StatusOK,
		`"role":"owner"`)
	s.Exec("delete from members where user_id = $1 and workspace_id = $2", s.Owner.UserID, s.Workspace.ID)
	if b.loggedIn() {
		t.Error("the session outlived the membership")
	}
	s.owner().open("/api/v1/session").want(http.StatusOK, `"name":"Second"`)
}

// as returns a browser in which the user with that address is logged in.
func (s *site) as(email string) *browser {
	s.t.Helper()
	b := s.browser()
	link := s.link()
	s.Exec("update login_links set user_id = (select id from users where email = $1)", email)
	b.open(link).submit(0).want(http.StatusOK, "the dashboard")
	return b
}

func TestSession_NotForAPITokens(t *testing.T) {
	s := open(t, nil)
	b := s.browser()
	for _, path := range []string{"/api/v1/session", "/api/v1/sessions"} {
		b.json(http.MethodGet, path, "").want(http.StatusUnauthorized, "session_required")
		b.json(http.MethodGet, path, "", "Authorization", "Bearer "+s.Token).want(http.StatusForbidden,
			"session_required")
		b.json(http.MethodGet, path, "", "Authorization", "Bearer nonsense").want(http.StatusUnauthorized,
			"token_invalid")
	}
	// A token authenticates its own user, whatever cookie is sent with it.
	owner := s.owner()
	owner.json(http.MethodGet, "/api/v1/posts", "", "Authorization", "Bearer nonsense").want(http.StatusUnauthorized,
		"token_invalid")
	owner.setCookie("dateline", "nonsense")
	owner.json(http.MethodGet, "/api/v1/posts", "", "Authorization", "Bearer "+s.Token).want(http.StatusOK, "posts")
}
