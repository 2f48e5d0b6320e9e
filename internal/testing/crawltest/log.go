package crawltest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Request is a logged request.
type Request struct {
	At          time.Time // when it arrived
	Site        int
	Host        string // without the port
	IP          string // the server's address
	Method      string
	Path        string // with the query
	Agent       string
	Conditional bool
	Status      int   // 0: no response yet
	Bytes       int64 // of the body
	Duration    time.Duration
	// PauseUntil is the end of the Retry-After in the response; zero: none.
	PauseUntil time.Time
}

// log records all requests.
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

// paused records a Retry-After with the last request of a site.
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

// Log returns all requests in the order of arrival.
func (w *World) Log() []Request {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return slices.Clone(w.log.entries)
}

// Fetches counts the successful requests for each URL.
func (w *World) Fetches() map[string]int {
	counts := map[string]int{}
	for _, request := range w.Log() {
		if request.Status > 0 && request.Status < http.StatusBadRequest {
			counts[w.url(request.Host, request.Path)]++
		}
	}
	return counts
}

// PolitenessViolations describes what a polite crawler does not do: two
// requests to a site closer than delay (minus slack, for clocks that are read
// at different times), a request for a path that the default robots.txt
// disallows, or a request during a Retry-After. Redirects count as requests,
// too.
func (w *World) PolitenessViolations(delay, slack time.Duration) []string {
	var found []string
	last := map[int]Request{}
	pause := map[int]time.Time{}
	entries := w.Log()
	slices.SortStableFunc(entries, func(a, b Request) int { return a.At.Compare(b.At) })
	for _, now := range entries {
		if previous, known := last[now.Site]; known && now.At.Sub(previous.At) < delay-slack {
			found = append(found, fmt.Sprintf("%s: %s came %s after %s", now.Host, now.Path, now.At.Sub(previous.At),
				previous.Path))
		}
		if until := pause[now.Site]; now.At.Before(until.Add(-slack)) {
			found = append(found, fmt.Sprintf("%s: %s came %s before the pause was over", now.Host, now.Path,
				until.Sub(now.At)))
		}
		for _, disallowed := range disallowedPaths() {
			if strings.HasPrefix(now.Path, disallowed) {
				found = append(found, fmt.Sprintf("%s: %s is disallowed by robots.txt", now.Host, now.Path))
			}
		}
		last[now.Site] = now
		if now.PauseUntil.After(pause[now.Site]) {
			pause[now.Site] = now.PauseUntil
		}
	}
	return found
}

// counter records the status and size of a response.
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

// Unwrap gives http.ResponseController access to the wrapped writer.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
