package crawltest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Request is one request, as the server saw it.
type Request struct {
	At          time.Time // when it came
	Site        int
	Host        string // without the port
	IP          string // that was asked
	Method      string
	Path        string // with the query
	Agent       string
	Conditional bool
	Status      int   // 0: not answered yet
	Bytes       int64 // of the body
	Duration    time.Duration
	// PauseUntil is until when the answer asked to stay away; zero: it did not.
	PauseUntil time.Time
}

// log keeps all requests.
type log struct {
	mu      sync.Mutex
	entries []Request
}

func (l *log) begin(entry Request) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry)
	return len(l.entries) - 1
}

func (l *log) end(number, status int, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry := &l.entries[number]
	entry.Status, entry.Bytes = status, bytes
}

// paused notes that the last request of a site was asked to stay away.
func (l *log) paused(site int, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.entries) - 1; i >= 0; i-- {
		if l.entries[i].Site == site {
			l.entries[i].PauseUntil = until
			return
		}
	}
}

// Log is every request so far, in the order in which they came.
func (w *World) Log() []Request {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return slices.Clone(w.log.entries)
}

// Fetches counts the requests for each URL, without those that were answered
// with an error.
func (w *World) Fetches() map[string]int {
	counts := map[string]int{}
	for _, asked := range w.Log() {
		if asked.Status > 0 && asked.Status < http.StatusBadRequest {
			counts[w.url(asked.Host, asked.Path)]++
		}
	}
	return counts
}

// PolitenessViolations lists what a polite crawler does not do, a sentence each: two
// requests to a site closer than delay (less is tolerated by slack, for clocks
// that are read at different moments), a path that the first robots.txt
// refuses, a request while a Retry-After held. Redirects are requests too.
func (w *World) PolitenessViolations(delay, slack time.Duration) []string {
	var found []string
	last := map[int]Request{}
	pause := map[int]time.Time{}
	entries := w.Log()
	slices.SortStableFunc(entries, func(a, b Request) int { return a.At.Compare(b.At) })
	for _, now := range entries {
		if before, known := last[now.Site]; known && now.At.Sub(before.At) < delay-slack {
			found = append(found, fmt.Sprintf("%s: %s came %s after %s", now.Host, now.Path, now.At.Sub(before.At), before.Path))
		}
		if until := pause[now.Site]; now.At.Before(until.Add(-slack)) {
			found = append(found, fmt.Sprintf("%s: %s came %s before the pause was over", now.Host, now.Path, until.Sub(now.At)))
		}
		for _, refused := range disallowedPaths() {
			if strings.HasPrefix(now.Path, refused) {
				found = append(found, fmt.Sprintf("%s: %s is refused by robots.txt", now.Host, now.Path))
			}
		}
		last[now.Site] = now
		if now.PauseUntil.After(pause[now.Site]) {
			pause[now.Site] = now.PauseUntil
		}
	}
	return found
}

// counter sees status and size of an answer.
type counter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (c *counter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach what is below.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
