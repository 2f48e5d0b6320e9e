package call

import (
	"container/list"
	"context"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Limits of the calls to a host at a time.
const (
	minCalls = 64
	maxCalls = 1024
	// queueTime is in what time the calls that wait should have been made.
	queueTime = 250 * time.Millisecond
	// samples is the number of calls whose shortest duration decides how far the limit
	// grows: the others may have waited for the processor. The first minCalls open
	// connections, and do not count.
	samples = 16
)

// limiter limits the calls to a host at a time: few where they are fast, because opening
// connections takes longer than waiting for one, and as many as it takes where a host
// responds slowly and thousands of posts are due at the same second (Little's law). A
// limit that has grown stays until the host has no calls. Hosts that speak HTTP/2 have no
// limit: their calls share connections.
type limiter struct {
	next http.RoundTripper
	// fresh opens a connection for each call, for calls that must not happen twice: some
	// servers and proxies close a connection after a response without saying so, and then
	// nobody knows whether the next call on it was read (RFC 9112, 9.3.1).
	fresh http.RoundTripper

	mu          sync.Mutex
	hosts       map[string]*hostCalls
	multiplexed map[string]struct{} // hosts that speak HTTP/2
}

// maxMultiplexed is the number of hosts that are known to speak HTTP/2. When there are
// more, all are learned again.
const maxMultiplexed = 1024

type hostCalls struct {
	active, limit int
	waiting       list.List // of chan struct{}, which are closed when it is their turn
	ended         int
	took          [samples]time.Duration // by the latest calls
}

// RoundTrip waits for its turn, and makes the call.
func (l *limiter) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.isMultiplexed(r.URL.Host) {
		res, err := l.next.RoundTrip(r)
		if err == nil && res.ProtoMajor < 2 {
			l.forget(r.URL.Host)
		}
		return res, err
	}
	if err := l.acquire(r.Context(), r.URL.Host); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	started, next := time.Now(), l.next
	if l.fresh != nil && isCreate(r.Context()) {
		next = l.fresh
	}
	res, err := next.RoundTrip(r)
	l.release(r.URL.Host, time.Since(started), err == nil && res.ProtoMajor >= 2)
	return res, err
}

type createKey struct{}

// withCreate marks the context of a call that must not happen twice.
func withCreate(ctx context.Context) context.Context {
	return context.WithValue(ctx, createKey{}, true)
}

func isCreate(ctx context.Context) bool {
	create, _ := ctx.Value(createKey{}).(bool)
	return create
}

func (l *limiter) isMultiplexed(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.multiplexed[name]
	return ok
}

func (l *limiter) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.multiplexed, name)
}

// CloseIdleConnections closes the connections that no call uses.
func (l *limiter) CloseIdleConnections() {
	if c, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (l *limiter) acquire(ctx context.Context, name string) error {
	l.mu.Lock()
	h := l.hosts[name]
	if h == nil {
		h = &hostCalls{limit: minCalls}
		if l.hosts == nil {
			l.hosts = map[string]*hostCalls{}
		}
		l.hosts[name] = h
	}
	if h.active < h.limit && h.waiting.Len() == 0 {
		h.active++
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	element := h.waiting.PushBack(turn)
	h.startWaiting()
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-turn: // meanwhile
		l.end(name, h)
	default:
		h.waiting.Remove(element)
	}
	return ctx.Err()
}

// release ends a call that took a time, and says whether the response was HTTP/2.
func (l *limiter) release(name string, took time.Duration, isHTTP2 bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[name]
	h.took[h.ended%samples] = took
	h.ended++
	if isHTTP2 {
		if l.multiplexed == nil || len(l.multiplexed) >= maxMultiplexed {
			l.multiplexed = map[string]struct{}{}
		}
		l.multiplexed[name] = struct{}{}
		h.limit = math.MaxInt
	}
	l.end(name, h)
}

func (l *limiter) end(name string, h *hostCalls) {
	h.active--
	h.startWaiting()
	if h.active == 0 {
		delete(l.hosts, name)
	}
}

// startWaiting starts calls that wait, as many as the limit allows.
func (h *hostCalls) startWaiting() {
	if h.ended >= minCalls+samples {
		wanted := time.Duration(h.waiting.Len()) * slices.Min(h.took[:]) / queueTime
		h.limit = max(h.limit, int(min(wanted, maxCalls)))
	}
	for h.active < h.limit && h.waiting.Len() > 0 {
		turn, _ := h.waiting.Remove(h.waiting.Front()).(chan struct{})
		close(turn)
		h.active++
	}
}
