package bluesky_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// lossy is a proxy that can lose a response.
type lossy struct {
	address string
	mode    atomic.Int32 // 1: lose the next response, 2: lose the next request
}

func (l *lossy) lose(acted bool) {
	if acted {
		l.mode.Store(1)
	} else {
		l.mode.Store(2)
	}
}

func newLossy(t *testing.T, to string) *lossy {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l := &lossy{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mode := l.mode.Swap(0)
		if mode == 0 {
			proxy.ServeHTTP(w, r)
			return
		}
		if mode == 1 {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
		} else {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}))
	t.Cleanup(front.Close)
	l.address = front.URL
	return l
}
