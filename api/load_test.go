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

// wantWait checks the Retry-After header of a refusal.
func (s *server) wantWait(a answer) {
	s.t.Helper()
	if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || n < 1 || n > 60 {
		s.t.Errorf("%s: Retry-After is %q", a.Status, a.Header.Get("Retry-After"))
	}
}

// limited sends requests until one is refused, and checks that the limiter allowed its
// burst of 20 and the two requests per second that it gains while the requests last,
// however slow the machine is.
func (s *server) limited(status int, headers ...string) {
	s.t.Helper()
	started := time.Now()
	for sent := range 1000 {
		a := s.send("GET", "/api/v1/me", nil, headers...)
		if a.StatusCode == http.StatusTooManyRequests {
			s.refused(a, 429, "rate_limited")
			s.wantWait(a)
			if limit := 21 + 2*time.Since(started).Seconds(); sent < 20 || float64(sent) > limit {
				s.t.Errorf("refused after %d requests, expected 20 to %.0f", sent, limit)
			}
			return
		}
		if a.StatusCode != status {
			s.t.Fatalf("%s %s", a.Status, a.body)
		}
	}
	s.t.Fatal("1,000 requests were not rate limited")
}

// A rate-limited token does not affect others.
func TestRateLimit_PerToken(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *api.Server) { s.Limits.PerToken = 2 })
	s.limited(http.StatusOK)
	if a := s.send("GET", "/api/v1/me", nil, "Authorization",
		"Bearer "+s.Member(workspace.Viewer)); a.StatusCode != http.StatusOK {
		t.Errorf("another token: %s %s", a.Status, a.body)
	}
	if a := s.send("GET", "/livez", nil); a.StatusCode != http.StatusOK {
		t.Errorf("livez: %s", a.Status)
	}
}

// Requests without a valid token are limited by address; a valid token from the same
// address is not.
func TestRateLimit_PerAddress(t *testing.T) {
	t.Parallel()
	for name, token := range map[string]string{"none": "", "unknown": "Bearer dl_wrong"} {
		t.Run(name, func(t *testing.T) {
			s := start(t, func(s *api.Server) { s.Limits.PerAddress = 2 })
			s.limited(http.StatusUnauthorized, "Authorization", token)
			if a := s.send("GET", "/api/v1/me", nil); a.StatusCode != http.StatusOK {
				t.Errorf("a good token from there: %s %s", a.Status, a.body)
			}
		})
	}
}

// An overloaded process refuses requests with Retry-After. Liveness stays available.
func TestAdmission_RejectsUnderOverload(t *testing.T) {
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
	for deadline := time.Now().
		Add(30 * time.Second); s.Count("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and "+
		"datname = current_database()") < 2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the requests do not wait for the lock")
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
			t.Errorf("admitted request: got %s %s", a.Status, a.body)
		}
	}
	if a := s.send("GET", "/api/v1/me", nil); a.StatusCode != http.StatusOK {
		t.Errorf("after the overload: got %s %s", a.Status, a.body)
	}
}
