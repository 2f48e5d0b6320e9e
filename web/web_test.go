package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func built() Page {
	return Page{Base: "/desk", TemporalUI: "http://127.0.0.1:8233", Bucket: "https://bucket.example", Files: fstest.MapFS{
		"index.html":        {Data: []byte(`<!doctype html><meta name="dateline" data-nonce="{{.Nonce}}" data-temporal="{{.TemporalUI}}"><script src="./assets/a-1.js"></script>`)},
		"assets/a-1.js":     {Data: []byte("plain")},
		"assets/a-1.js.gz":  {Data: []byte("packed")},
		"assets/style.css":  {Data: []byte("plain")},
		"assets/sub/x.json": {Data: []byte("{}")},
	}}
}

func get(p Page, address string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, address, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, a *http.Response) string {
	t.Helper()
	defer func() { _ = a.Body.Close() }()
	var b strings.Builder
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(b.String(), "\r\n\r\n")
	return text
}

func TestEveryPageOfTheDashboardIsTheSameAndNeverKept(t *testing.T) {
	for _, address := range []string{"/app", "/app/", "/app/posts/0192", "/app/../app/calendar"} {
		a := get(built(), address)
		if a.StatusCode != http.StatusOK || a.Header.Get("Cache-Control") != "no-store" || !strings.Contains(body(t, a), `src="/desk/assets/a-1.js"`) {
			t.Errorf("%s: %s %v", address, a.Status, a.Header)
		}
	}
	if a := get(built(), "/"); a.StatusCode != http.StatusFound || a.Header.Get("Location") != "/desk/app/" {
		t.Errorf("/: %s to %s", a.Status, a.Header.Get("Location"))
	}
}

func TestStylesNeedANonceThatIsNewEachTime(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		a := get(built(), "/app/")
		policy, text := a.Header.Get("Content-Security-Policy"), body(t, a)
		_, rest, _ := strings.Cut(policy, "style-src 'self' 'nonce-")
		nonce, _, found := strings.Cut(rest, "'")
		if !found || len(nonce) < 20 || seen[nonce] || !strings.Contains(text, `data-nonce="`+nonce+`"`) {
			t.Errorf("nonce %q of %q in %q", nonce, policy, text)
		}
		seen[nonce] = true
		if strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'; script-src 'self';") || !strings.Contains(policy, "connect-src 'self' https://bucket.example;") {
			t.Errorf("policy %q", policy)
		}
	}
}

func TestAssetsAreKeptForEver(t *testing.T) {
	for _, want := range []struct{ address, accept, kind, coding, text string }{
		{"/assets/a-1.js", "gzip, br", "text/javascript; charset=utf-8", "gzip", "packed"},
		{"/assets/a-1.js", "", "text/javascript; charset=utf-8", "", "plain"},
		{"/assets/style.css", "gzip", "text/css; charset=utf-8", "", "plain"},
	} {
		a := get(built(), want.address, "Accept-Encoding", want.accept)
		if a.StatusCode != http.StatusOK || !strings.Contains(a.Header.Get("Cache-Control"), "immutable") || a.Header.Get("Content-Type") != want.kind ||
			a.Header.Get("Content-Encoding") != want.coding || body(t, a) != want.text {
			t.Errorf("%s (%s): %s %v", want.address, want.accept, a.Status, a.Header)
		}
	}
	for _, address := range []string{"/assets/none.js", "/assets/", "/assets/sub", "/assets/../index.html.bak"} {
		if a := get(built(), address); a.StatusCode == http.StatusOK && strings.Contains(a.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %s %v", address, a.Status, a.Header)
		}
	}
}

func TestWithoutADashboardThePageSaysHowToGetIt(t *testing.T) {
	p := Page{TemporalUI: "http://127.0.0.1:8233", Sandbox: `http://127.0.0.1:8090/"><script>`, Files: fstest.MapFS{}}
	a := get(p, "/")
	text := body(t, a)
	if a.StatusCode != http.StatusOK || !strings.Contains(text, "make web") || !strings.Contains(text, "http://127.0.0.1:8233") || strings.Contains(text, `"><script>`) {
		t.Errorf("%s %s", a.Status, text)
	}
	if a := get(p, "/app/posts/1"); a.StatusCode != http.StatusFound || a.Header.Get("Location") != "/" {
		t.Errorf("below /app: %s to %s", a.Status, a.Header.Get("Location"))
	}
	if a := get(p, "/assets/a.js"); a.StatusCode != http.StatusNotFound {
		t.Errorf("an asset: %s", a.Status)
	}
}
