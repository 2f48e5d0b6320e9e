package call

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slowHost responds after a time, and notes how many calls it had at once.
type slowHost struct {
	responds func(call int) time.Duration
	proto    int // major version of HTTP

	mu                  sync.Mutex
	calls, active, peak int
}

func (s *slowHost) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.calls++
	s.active++
	s.peak = max(s.peak, s.active)
	call := s.calls
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.active--
	}()
	select {
	case <-time.After(s.responds(call)):
		return &http.Response{StatusCode: http.StatusOK, ProtoMajor: s.proto, Body: http.NoBody, Request: r}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func post(ctx context.Context, t *testing.T, l *limiter, body io.Reader) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://social.example/statuses", body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := l.RoundTrip(r)
	if err == nil {
		_ = res.Body.Close()
	}
	return err
}

// burst makes calls at once and returns how long all of them took.
func burst(t *testing.T, l *limiter, calls int) time.Duration {
	started := time.Now()
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			if err := post(t.Context(), t, l, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return time.Since(started)
}

// Thousands of posts to a host that needs 100 or 200 ms for each are out within a second.
func TestLimiter_GrowsForABurstOnASlowHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &slowHost{responds: func(call int) time.Duration {
			return time.Duration(100+call%2*100) * time.Millisecond
		}}
		l := &limiter{next: host}
		if took := burst(t, l, 5000); took > 1200*time.Millisecond {
			t.Errorf("5,000 posts took %s", took)
		}
		if host.peak > maxCalls {
			t.Errorf("%d calls at once, more than %d", host.peak, maxCalls)
		}
		if len(l.hosts) != 0 {
			t.Error("the host is remembered without calls")
		}
	})
}

// A host that responds fast gets few connections: opening more would take longer.
func TestLimiter_KeepsTheMinimumOnAFastHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &slowHost{responds: func(call int) time.Duration { return time.Duration(2+call%2) * time.Millisecond }}
		burst(t, &limiter{next: host}, 5000)
		if host.peak != minCalls {
			t.Errorf("%d calls at once, want %d", host.peak, minCalls)
		}
	})
}

// Calls over HTTP/2 share connections, so they wait only until the first response shows
// that the host speaks it, and not at all in the next burst.
func TestLimiter_DoesNotLimitHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &slowHost{responds: func(int) time.Duration { return 150 * time.Millisecond }, proto: 2}
		l := &limiter{next: host}
		if took := burst(t, l, 5000); took > 300*time.Millisecond {
			t.Errorf("5,000 posts took %s", took)
		}
		if took := burst(t, l, 5000); took > 150*time.Millisecond {
			t.Errorf("the next 5,000 posts took %s", took)
		}
		host.proto = 1
		burst(t, l, 1)
		host.peak = 0
		burst(t, l, 5000)
		if host.peak > maxCalls {
			t.Errorf("%d calls at once over HTTP/1.1, more than %d", host.peak, maxCalls)
		}
	})
}

// A call that is canceled while it waits is not made, closes its body, and does not delay
// the next one.
func TestLimiter_CanceledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &slowHost{responds: func(int) time.Duration { return time.Minute }}
		l := &limiter{next: host}
		var all sync.WaitGroup
		all.Go(func() { burst(t, l, minCalls) })
		synctest.Wait()
		canceled, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		body := &closing{Reader: strings.NewReader("text")}
		if err := post(canceled, t, l, body); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		if !body.closed {
			t.Error("the body is not closed")
		}
		all.Go(func() { burst(t, l, 1) })
		all.Wait()
		if host.calls != minCalls+1 || len(l.hosts) != 0 {
			t.Errorf("%d calls, want %d; hosts: %d, want none", host.calls, minCalls+1, len(l.hosts))
		}
	})
}

type closing struct {
	io.Reader

	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}
