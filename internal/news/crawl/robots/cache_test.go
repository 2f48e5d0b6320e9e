package robots

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// memory is a Store.
type memory struct {
	mu      sync.Mutex
	entries map[string]Entry
	err     error
}

func (m *memory) LoadRobots(_ context.Context, origin string) (Entry, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[origin]
	return e, ok, m.err
}

func (m *memory) SaveRobots(_ context.Context, origin string, e Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[origin] = e
	return m.err
}

// site responds with its fields.
type site struct {
	mu     sync.Mutex
	answer Response
	err    error
	asked  int
}

func (s *site) source(context.Context, string) (Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.answer, s.err
}

const origin = "https://example.org"

func body(text string) Response { return Response{Status: 200, Body: []byte(text)} }

// The meaning of each status (RFC 9309 §2.3.1).
func TestCache_Statuses(t *testing.T) {
	for _, c := range []struct {
		answer    Response
		allowed   bool
		reachable bool
		ttl       time.Duration
	}{
		{body("user-agent: *\ndisallow: /private"), true, true, 24 * time.Hour},
		{body("user-agent: *\ndisallow: /"), false, true, 24 * time.Hour},
		{body(""), true, true, 24 * time.Hour},
		{Response{Status: 204}, true, true, 24 * time.Hour},
		{Response{Status: 304}, true, true, 24 * time.Hour},
		{Response{Status: 401, Body: []byte("user-agent: *\ndisallow: /")}, true, true, 24 * time.Hour},
		{Response{Status: 403}, true, true, 24 * time.Hour},
		{Response{Status: 404}, true, true, 24 * time.Hour},
		{Response{Status: 410}, true, true, 24 * time.Hour},
		{Response{Status: 429}, false, false, 10 * time.Minute},
		{Response{Status: 429, RetryAfter: time.Hour}, false, false, time.Hour},
		{Response{Status: 429, RetryAfter: 100 * 24 * time.Hour}, false, false, 24 * time.Hour},
		{Response{Status: 500}, false, false, 10 * time.Minute},
		{Response{Status: 503, RetryAfter: 30 * time.Minute}, false, false, 30 * time.Minute},
		{Response{}, false, false, 10 * time.Minute},
	} {
		now := time.Now()
		s := &site{answer: c.answer}
		cache := NewCache(Options{Product: "dateline", Source: s.source, Now: func() time.Time { return now }})
		p, err := cache.Get(t.Context(), origin)
		if err != nil || p.Check("/article").Allowed != c.allowed || p.Reachable != c.reachable ||
			!p.ExpiresAt.Equal(now.Add(c.ttl)) {
			t.Errorf("%+v: allowed %v, %+v, %v", c.answer, p.Check("/article").Allowed, p, err)
		}
		now = now.Add(c.ttl - 1)
		_, _ = cache.Get(t.Context(), origin)
		if s.asked != 1 {
			t.Errorf("%+v: fetched again too early", c.answer)
		}
		now = now.Add(1)
		_, _ = cache.Get(t.Context(), origin)
		if s.asked != 2 {
			t.Errorf("%+v: not fetched again", c.answer)
		}
	}
}

// Cached rules stay valid while a site is unreachable; after 30 days, a site without
// cached rules counts as one without rules.
func TestCache_Unreachable(t *testing.T) {
	now := time.Now()
	s := &site{answer: body("user-agent: *\ndisallow: /private\nsitemap: /s.xml")}
	cache := NewCache(Options{
		Product: "dateline", Source: s.source, Now: func() time.Time { return now },
		Store: &memory{entries: map[string]Entry{}},
	})
	if p, err := cache.Get(t.Context(), origin); err != nil || !p.Check("/a").Allowed || p.Check("/private").Allowed {
		t.Fatalf("%+v %v", p, err)
	}
	s.answer = Response{Status: 500}
	for range 100 {
		now = now.Add(24 * time.Hour)
		{
			p, err := cache.Get(t.Context(), origin)
			require.NoError(t, err, "%+v %v", p, err)
			require.True(t, p.Check("/a").Allowed, "%+v %v", p, err)
			require.False(t, p.Check("/private").Allowed, "%+v %v", p, err)
			require.False(t, p.Reachable, "%+v %v", p, err)
			require.Len(t, p.Sitemaps, 1, "%+v %v", p, err)
		}
	}
	s.answer = body("")
	now = now.Add(24 * time.Hour)
	if p, err := cache.Get(t.Context(), origin); err != nil || !p.Check("/private").Allowed || !p.Reachable {
		t.Errorf("%+v %v", p, err)
	}

	s.answer = Response{}
	for day := range 32 {
		p, err := cache.Get(t.Context(), "https://silent.example")
		if err != nil || p.Check("/a").Allowed != (day >= 30) {
			t.Fatalf("day %d: allowed %v, %v", day, p.Check("/a").Allowed, err)
		}
		now = now.Add(24 * time.Hour)
	}
}

// Other processes, and later ones, do not fetch it again.
func TestCache_Store(t *testing.T) {
	s, store := &site{answer: body("user-agent: *\ndisallow: /a")}, &memory{entries: map[string]Entry{}}
	for range 3 {
		cache := NewCache(Options{Product: "dateline", Source: s.source, Store: store})
		if p, err := cache.Get(t.Context(), origin); err != nil || p.Check("/a").Allowed {
			t.Fatalf("%+v %v", p, err)
		}
	}
	if s.asked != 1 {
		t.Errorf("got %d requests", s.asked)
	}
	store.err = errors.New("down")
	if _, err := NewCache(Options{Source: s.source, Store: store}).Get(t.Context(), origin); err == nil {
		t.Error("a failing store is not reported")
	}
}

func TestCache_ErrorsAreNotCached(t *testing.T) {
	s := &site{err: errors.New("stopping")}
	cache := NewCache(Options{Product: "dateline", Source: s.source})
	if _, err := cache.Get(t.Context(), origin); err == nil {
		t.Error("no error")
	}
	s.err, s.answer = nil, body("")
	if p, err := cache.Get(t.Context(), origin); err != nil || !p.Check("/").Allowed {
		t.Errorf("%+v %v", p, err)
	}
	cache.Forget(origin)
	if _, err := cache.Get(t.Context(), origin); err != nil || s.asked != 3 {
		t.Errorf("%v after %d requests", err, s.asked)
	}
}

func TestCache_SharesRequests(t *testing.T) {
	unblock := make(chan struct{})
	asked := 0
	cache := NewCache(Options{Product: "dateline", Source: func(context.Context, string) (Response, error) {
		asked++
		<-unblock
		return body(""), nil
	}})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := cache.Get(t.Context(), origin); err != nil {
				t.Error(err)
			}
		})
	}
	close(unblock)
	all.Wait()
	if asked != 1 {
		t.Errorf("got %d requests", asked)
	}
}

func TestCache_Capacity(t *testing.T) {
	s := &site{answer: body("")}
	cache := NewCache(Options{Source: s.source, Capacity: 10})
	for i := range 100 {
		if _, err := cache.Get(t.Context(), origin+string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
	}
	if len(cache.policies) > 10 {
		t.Errorf("%d are cached", len(cache.policies))
	}
}
