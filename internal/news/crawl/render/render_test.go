package render

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/crawl/fetch"
	"dateline/internal/testing/enginetest"
)

// site is one whose text is made by scripts, and a private server beside it.
type site struct {
	*httptest.Server
	secret  *httptest.Server
	reached atomic.Bool // the private one was asked

	mu    sync.Mutex
	asked []string
}

func newSite(t *testing.T, pages map[string]string) *site {
	s := &site{}
	s.secret = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.reached.Store(true)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		_, _ = w.Write([]byte("bi mat"))
	}))
	t.Cleanup(s.secret.Close)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		contentType := "text/html; charset=utf-8"
		switch {
		case strings.HasSuffix(r.URL.Path, ".js"):
			contentType = "text/javascript"
		case strings.HasSuffix(r.URL.Path, ".json"):
			contentType = "application/json"
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(strings.NewReplacer("SECRET", s.secret.URL, "SOCKET", "ws"+strings.TrimPrefix(s.secret.URL, "http")).Replace(page)))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.asked, ", ")
}

func fetcher(t *testing.T, s *site, o Options) *fetch.Fetcher {
	t.Helper()
	browser, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fetch.New(fetch.Options{Product: "Dateline", Contact: "https://example.org/", Renderer: browser,
		AllowPrivate: []string{s.Listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

const quiet = 200 * time.Millisecond

func TestRender_Pages(t *testing.T) {
	s := newSite(t, map[string]string{
		"/":         `<title>Tin</title><div id="tin">Đang tải</div><img src="/a.png"><script src="/app.js"></script>`,
		"/app.js":   `fetch('/tin.json').then(r => r.json()).then(j => { document.getElementById('tin').textContent = j.text + navigator.userAgent.includes('Dateline') })`,
		"/tin.json": `{"text":"Giá vàng tăng "}`,
		"/post":     `<p id=a>nguyên</p><script>fetch('/sent', {method: 'POST', body: 'x'}).catch(() => { document.getElementById('a').textContent = 'không gửi' })</script>`,
		"/alert":    `<p id=a></p><script>alert(1); document.getElementById('a').textContent = confirm('?') ? 'có' : 'không'</script>`,
		"/private":  `<p id=a>chờ</p><script src="/private.js"></script><iframe src="SECRET/frame"></iframe><script src="SECRET/x.js"></script><img src="SECRET/x.png">`,
		"/socket":   `<p id=a>chờ</p><script>let w = new WebSocket('SOCKET/'); w.onerror = () => { document.getElementById('a').textContent = 'hỏng' }</script>`,
		"/leave":    `<p>Ở lại</p><script>location.href = 'SECRET/'</script>`,
		"/robots":   `<p id=a>chờ</p><script>fetch('/forbidden.json').then(r => r.text()).then(j => { document.getElementById('a').textContent = 'được' })</script>`,
		"/endless":  `<p id=a>mãi</p><script>setInterval(() => fetch('/tin.json?' + Math.random()), 20)</script>`,
		"/private.js": `Promise.allSettled(['SECRET/fetch', 'http://169.254.169.254/', 'http://2130706433:1/', 'file:///etc/passwd'].map(u => fetch(u)))
			.then(all => { document.getElementById('a').textContent = all.map(r => r.status).join(' ') })`,
		"/forbidden.json": `{}`,
	})
	chromium := enginetest.RemoteChromium(t)
	f := fetcher(t, s, Options{URL: chromium, QuietPeriod: quiet, MaxWait: 3 * time.Second, MaxRequests: 10})
	get := func(t *testing.T, r fetch.Request) *fetch.Result {
		t.Helper()
		r.URL, r.Render = s.URL+r.URL, true
		result, err := f.Fetch(t.Context(), r)
		if err != nil || result.Outcome != fetch.OK || !result.Rendered {
			t.Fatalf("%+v %v", result, err)
		}
		return result
	}
	t.Run("scripts make the text", func(t *testing.T) {
		r := get(t, fetch.Request{URL: "/"})
		if !strings.Contains(string(r.Text), `<div id="tin">Giá vàng tăng true</div>`) {
			t.Errorf("%s", r.Text)
		}
		// The document once, no picture, nothing by the browser itself.
		if log := s.log(); log != "GET /, GET /app.js, GET /tin.json" {
			t.Error(log)
		}
	})
	for path, want := range map[string]string{
		"/post":    `<p id="a">không gửi</p>`,
		"/alert":   `<p id="a">không</p>`,
		"/private": `<p id="a">rejected rejected rejected rejected</p>`,
		"/socket":  `<p id="a">hỏng</p>`,
		"/endless": `<p id="a">mãi</p>`,
	} {
		t.Run(path, func(t *testing.T) {
			if r := get(t, fetch.Request{URL: path}); !strings.Contains(string(r.Text), want) {
				t.Errorf("%s", r.Text)
			}
		})
	}
	t.Run("a page that leaves", func(t *testing.T) {
		get(t, fetch.Request{URL: "/leave"})
	})
	t.Run("robots.txt holds for what a page asks for", func(t *testing.T) {
		r := get(t, fetch.Request{URL: "/robots", Allowed: func(_ context.Context, u string) (bool, string) { return !strings.Contains(u, "forbidden"), "" }})
		if !strings.Contains(string(r.Text), `<p id="a">chờ</p>`) {
			t.Errorf("%s", r.Text)
		}
	})
	if s.reached.Load() {
		t.Error("a private server was reached")
	}
	if log := s.log(); strings.Contains(log, "POST") || strings.Contains(log, "forbidden") || strings.Count(log, "tin.json") > 11 {
		t.Error(log)
	}
}

// Without a browser pages stay as they were served.
func TestRender_BrowserUnavailable(t *testing.T) {
	s := newSite(t, map[string]string{"/": "<p>Giá vàng"})
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, address := range []string{closed.URL, "ws" + strings.TrimPrefix(closed.URL, "http"), s.secret.URL} {
		f := fetcher(t, s, Options{URL: address})
		r, err := f.Fetch(t.Context(), fetch.Request{URL: s.URL, Render: true})
		require.NoError(t, err, "%s: %+v %v", address, r, err)
		require.Equal(t, fetch.OK, r.Outcome, "%s: %+v %v", address, r, err)
		require.False(t, r.Rendered, "%s: %+v %v", address, r, err)
		require.Equal(t, "<p>Giá vàng", string(r.Text), "%s: %+v %v", address, r, err)
		require.Equal(t, "the page could not be rendered", r.Reason, "%s: %+v %v", address, r, err)
	}
	if _, err := New(Options{URL: "127.0.0.1:9222"}); err == nil {
		t.Error("an address that is no URL was taken")
	}
}
