package api_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/shortlink"
	"dateline/internal/identity/workspace"
	"dateline/internal/storage/postgres/audience"
	"dateline/internal/testing/enginetest"
)

// fakeViewsStore is the store with the site of the links as the workspace's only site.
type fakeViewsStore struct{ *audience.ViewStore }

func (fakeViewsStore) CountedSites(_ context.Context, workspace uuid.UUID) ([]uuid.UUID, error) {
	return []uuid.UUID{workspace}, nil
}

// flush moves counts to the database.
func (s *server) flush() {
	s.t.Helper()
	k := &flush.Flusher{
		Counter: counter.New(enginetest.RedisClient(s.t, s.RedisURL), counter.Options{}),
		Store:   s.Store.Audience.Views, Log: slog.New(slog.DiscardHandler),
	}
	done, err := k.Flush(s.t.Context(), func() {})
	if s.Must(err); done.Busy {
		s.t.Error("flush: got busy")
	}
}

func TestViewsHealth_ReportsState(t *testing.T) {
	t.Parallel()
	s := start(t)
	l := s.link(object{"url": "https://news.example/a"})
	s.click("GET", l.Code, "a")
	var h spec.ViewsHealth
	s.decode(s.send("GET", "/api/v1/views/health", nil), 200, &h)
	if h.Flush.LastAt != nil || h.Check != nil || h.Loss != nil {
		t.Errorf("%+v", h)
	}
	s.flush()
	s.Must(enginetest.RedisClient(t, s.RedisURL).FlushAll(t.Context()).Err())
	s.flush()
	page := shortlink.PageName(l.Code)
	s.Must(s.Store.Audience.Views.RecordViewCheck(t.Context(), flush.Check{
		StartedAt: time.Now(), Compared: 3, Differing: 2,
		Missing: 4,
		Examples: []flush.Difference{
			{Site: s.Workspace.ID, Page: page, Kind: counter.Click, Shown: 1, Stored: 2},
			{Site: uuid.New(), Page: "another workspace's"},
		},
	}))
	a := s.send("GET", "/api/v1/views/health", nil)
	s.decode(a, 200, &h)
	if h.Flush.LastAt == nil || h.Flush.CountsLastHour != 1 {
		t.Errorf("flush: got %+v, want one count within the last hour", h.Flush)
	}
	if h.Loss == nil || h.Loss.Pages != 1 {
		t.Errorf("loss: got %+v, want one page", h.Loss)
	}
	if h.Check == nil || h.Check.Agrees || h.Check.Missing != 4 {
		t.Fatalf("check: got %+v, want 4 missing hits", h.Check)
	}
	if len(h.Check.Examples) != 1 || h.Check.Examples[0].Page != page || strings.Contains(string(a.body), "another") {
		t.Errorf("examples: got %s, want %s only", a.body, page)
	}
}

func TestEraseViews_ErasesSite(t *testing.T) {
	t.Parallel()
	s := start(t)
	l := s.link(object{"url": "https://news.example/a"})
	s.click("GET", l.Code, "a")
	s.flush()
	s.refused(s.send("POST", "/api/v1/views/erasures", object{"site_id": uuid.New()}), 404, "site_not_found")
	var e spec.ViewErasure
	s.decode(s.send("POST", "/api/v1/views/erasures", object{"site_id": s.Workspace.ID}), 202, &e)
	if e.Done || e.SingleVisitor {
		t.Errorf("%+v", e)
	}
	s.flush()
	s.decode(s.send("GET", "/api/v1/views/erasures/"+e.Id.String(), nil), 200, &e)
	var read spec.Link
	s.decode(s.send("GET", linksPath+"/"+l.Code, nil), 200, &read)
	if !e.Done || *e.Removed == 0 || read.Clicks != 0 {
		t.Errorf("%+v %+v", e, read)
	}
	_, _, elsewhere := s.Found("Elsewhere")
	s.refused(s.send("GET", "/api/v1/views/erasures/"+e.Id.String(), nil, "Authorization", "Bearer "+elsewhere), 404,
		"erasure_not_found")
	s.refused(s.send("POST", "/api/v1/views/erasures", object{"site_id": s.Workspace.ID}, "Authorization",
		"Bearer "+s.Member(workspace.Editor)), 403, "role_insufficient")
}
