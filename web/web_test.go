package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func built() Page {
	return Page{
		Base: "/desk", TemporalUI: "http://127.0.0.1:8233", Bucket: "https://bucket.example",
		Files: fstest.MapFS{
			"index.html": {
				Data: []byte(
					`<!doctype html><meta name="dateline" data-nonce="{{.Nonce}}" data-temporal="{{.TemporalUI}}"><script src="./assets/a-1.js"></script>`),
			},
			"assets/a-1.js":     {Data: []byte("plain")},
			"assets/a-1.js.gz":  {Data: []byte("packed")},
			"assets/style.css":  {Data: []byte("plain")},
			"assets/sub/x.json": {Data: []byte("{}")},
		},
	}
}

func get(t *testing.T, p Page, address string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

func TestPage_SameForEveryPathAndNotCached(t *testing.T) {
	for _, address := range []string{"/app", "/app/", "/app/posts/0192", "/app/../app/calendar"} {
		a := get(t, built(), address)
		if a.Code != http.StatusOK || a.Header().Get("Cache-Control") != "no-store" ||
			!strings.Contains(a.Body.String(), `src="/desk/assets/a-1.js"`) {
			t.Errorf("%s: %d %v", address, a.Code, a.Header())
		}
	}
	if a := get(t, built(), "/"); a.Code != http.StatusFound || a.Header().Get("Location") != "/desk/app/" {
		t.Errorf("/: %d to %s", a.Code, a.Header().Get("Location"))
	}
}

// Without the dashboard, too: subscribed browsers update the worker.
func TestPage_ServesTheWorkerForPush(t *testing.T) {
	for name, p := range map[string]Page{"built": built(), "not built": {Base: "/desk", Files: fstest.MapFS{}}} {
		a := get(t, p, "/app/push.js")
		if a.Code != http.StatusOK || a.Header().Get("Content-Type") != "text/javascript; charset=utf-8" ||
			a.Header().Get("Cache-Control") != "no-cache" || !strings.Contains(a.Body.String(), "showNotification") {
			t.Errorf("%s: got %d %v", name, a.Code, a.Header())
		}
	}
}

func TestStylesNeedANonceThatIsNewEachTime(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		a := get(t, built(), "/app/")
		policy, text := a.Header().Get("Content-Security-Policy"), a.Body.String()
		_, rest, _ := strings.Cut(policy, "style-src 'self' 'nonce-")
		nonce, _, found := strings.Cut(rest, "'")
		if !found || len(nonce) < 20 || seen[nonce] || !strings.Contains(text, `data-nonce="`+nonce+`"`) {
			t.Errorf("nonce %q of %q in %q", nonce, policy, text)
		}
		seen[nonce] = true
		if strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'; script-src 'self';") ||
			!strings.Contains(policy, "connect-src 'self' https://bucket.example;") {
			t.Errorf("policy %q", policy)
		}
	}
}

func TestAssets_AreImmutable(t *testing.T) {
	for _, want := range []struct{ address, accept, kind, coding, text string }{
		{"/assets/a-1.js", "gzip, br", "text/javascript; charset=utf-8", "gzip", "packed"},
		{"/assets/a-1.js", "", "text/javascript; charset=utf-8", "", "plain"},
		{"/assets/style.css", "gzip", "text/css; charset=utf-8", "", "plain"},
	} {
		a := get(t, built(), want.address, "Accept-Encoding", want.accept)
		require.Equal(t, http.StatusOK, a.Code, "%s (%s): %d %v", want.address, want.accept, a.Code, a.Header())
		require.Contains(t, a.Header().Get("Cache-Control"), "immutable", "%s (%s): %d %v", want.address, want.accept,
			a.Code, a.Header())
		require.Equal(t, want.kind, a.Header().Get("Content-Type"), "%s (%s): %d %v", want.address, want.accept, a.Code,
			a.Header())
		require.Equal(t, want.coding, a.Header().Get("Content-Encoding"), "%s (%s): %d %v", want.address, want.accept,
			a.Code, a.Header())
		require.Equal(t, want.text, a.Body.String(), "%s (%s): %d %v", want.address, want.accept, a.Code, a.Header())
	}
	for _, address := range []string{"/assets/none.js", "/assets/", "/assets/sub", "/assets/../index.html.bak"} {
		if a := get(t, built(), address); a.Code == http.StatusOK && strings.Contains(a.Header().Get("Cache-Control"),
			"immutable") {
			t.Errorf("%s: %d %v", address, a.Code, a.Header())
		}
	}
}

func TestPage_ExplainsHowToBuildDashboard(t *testing.T) {
	if (Page{Files: fstest.MapFS{}}).Built() || !built().Built() {
		t.Error("whether there is a dashboard is not known")
	}
	p := Page{TemporalUI: "http://127.0.0.1:8233", Sandbox: `http://127.0.0.1:8090/"><script>`, Files: fstest.MapFS{}}
	a := get(t, p, "/")
	text := a.Body.String()
	if a.Code != http.StatusOK || !strings.Contains(text, "make web") ||
		!strings.Contains(text, "http://127.0.0.1:8233") || strings.Contains(text, `"><script>`) {
		t.Errorf("%d %s", a.Code, text)
	}
	if a := get(t, p, "/app/posts/1"); a.Code != http.StatusFound || a.Header().Get("Location") != "/" {
		t.Errorf("below /app: %d to %s", a.Code, a.Header().Get("Location"))
	}
	if a := get(t, p, "/assets/a.js"); a.Code != http.StatusNotFound {
		t.Errorf("an asset: %d", a.Code)
	}
}
