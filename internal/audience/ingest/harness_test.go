package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
)

// TestMain also runs the process that a test kills; see kill_test.go.
func TestMain(m *testing.M) {
	if url := os.Getenv(servedRedis); url != "" {
		fmt.Fprintln(os.Stderr, serve(url))
		os.Exit(1)
	}
	enginetest.Main(m)
}

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// fixture is the handler on loopback, behind a proxy that sends X-Forwarded-For.
type fixture struct {
	*newsroomtest.Newsroom
	*newsroomtest.Audience
	t   *testing.T
	url string
	log *syncBuffer
}

func open(t *testing.T) *fixture {
	t.Helper()
	d := &fixture{Newsroom: newsroomtest.Open(t), t: t, log: &syncBuffer{}}
	d.Audience = d.CountViews(d.log)
	d.Ingest.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	server := httptest.NewServer(d.Ingest)
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

type answer struct {
	*http.Response
	body string
}

// send sends a request like a reader's browser, with optional headers.
func (d *fixture) send(method, path, body string, headers ...string) answer {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, strings.NewReader(body))
	d.Must(err)
	for name, value := range map[string]string{
		"User-Agent": firefox, "Accept-Language": "vi",
		"X-Forwarded-For": "203.0.113.7", "Content-Type": "application/json",
	} {
		r.Header.Set(name, value)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	got, err := http.DefaultClient.Do(r)
	d.Must(err)
	raw, err := io.ReadAll(got.Body)
	d.Must(err)
	d.Must(got.Body.Close())
	return answer{got, string(raw)}
}

// view sends a view of a page.
func (d *fixture) view(s site.Site, page string, headers ...string) {
	d.t.Helper()
	if a := d.send("POST", "/v1/view", `{"site":"`+s.WriteKey+`","page":"`+page+`"}`,
		headers...); a.StatusCode != http.StatusAccepted {
		d.t.Errorf("view: got %s %s, want 202", a.Status, a.body)
	}
}

func (d *fixture) stats(s site.Site, page string) counter.Stats {
	d.t.Helper()
	v, err := s.CounterSite()
	d.Must(err)
	d.Must(d.Counter.Aggregate(d.t.Context()))
	got, err := d.Counter.Stats(d.t.Context(), v, page)
	d.Must(err)
	return got
}

func (d *fixture) filtered(s site.Site, page string) map[string]int64 {
	d.t.Helper()
	d.Must(d.Counter.Aggregate(d.t.Context()))
	got, err := d.Counts.FilteredCounts(d.t.Context(), s.ID, page)
	d.Must(err)
	return got
}

// expectProblem checks the status, code and field of a problem response.
func (d *fixture) expectProblem(name string, a answer, status int, code, field string) {
	d.t.Helper()
	var p struct {
		Status int
		Code   string
		Errors []struct{ Field, Message string }
	}
	err := json.Unmarshal([]byte(a.body), &p)
	got := fmt.Sprint(a.StatusCode, p.Status, p.Code, a.Header.Get("Content-Type"))
	if want := fmt.Sprint(status, status, code, "application/problem+json"); err != nil || got != want {
		d.t.Errorf("%s: got %s %s (%v), want %s", name, got, a.body, err, want)
		return
	}
	if field != "" && !slices.ContainsFunc(p.Errors,
		func(e struct{ Field, Message string }) bool { return e.Field == field }) {
		d.t.Errorf("%s: got the fields %v, want %s", name, p.Errors, field)
	}
}

func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return "?" + q.Encode()
}
