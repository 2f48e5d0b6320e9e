package api_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dateline/api"
	"dateline/api/spec"
	"dateline/internal/infra/dbclock"
	"dateline/internal/testing/storetest"
)

func TestReady_ChecksEveryEngine(t *testing.T) {
	t.Parallel()
	s := start(t)
	look := func(status int, want map[string]string) {
		t.Helper()
		var r spec.Readiness
		s.decode(s.send("GET", "/readyz", nil, "Authorization", ""), status, &r)
		if r.Ready != (status == 200) || !maps.Equal(r.Checks, want) {
			t.Errorf("got %+v, want %v", r, want)
		}
	}
	const away = "does not answer"
	want := map[string]string{"database": "ok", "redis": "ok", "objects": "ok", "temporal": "ok"}
	look(200, want)
	s.temporal.fail(errors.New("dial tcp 10.0.0.7:7233: connection refused"))
	want["temporal"] = away
	look(503, want)
	s.temporal.fail(nil)
	want["temporal"] = "ok"
	look(200, want)
	s.StopRedis()
	s.StopObjects()
	s.Store.Close()
	want["redis"], want["objects"], want["database"] = away, away, away
	look(503, want)
	if a := s.send("GET", "/livez", nil, "Authorization", ""); a.StatusCode != http.StatusOK || string(a.body) != "ok" {
		t.Errorf("livez: got %s %s", a.Status, a.body)
	}
}

// The health endpoints of workers and of the API report the offset between the host's
// clock and the database's. They are not ready when it exceeds the limit.
func TestReady_ReportsTheClock(t *testing.T) {
	t.Parallel()
	var ahead time.Duration
	c := dbclock.New(dbclock.Options{
		Database: storetest.Open(t).Time, Log: slog.New(slog.DiscardHandler),
		Host: func() time.Time { return time.Now().Add(ahead) },
	})
	s := &api.Server{Installation: api.Installation{SystemHandler: api.SystemHandler{
		Checks: map[string]api.Check{"clock": c.Check}, Clock: c, Log: slog.New(slog.DiscardHandler),
	}}}
	health := s.HealthHandler()
	ready := func(status int) (r spec.Readiness) {
		t.Helper()
		w := httptest.NewRecorder()
		health.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != status {
			t.Fatalf("%d %s, want %d", w.Code, w.Body, status)
		}
		return r
	}
	if r := ready(200); r.Clock != nil {
		t.Errorf("before it was measured: %+v", r.Clock)
	}
	for _, want := range []time.Duration{0, 1500 * time.Millisecond, 11 * time.Second, -11 * time.Second, time.Second} {
		ahead = want
		if err := c.Measure(t.Context()); err != nil {
			t.Fatal(err)
		}
		status, message := 200, "ok"
		if want.Abs() > 10*time.Second {
			status, message = 503, "Synchronize both hosts with NTP"
		}
		r := ready(status)
		if !strings.Contains(r.Checks["clock"], message) || r.Ready != (status == 200) || r.Clock == nil ||
			r.Clock.UncertaintyMs < 2 {
			t.Fatalf("ahead by %s: %+v", want, r)
		}
		if wrong := r.Clock.OffsetMs - float64(want.Milliseconds()); wrong < -r.Clock.UncertaintyMs-5 ||
			wrong > r.Clock.UncertaintyMs+5 {
			t.Errorf("ahead by %s: %+v", want, r.Clock)
		}
	}
}
