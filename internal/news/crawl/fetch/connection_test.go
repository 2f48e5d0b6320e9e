package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/testing/crawltest"
)

func TestFetch_HTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		html(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	o := options()
	o.AllowPrivate = []string{s.Listener.Addr().String()}
	f := newFetcher(t, o)
	trusting, _ := s.Client().Transport.(*http.Transport)
	f.direct.TLSClientConfig.RootCAs = trusting.TLSClientConfig.RootCAs
	for range 2 {
		if r := fetch(t, f, Request{URL: s.URL}); string(r.Body) != "HTTP/2.0" || r.Protocol != "HTTP/2.0" ||
			r.RemoteIP != netip.MustParseAddr("127.0.0.1") {
			t.Errorf("%+v", r)
		}
	}
}

func TestFetch_Proxy(t *testing.T) {
	w, err := crawltest.New(crawltest.Options{Sites: 2, Proxied: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	o := options()
	o.Proxy = w.ProxyURL()
	f := newFetcher(t, o)
	article := w.Site(1).Articles()[0]
	if r := fetch(t, f, Request{URL: article.URL}); r.Outcome != OK || r.RemoteIP.IsValid() {
		t.Errorf("%s (%s) from %s", r.Outcome, r.Reason, r.RemoteIP)
	}
	// A site may have a proxy of its own.
	direct := newFetcher(t, options())
	if r := fetch(t, direct, Request{URL: article.URL, Proxy: w.ProxyURL()}); r.Outcome != OK {
		t.Errorf("%s (%s)", r.Outcome, r.Reason)
	}
	for _, wrong := range []string{"proxy:3128", "ftp://proxy:21", "http://"} {
		o.Proxy = wrong
		if _, err := New(o); err == nil {
			t.Errorf("the proxy %q was accepted", wrong)
		}
	}
}

// counting counts queries and blocks them until unblock is closed.
type counting struct {
	asked   atomic.Int32
	unblock chan struct{}
	err     error
	ttl     time.Duration
}

func (c *counting) Lookup(context.Context, string) ([]netip.Addr, time.Duration, error) {
	c.asked.Add(1)
	if c.unblock != nil {
		<-c.unblock
	}
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, c.ttl, c.err
}

func TestDNSCache_TTL(t *testing.T) {
	missing := &net.DNSError{Err: "no such host", IsNotFound: true}
	for _, c := range []struct {
		name      string
		ttl       time.Duration
		err       error
		cachedFor time.Duration
	}{
		{"unknown lifetime", 0, nil, 5 * time.Minute},
		{"believed", 2 * time.Minute, nil, 2 * time.Minute},
		{"too short", time.Second, nil, 10 * time.Second},
		{"too long", 24 * time.Hour, nil, 10 * time.Minute},
		{"does not exist", 0, missing, time.Minute},
		{"no answer", 0, errors.New("server failure"), 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Now()
			resolver := &counting{ttl: c.ttl, err: c.err}
			names := newDNSCache(resolver, func() time.Time { return now })
			for _, step := range []struct {
				after time.Duration
				asked int32
			}{{0, 1}, {c.cachedFor - 1, 1}, {1, 2}, {c.cachedFor - 1, 2}} {
				now = now.Add(step.after)
				if _, err := names.lookup(t.Context(), "example.org"); (err == nil) != (c.err == nil) {
					t.Fatal(err)
				}
				if asked := resolver.asked.Load(); asked != step.asked {
					t.Errorf("after %s: got %d queries, want %d", step.after, asked, step.asked)
				}
			}
		})
	}
}

// Concurrent lookups of a name share one query, and a canceled caller does not
// cancel it for the others.
func TestDNSCache_SharesLookups(t *testing.T) {
	resolver := &counting{unblock: make(chan struct{})}
	names := newDNSCache(resolver, time.Now)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := names.lookup(canceled, "example.org"); !errors.Is(err, context.Canceled) {
		t.Errorf("the canceled lookup returned %v", err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := names.lookup(t.Context(), "example.org"); err != nil {
				t.Error(err)
			}
		})
	}
	close(resolver.unblock)
	all.Wait()
	if asked := resolver.asked.Load(); asked != 1 {
		t.Errorf("%d questions", asked)
	}
}

func TestDNSCache_Size(t *testing.T) {
	names := newDNSCache(&counting{}, time.Now)
	for i := range maxCachedNames {
		names.names[string(rune(i))+"x"] = dnsEntry{expires: time.Now().Add(time.Hour)}
	}
	if _, err := names.lookup(t.Context(), "example.org"); err != nil || len(names.names) > maxCachedNames {
		t.Errorf("%d names, %v", len(names.names), err)
	}
}

func TestFetchRobots_Outcomes(t *testing.T) {
	w, err := crawltest.New(crawltest.Options{CrawlDelay: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	f, s := forWorld(t, w, Limits{}), w.Site(0)
	answer, err := f.FetchRobots(t.Context(), s.URL(""))
	if err != nil || answer.Status != 200 || len(answer.Body) == 0 {
		t.Errorf("%+v %v", answer, err)
	}
	for _, status := range []int{404, 403, 429, 500, 503} {
		s.Fail(status)
		if answer, err := f.FetchRobots(t.Context(), s.URL("")); err != nil || answer.Status != status {
			t.Errorf("%d: %+v %v", status, answer, err)
		}
	}
	s.Throttle(503, time.Minute)
	if answer, err := f.FetchRobots(t.Context(), s.URL("")); err != nil || answer.Status != 503 ||
		answer.RetryAfter != time.Minute {
		t.Errorf("%+v %v", answer, err)
	}
	if answer, err := f.FetchRobots(t.Context(), "http://127.0.0.1:9"); err != nil || answer.Status != 0 {
		t.Errorf("a private address: %+v %v", answer, err)
	}
}
