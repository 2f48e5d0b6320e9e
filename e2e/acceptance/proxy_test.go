package acceptance

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

// proxy stands before a Mastodon-compatible server. It counts the statuses that the
// server creates and refuses, and drops responses after the server has acted.
type proxy struct {
	URL string

	mu      sync.Mutex
	lose    map[string]int             // responses still to be dropped, by a part of the request
	made    map[string]map[string]bool // ids of statuses, by a part of the request
	refused int                        // 429
	broken  float64                    // share of the calls that create a status whose connection breaks
}

// newProxy starts a proxy before a server. With keepHost the server sees the proxy's
// host, so that NodeInfo names it: the client trusts no other host there, and without
// NodeInfo the server's software is unknown. Public servers accept only their own host.
func newProxy(t *testing.T, base string, keepHost bool) *proxy {
	t.Helper()
	target, err := url.Parse(base)
	e2etest.Must(t, err)
	p := &proxy{lose: map[string]int{}, made: map[string]map[string]bool{}}
	forward := &httputil.ReverseProxy{ModifyResponse: p.watch, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if keepHost {
			r.Out.Host = r.In.Host
		}
		r.Out.Header.Del("Accept-Encoding") // the transport then decompresses what watch reads
	}}
	server := httptest.NewServer(forward)
	t.Cleanup(server.Close)
	p.URL = server.URL
	// Tests match the request's body, which ReverseProxy has already read at this
	// point.
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isCreate(r) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			r.Header.Set("X-Test-Case", p.caseOf(string(body)))
			if p.breaks() {
				panic(http.ErrAbortHandler) //nolint:forbidigo // the server never sees the request
			}
		}
		forward.ServeHTTP(w, r)
	})
	return p
}

func isCreate(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/api/v1/statuses")
}

// expect counts the statuses whose request contains a word and drops the responses to
// the first of them.
func (p *proxy) expect(word string, lose int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose[word], p.made[word] = lose, map[string]bool{}
}

func (p *proxy) caseOf(body string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for word := range p.made {
		if strings.Contains(body, word) {
			return word
		}
	}
	return ""
}

// watch reads a response of the server.
func (p *proxy) watch(answer *http.Response) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if answer.StatusCode == http.StatusTooManyRequests {
		p.refused++
	}
	word := answer.Request.Header.Get("X-Test-Case")
	if !isCreate(answer.Request) || word == "" || answer.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	var status struct{ ID string }
	if err := json.Unmarshal(body, &status); err != nil {
		return err
	}
	p.made[word][status.ID] = true
	lost := rand.Float64() < p.broken/2 //nolint:gosec // needs no secrecy
	if p.lose[word] > 0 {
		p.lose[word]--
		lost = true
	}
	if lost {
		panic(http.ErrAbortHandler) //nolint:forbidigo // cuts the connection without a response
	}
	return nil
}

// breakAtRandom breaks the connections of a share of the calls that create a status, one
// half before the server gets the request, the other after it has acted.
func (p *proxy) breakAtRandom(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = share
}

func (p *proxy) breaks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return rand.Float64() < p.broken/2 //nolint:gosec // needs no secrecy
}

// copies returns the ids of a case's statuses.
func (p *proxy) copies(word string) (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.made[word] {
		ids = append(ids, id)
	}
	return ids
}

// refusals counts the responses 429.
func (p *proxy) refusals() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// removeAll deletes the statuses that the tests created.
func (p *proxy) removeAll(t *testing.T, token string) {
	for word := range p.made {
		for _, id := range p.copies(word) {
			request, err := http.NewRequest(http.MethodDelete, p.URL+"/api/v1/statuses/"+id, nil)
			if err == nil {
				request.Header.Set("Authorization", "Bearer "+token)
				_, err = e2etest.Do(request)
			}
			if err != nil {
				t.Logf("status %s is left on the server: %v", id, err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// GoToSocial compresses its responses when the request allows it.
func TestProxy_CountsStatusesOfCompressedResponses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Writer = w
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			compressed := gzip.NewWriter(w)
			defer func() { _ = compressed.Close() }()
			body = compressed
		}
		_, _ = io.WriteString(body, `{"id":"17"}`)
	}))
	t.Cleanup(server.Close)
	p := newProxy(t, server.URL, false)
	p.expect("word", 0)
	res, err := http.Post(p.URL+"/api/v1/statuses", "application/json", strings.NewReader(`{"status":"word"}`))
	e2etest.Must(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || string(body) != `{"id":"17"}` {
		t.Errorf("got status %d, %q, %v; want 200 and the server's response", res.StatusCode, body, err)
	}
	if got := p.copies("word"); len(got) != 1 || got[0] != "17" {
		t.Errorf("got copies %v, want [17]", got)
	}
}
