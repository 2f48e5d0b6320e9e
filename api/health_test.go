package api_test

import (
	"errors"
	"maps"
	"net/http"
	"testing"

	"dateline/api/spec"
)

func TestReadyMeansThatEveryEngineAnswers(t *testing.T) {
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
		t.Errorf("the process does not live: %s %s", a.Status, a.body)
	}
}
