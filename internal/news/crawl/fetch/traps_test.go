package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/testing/crawltest"
)

// Whatever a server does, a fetch ends, is cheap, and returns the reason.
func TestFetch_TrapsAreBounded(t *testing.T) {
	w, err := crawltest.New(crawltest.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	lowLimit := Limits{PageBytes: 1 << 20}
	for _, c := range []struct {
		path   string
		limits Limits
		want   Outcome
		reason string
		wire   int64 // at most
	}{
		{"/loop/1", lowLimit, Trap, "too many redirects: more than 10", 0},
		{"/huge", lowLimit, TooBig, "the response exceeds the size limit", 0},
		{"/huge/unannounced", lowLimit, TooBig, "decompressed response exceeds", 2 << 20},
		{"/bomb", lowLimit, TooBig, "decompressed response exceeds", 64 << 10},
		{"/bomb", Limits{PageBytes: 1 << 30}, TooBig, "the compression ratio is too high", 64 << 10},
		{"/drip", Limits{Grace: 50 * time.Millisecond}, Timeout, "the transfer is too slow", 1 << 10},
		{"/drip", Limits{Timeout: 100 * time.Millisecond}, Timeout, "the request timed out", 1 << 10},
		{"/hang", Limits{HeaderTimeout: 50 * time.Millisecond}, Timeout, "the request timed out", 0},
		{"/hang", Limits{Timeout: 50 * time.Millisecond}, Timeout, "the request timed out", 0},
		{"/cut", lowLimit, Unreachable, "the connection failed", 1 << 10},
	} {
		r := fetch(t, forWorld(t, w, c.limits), Request{URL: w.Site(0).URL(c.path)})
		if r.Outcome != c.want || !strings.Contains(r.Reason, c.reason) || r.WireBytes > c.wire || r.Body != nil {
			t.Errorf("%s: %s (%s), %d bytes", c.path, r.Outcome, r.Reason, r.WireBytes)
		}
		if r.Requests > 11 {
			t.Errorf("%s: %d requests", c.path, r.Requests)
		}
	}
}

// A server that begins a body and then stalls.
func TestFetch_IdleTimeout(t *testing.T) {
	f, site := serve(t, Limits{IdleTimeout: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		html(w, "<p>begin")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	if r := fetch(t, f, Request{URL: site}); r.Outcome != Timeout || r.Reason != "the transfer stalled" {
		t.Errorf("%s (%s)", r.Outcome, r.Reason)
	}
}

// Of a robots.txt that is too long, the first part counts.
func TestFetch_TruncatesLongRobots(t *testing.T) {
	f, site := serve(t, Limits{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /a\n" + strings.Repeat("# padding\n", 200_000)))
	})
	r := fetch(t, f, Request{URL: site + "/robots.txt", Kind: KindRobots})
	if r.Outcome != OK || len(r.Body) != 512<<10 {
		t.Errorf("%s (%s), %d bytes", r.Outcome, r.Reason, len(r.Body))
	}
}
