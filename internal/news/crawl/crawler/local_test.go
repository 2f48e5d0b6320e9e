package crawler_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"dateline/internal/testing/crawlrig"
)

// localSite is a site with chosen pages. Its domain is an address of this machine.
type localSite struct {
	domain, url string

	mu       sync.Mutex
	pages    map[string]http.HandlerFunc // by path
	requests []string
}

// newLocalFixture returns a crawler of two sites.
func newLocalFixture(t *testing.T) (f *fixture, first, second *localSite) {
	t.Helper()
	t.Parallel()
	first, second = newLocalSite(t, "127.0.0.2"), newLocalSite(t, "127.0.0.3")
	l := limits()
	l.RequestDelay, l.IPDelay = l.RequestDelay/10, 0
	f = newRigFixture(t, l, crawlrig.Options{
		AllowPrivate: []string{strings.TrimPrefix(first.url, "http://"), strings.TrimPrefix(second.url, "http://")},
	})
	return f, first, second
}

func newLocalSite(t *testing.T, address string) *localSite {
	t.Helper()
	s := &localSite{domain: address, pages: map[string]http.HandlerFunc{}}
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(s)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	s.url = "http://" + listener.Addr().String()
	return s
}

// ServeHTTP implements http.Handler.
func (s *localSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.URL.Path)
	page := s.pages[r.URL.Path]
	s.mu.Unlock()
	if page == nil {
		http.NotFound(w, r)
		return
	}
	page(w, r)
}

// serve adds a document.
func (s *localSite) serve(path, contentType, text string) {
	s.pages[path] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(strings.ReplaceAll(text, "SITE", s.url)))
	}
}

func (s *localSite) requested(path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.requests {
		if other == path {
			n++
		}
	}
	return n
}
