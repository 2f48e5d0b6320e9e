package api_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/api"
	"dateline/internal/identity/workspace"
)

// wantWait checks that a refusal says when to come back.
func (s *server) wantWait(a answer) {
	s.t.Helper()
	if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || n < 1 || n > 60 {
		s.t.Errorf("%s: Retry-After is %q", a.Status, a.Header.Get("Retry-After"))
	}
}

// refusedAfter sends one request again and again until it is refused for their
// number.
func (s *server) refusedAfter(status int, headers ...string) (sent int) {
	s.t.Helper()
	for sent = range 100 {
		a := s.send("GET", "/api/v1/me", nil, headers...)
		if a.StatusCode == http.StatusTooManyRequests {
			s.refused(a, 429, "rate_limited")
			s.wantWait(a)
			return sent
		}
		if a.StatusCode != status {
			s.t.Fatalf("%s %s", a.Status, a.body)
		}
	}
	return sent
}

// One token may send so many requests; another one is none the worse for it.
func TestATokenIsPaced(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *api.Server) { s.Limits.PerToken = 2 })
	if n := s.refusedAfter(http.StatusOK); n < 20 || n > 30 {
		t.Errorf("refused after %d", n)
	}
	if a := s.send("GET", "/api/v1/me", nil, "Authorization", "Bearer "+s.Member(workspace.Viewer)); a.StatusCode != http.StatusOK {
		t.Errorf("another token: %s %s", a.Status, a.body)
	}
	if a := s.send("GET", "/livez", nil); a.StatusCode != http.StatusOK {
		t.Errorf("livez: %s", a.Status)
	}
}

// Who has no good token may try so many times from one address; who has one is
// let in from there all the same.
func TestAnAddressWithoutATokenIsPaced(t *testing.T) {
	t.Parallel()
	for name, token := range map[string]string{"none": "", "unknown": "Bearer dl_wrong"} {
		t.Run(name, func(t *testing.T) {
			s := start(t, func(s *api.Server) { s.Limits.PerAddress = 2 })
			if n := s.refusedAfter(http.StatusUnauthorized, "Authorization", token); n < 20 || n > 30 {
				t.Errorf("refused after %d", n)
			}
			if a := s.send("GET", "/api/v1/me", nil); a.StatusCode != http.StatusOK {
				t.Errorf("a good token from there: %s %s", a.Status, a.body)
			}
		})
	}
}

// A process that is busy with as much as it takes upon itself says so, and when
// to come back; whether it lives is answered always.
func TestWhatFindsNoRoomIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *api.Server) { s.Limits.AtOnce = 2 })
	other, err := pgx.Connect(t.Context(), s.DatabaseURL)
	s.Must(err)
	defer func() { _ = other.Close(t.Context()) }()
	_, err = other.Exec(t.Context(), "begin; lock table api_tokens in access exclusive mode")
	s.Must(err)
	held := make(chan answer, 2)
	for range cap(held) {
		go func() { held <- s.send("GET", "/api/v1/me", nil) }()
	}
	for deadline := time.Now().Add(30 * time.Second); s.Count("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()") < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the requests do not wait")
		}
	}
	a := s.send("GET", "/api/v1/me", nil)
	s.refused(a, 503, "overloaded")
	s.wantWait(a)
	if a := s.send("GET", "/livez", nil); a.StatusCode != http.StatusOK {
		t.Errorf("livez: %s", a.Status)
	}
	_, err = other.Exec(t.Context(), "rollback")
	s.Must(err)
	for range cap(held) {
		if a := <-held; a.StatusCode != http.StatusOK {
			t.Errorf("what was begun: %s %s", a.Status, a.body)
		}
	}
	if a := s.send("GET", "/api/v1/me", nil); a.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %s %s", a.Status, a.body)
	}
}
