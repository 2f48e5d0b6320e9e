package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/api"
	"dateline/internal/identity/workspace"
)

// openStream opens a stream with some headers and returns the data of the event that
// closes it, or "" when it ends without one.
func (s *server) openStream(path string, headers ...string) <-chan string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	s.Must(err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	got, err := s.client.Do(r)
	s.Must(err)
	if got.StatusCode != http.StatusOK {
		s.t.Fatalf("GET %s: got %s, want a stream", path, got.Status)
	}
	closed := make(chan string, 1)
	go func() {
		defer func() { _ = got.Body.Close() }()
		last, why := "", ""
		for lines := bufio.NewScanner(got.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && last == "event: closed" {
				why = data
			}
			last = lines.Text()
		}
		closed <- why
	}()
	return closed
}

func (s *server) wantClosed(name string, closed <-chan string, within time.Duration, code string) {
	s.t.Helper()
	select {
	case data := <-closed:
		var why struct{ Code, Message string }
		if err := json.Unmarshal([]byte(data), &why); err != nil || why.Code != code || why.Message == "" {
			s.t.Errorf("%s: the stream ended with %q, want an event closed with the code %s", name, data, code)
		}
	case <-time.After(within):
		s.t.Errorf("%s: the stream is still open after %s, want it closed with %s", name, within, code)
	}
}

// Only notices can close the streams in time here: the next poll is later than the
// test's timeout.
func TestStreams_CloseWhenAccessExpires(t *testing.T) {
	t.Parallel()
	s := start(t, func(a *api.Server) { a.Limits.StreamCheck = time.Hour })
	s.Connect("desk")
	p := s.Schedule()
	site := "/api/v1/sites/" + s.Workspace.ID.String() + "/live"
	paths := []string{allEvents, "/api/v1/posts/" + p.ID.String() + "/events", site}
	const soon = 4 * time.Second
	for _, path := range paths {
		revoked, removed := s.Join(s.Workspace, workspace.Viewer), s.Join(s.Workspace, workspace.Viewer)
		token, active := s.TokenOf(revoked), s.TokenOf(revoked)
		first, second := s.openStream(path, as(token)...), s.openStream(path, as(active)...)
		third := s.openStream(path, as(s.TokenOf(removed))...)
		fourth := s.openStream(path, s.browserOf(removed.UserID)...)
		time.Sleep(200 * time.Millisecond) // until the process subscribes
		who, _, err := s.Store.Identity.Workspaces.Bearer(t.Context(), workspace.HashToken(token))
		s.Must(err)
		s.send("DELETE", "/api/v1/tokens/"+who.TokenID.String(), nil)
		s.wantClosed("revoked token at "+path, first, soon, "token_revoked")
		s.send("DELETE", "/api/v1/members/"+removed.UserID.String(), nil)
		s.wantClosed("removed member's token at "+path, third, soon, "token_revoked")
		s.wantClosed("removed member's session at "+path, fourth, soon, "session_ended")
		select {
		case why := <-second:
			t.Errorf("%s: another token's stream ended, too: %q", path, why)
		default:
		}
	}
	browser := s.browserOf(s.Join(s.Workspace, workspace.Viewer).UserID)
	other := s.openStream(allEvents, browser...)
	time.Sleep(200 * time.Millisecond)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/logout", nil)
	s.Must(err)
	r.Header.Set("Cookie", browser[3])
	answer, err := http.DefaultTransport.RoundTrip(r) // it responds with a page
	s.Must(err)
	s.Must(answer.Body.Close())
	if answer.StatusCode >= 400 {
		t.Fatalf("POST /logout: got %s", answer.Status)
	}
	s.wantClosed("logout", other, soon, "session_ended")
}

// Changes without a notice are found by polling.
func TestStreams_AreCheckedWithoutNotices(t *testing.T) {
	t.Parallel()
	s := start(t, func(a *api.Server) { a.Limits.StreamCheck = 50 * time.Millisecond })
	token := func() string { return s.Member(workspace.Viewer) }
	revoked, expired, narrowed, deleted := token(), token(), token(), token()
	for name, c := range map[string]struct{ token, change, code string }{
		"revoked": {revoked, "update api_tokens set revoked_at = now() where hash = $1", "token_revoked"},
		"expired": {
			expired, "update api_tokens set expires_at = now() - interval '1 second' where hash = $1",
			"token_expired",
		},
		"narrowed": {narrowed, "update api_tokens set scopes = '{media:read}' where hash = $1", "scope_insufficient"},
		"deleted":  {deleted, "delete from api_tokens where hash = $1", "token_invalid"},
	} {
		closed := s.openStream(allEvents, as(c.token)...)
		time.Sleep(300 * time.Millisecond)
		select {
		case why := <-closed:
			t.Fatalf("%s: the stream ended before anything changed: %q", name, why)
		default:
		}
		s.Exec(c.change, workspace.HashToken(c.token))
		s.wantClosed(name, closed, 4*time.Second, c.code)
	}
}

// refusesStream checks that a stream is refused before it opens.
func (s *server) refusesStream(status int, code, token string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+allEvents, nil)
	s.Must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	got, err := s.client.Do(r)
	s.Must(err)
	defer func() { _ = got.Body.Close() }()
	if got.StatusCode != status || got.Header.Get("Retry-After") == "" {
		s.t.Fatalf("one stream too many: got %s, Retry-After %q, want %d with Retry-After", got.Status,
			got.Header.Get("Retry-After"), status)
	}
	raw, err := io.ReadAll(got.Body)
	s.Must(err)
	s.refused(answer{got, raw}, status, code)
}

func TestStreams_AreLimitedPerTokenAndProcess(t *testing.T) {
	t.Parallel()
	s := start(t, func(a *api.Server) { a.Limits.StreamsPerCaller, a.Limits.Streams = 2, 3 })
	other := s.Member(workspace.Viewer)
	s.openStream(allEvents, as(s.Token)...)
	s.openStream(allEvents, as(s.Token)...)
	s.refusesStream(429, "too_many_streams", s.Token)
	first := s.openStream(allEvents, as(other)...)
	s.refusesStream(503, "overloaded", s.Member(workspace.Viewer))
	who, _, err := s.Store.Identity.Workspaces.Bearer(t.Context(), workspace.HashToken(other))
	s.Must(err)
	s.send("DELETE", "/api/v1/tokens/"+who.TokenID.String(), nil)
	s.wantClosed("the third", first, 12*time.Second, "token_revoked")
	s.openStream(allEvents, as(s.Member(workspace.Viewer))...) // a slot is free again
}
