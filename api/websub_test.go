package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"dateline/api"
	"dateline/internal/news/crawl/websub"
)

// hubs is a callback of hubs that accepts the token "known".
type hubs struct {
	mu   sync.Mutex
	body int // bytes of the last delivery
	err  error
}

func (h *hubs) Verify(_ context.Context, token string, query url.Values) (status int, text string, err error) {
	if token != "known" {
		return http.StatusNotFound, "", nil
	}
	return http.StatusOK, query.Get("hub.challenge"), h.err
}

func (h *hubs) Deliver(_ context.Context, token string, header http.Header, body io.Reader) (status int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if token != "known" || header.Get("X-Hub-Signature") == "" {
		return http.StatusGone, nil
	}
	raw, err := io.ReadAll(body)
	h.body = len(raw)
	if err != nil {
		return http.StatusRequestEntityTooLarge, nil //nolint:nilerr // as websub.Callback does
	}
	return http.StatusAccepted, h.err
}

// Hubs have no token of the API, send any kind of document, and larger ones than clients may.
func TestHubCallback_IsPublicAndBounded(t *testing.T) {
	t.Parallel()
	h := &hubs{}
	s := start(t, func(a *api.Server) { a.Hubs, a.Hosts = h, []string{"dateline.example"} })
	do := func(method, path, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
		s.Must(err)
		r.Host = "dateline.example"
		r.Header.Set("X-Hub-Signature", "sha256=00")
		r.Header.Set("Content-Type", "application/atom+xml")
		res, err := http.DefaultClient.Do(r)
		s.Must(err)
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	res := do(http.MethodGet, "/websub/known?hub.mode=subscribe&hub.challenge=%3Cb%3Ex", "")
	if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK || string(text) != "<b>x" ||
		!strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain") ||
		res.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("got %d %q as %s, want the challenge as plain text", res.StatusCode, text,
			res.Header.Get("Content-Type"))
	}
	for name, c := range map[string]struct {
		method, path string
		bytes, want  int
	}{
		"an unknown verification":  {http.MethodGet, "/websub/x", 0, 404},
		"an unknown callback":      {http.MethodPost, "/websub/x", 10, 410},
		"a delivery":               {http.MethodPost, "/websub/known", 10, 202},
		"one larger than maxBody":  {http.MethodPost, "/websub/known", maxBody + 1, 202},
		"one that is too large":    {http.MethodPost, "/websub/known", websub.MaxDelivery + 1, 413},
		"another method":           {http.MethodDelete, "/websub/known", 0, 405},
		"no token":                 {http.MethodPost, "/websub/", 10, 404},
		"a path below a callback":  {http.MethodPost, "/websub/known/x", 10, 404},
		"a request without a body": {http.MethodPost, "/websub/known", 0, 202},
	} {
		if res := do(c.method, c.path, strings.Repeat("x", c.bytes)); res.StatusCode != c.want {
			t.Errorf("%s: got %d, want %d", name, res.StatusCode, c.want)
		}
	}
	h.err = errors.New("the database does not respond")
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if res := do(method, "/websub/known", "x"); res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s during an outage: got %d, want 503, so that the hub repeats it", method, res.StatusCode)
		}
	}
}

func TestHubCallback_IsAbsentWithoutWebSub(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		r, err := http.NewRequestWithContext(t.Context(), method, s.url+"/websub/known", nil)
		s.Must(err)
		res, err := http.DefaultClient.Do(r)
		s.Must(err)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404", method, res.StatusCode)
		}
	}
}
