package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/testing/crawltest"
)

func options() Options {
	return Options{Product: "Dateline", Version: "1.2", Contact: "https://example.org/crawler"}
}

func newFetcher(t *testing.T, o Options) *Fetcher {
	t.Helper()
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// serve starts a server and a fetcher that may reach it.
func serve(t *testing.T, limits Limits, handler http.HandlerFunc) (*Fetcher, string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	o := options()
	o.AllowPrivate, o.Limits = []string{s.Listener.Addr().String()}, limits
	return newFetcher(t, o), s.URL
}

func fetch(t *testing.T, f *Fetcher, r Request) *Result {
	t.Helper()
	result, err := f.Fetch(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func html(w http.ResponseWriter, page string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(page))
}

func TestFetch_StatusOutcomes(t *testing.T) {
	f, site := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		status := 0
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		if r.URL.Query().Has("pause") {
			w.Header().Set("Retry-After", "120")
		}
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
	})
	for _, c := range []struct {
		path string
		want Outcome
		wait time.Duration
	}{
		{"/200", OK, 0},
		{"/203", OK, 0},
		{"/204", ClientError, 0},
		{"/206", ClientError, 0},
		{"/300", ClientError, 0},
		{"/301", ClientError, 0}, // it leads nowhere
		{"/304", ClientError, 0}, // unexpected
		{"/400", ClientError, 0},
		{"/401", ClientError, 0},
		{"/403", ClientError, 0},
		{"/404", NotFound, 0},
		{"/408", ServerError, 0},
		{"/410", NotFound, 0},
		{"/418", ClientError, 0},
		{"/429", Throttled, 0},
		{"/429?pause", Throttled, 2 * time.Minute},
		{"/451", NotFound, 0},
		{"/500", ServerError, 0},
		{"/503", ServerError, 0},
		{"/503?pause", Throttled, 2 * time.Minute},
		{"/520", ServerError, 0},
	} {
		r := fetch(t, f, Request{URL: site + c.path})
		if r.Outcome != c.want || r.RetryAfter != c.wait || r.Requests != 1 || (r.Reason == "") != (r.Outcome == OK) {
			t.Errorf("%s: %s (%s), wait %s, %d requests", c.path, r.Outcome, r.Reason, r.RetryAfter, r.Requests)
		}
	}
}

func TestFetch_RequestHeaders(t *testing.T) {
	f, site := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		html(w, r.UserAgent()+"|"+r.Header.Get("If-None-Match")+"|"+r.Header.Get("Cookie")+"|"+r.Referer())
	})
	r := fetch(t, f, Request{URL: site, ETag: `"abc"`})
	if want := `Mozilla/5.0 (compatible; Dateline/1.2; +https://example.org/crawler)|"abc"||`; string(r.Body) != want {
		t.Errorf("sent %s", r.Body)
	}
	if r.RemoteIP != netip.MustParseAddr("127.0.0.1") || r.Protocol != "HTTP/1.1" || r.ContentType != "text/html" {
		t.Errorf("got %v %v %v", r.RemoteIP, r.Protocol, r.ContentType)
	}
	for _, o := range []Options{
		{Product: "Dateline"},
		{Product: "Date line", Contact: "https://example.org"},
		{Product: "D", Contact: "nobody"},
		{Product: "D", Contact: "mailto:a@example.org\r\nX: y"},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestFetch_ConditionalRequests(t *testing.T) {
	w, err := crawltest.New(crawltest.Options{Sites: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	f := forWorld(t, w, Limits{})
	article := w.Site(0).Articles()[0]
	first := fetch(t, f, Request{URL: article.URL})
	if first.Outcome != OK || first.ETag == "" || first.LastModified == "" ||
		!strings.Contains(string(first.Text), article.Title) {
		t.Fatalf("%+v", first)
	}
	again := fetch(t, f, Request{URL: article.URL, ETag: first.ETag, LastModified: first.LastModified})
	if again.Outcome != NotModified || again.ETag != first.ETag || again.LastModified != first.LastModified ||
		again.Body != nil {
		t.Errorf("%+v", again)
	}
	w.Site(0).Edit(article.Number)
	if edited := fetch(t, f, Request{URL: article.URL, ETag: first.ETag}); edited.Outcome != OK ||
		edited.ETag == first.ETag {
		t.Errorf("%+v", edited)
	}
}

func forWorld(t *testing.T, w *crawltest.World, limits Limits) *Fetcher {
	o := options()
	o.AllowPrivate, o.Resolver, o.Limits = w.AllowPrivate(), w.Resolver(), limits
	return newFetcher(t, o)
}

func TestFetch_Redirects(t *testing.T) {
	f, site := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, "/b", http.StatusMovedPermanently)
		case "/b":
			w.Header().Set("Location", "../c?x=1&a=2#part")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "/c":
			html(w, r.URL.RawQuery)
		case "/self":
			http.Redirect(w, r, "/self", http.StatusFound)
		case "/cookie":
			if cookie, err := r.Cookie("seen"); err == nil && cookie.Value == "1" {
				html(w, "in")
				return
			}
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
			http.Redirect(w, r, "/cookie", http.StatusFound)
		case "/endless-cookie":
			http.SetCookie(w, &http.Cookie{Name: "n", Value: fmt.Sprint(time.Now().UnixNano())})
			http.Redirect(w, r, "/endless-cookie", http.StatusFound)
		case "/mail":
			w.Header().Set("Location", "mailto:a@example.org")
			w.WriteHeader(http.StatusFound)
		case "/rubbish":
			w.Header().Set("Location", "http://[::1")
			w.WriteHeader(http.StatusFound)
		}
	})
	r := fetch(t, f, Request{URL: site + "/a"})
	want := []Hop{{site + "/a", 301, site + "/b"}, {site + "/b", 307, site + "/c?x=1&a=2"}}
	require.Equal(t, OK, r.Outcome)
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(r.Hops))
	require.Equal(t, site+"/c?x=1&a=2", r.FinalURL)
	require.Equal(t, "x=1&a=2", string(r.Body))
	require.Equal(t, 3, r.Requests)
	require.True(t, r.Redirected())
	for path, want := range map[string]Outcome{
		"/self": Trap, "/cookie": OK, "/endless-cookie": Trap,
		"/mail": BlockedAddress, "/rubbish": Unreachable,
	} {
		if r := fetch(t, f, Request{URL: site + path}); r.Outcome != want || r.Requests > 3 {
			t.Errorf("%s: %s (%s) after %d requests", path, r.Outcome, r.Reason, r.Requests)
		}
	}
	// No state of one fetch is kept for the next.
	if r := fetch(t, f, Request{URL: site + "/cookie"}); len(r.Hops) != 1 {
		t.Error("a cookie outlived its fetch")
	}
}

// robots.txt applies to targets of redirects as well.
func TestFetch_AllowedStopsRedirect(t *testing.T) {
	asked := 0
	f, site := serve(t, Limits{}, func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/private", http.StatusFound)
	})
	r := fetch(t, f, Request{URL: site + "/", Allowed: func(_ context.Context, u string) (bool, string) {
		return !strings.HasSuffix(u, "/private"), "Disallow: /private"
	}})
	require.Equal(t, BlockedByRobots, r.Outcome)
	require.Equal(t, "Disallow: /private", r.Reason)
	require.Equal(t, site+"/private", r.FinalURL)
	require.Equal(t, 1, asked)
	require.Len(t, r.Hops, 1)
}

// The wait for a request slot does not count as the host's slowness.
func TestFetch_AllowedWaitIsNotCounted(t *testing.T) {
	f, site := serve(t, Limits{Timeout: 2 * time.Second}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/a", http.StatusFound)
			return
		}
		html(w, "<p>")
	})
	r := fetch(t, f, Request{URL: site + "/", Allowed: func(context.Context, string) (bool, string) {
		time.Sleep(1100 * time.Millisecond)
		return true, ""
	}})
	if r.Outcome != OK || len(r.Hops) != 1 {
		t.Errorf("%s (%s) after %d requests", r.Outcome, r.Reason, r.Requests)
	}
}

func TestFetch_InvalidURLs(t *testing.T) {
	f := newFetcher(t, options())
	for address, want := range map[string]Outcome{
		"": Invalid, "news": Invalid, "http://": Invalid, "https://exa mple.org": Invalid, "http://x:99999/": Invalid,
		"ftp://example.org/": BlockedAddress, "file:///etc/passwd": Invalid, "javascript:alert(1)": Invalid,
		"https://user:secret@example.org/": BlockedAddress, "http://" + strings.Repeat("a", 20000): Invalid,
	} {
		if r := fetch(t, f, Request{URL: address}); r.Outcome != want &&
			(want != Invalid || r.Outcome != BlockedAddress) || r.Requests != 0 {
			t.Errorf("%.40q: %s (%s)", address, r.Outcome, r.Reason)
		}
	}
}

func TestFetch_UnreachableServers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	o := options()
	o.AllowPrivate = []string{"127.0.0.0/8"}
	f := newFetcher(t, o)
	if r := fetch(t, f, Request{URL: "http://" + closed + "/"}); r.Outcome != Unreachable ||
		strings.Contains(r.Reason, "127.0.0.1") {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	if r := fetch(t, f, Request{URL: secure.URL}); r.Outcome != Unreachable ||
		!strings.Contains(r.Reason, "certificate") {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
}

func TestFetch_ContextCanceled(t *testing.T) {
	started := make(chan struct{}, 1)
	f, site := serve(t, Limits{}, func(_ http.ResponseWriter, r *http.Request) {
		started <- struct{}{}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if r, err := f.Fetch(ctx, Request{URL: site}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v %v", r, err)
	}
}
