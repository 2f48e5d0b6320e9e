package ratelimit_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/ratelimit"
	"dateline/internal/testing/enginetest"
	"dateline/platforms/network"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// onRedis runs a test on an empty Redis.
func onRedis(t *testing.T, test func(t *testing.T, l *ratelimit.Limiter)) {
	t.Helper()
	l, _ := open(t, enginetest.Redis(t))
	test(t, l)
}

// open has a long Redis timeout, so that a busy machine does not look like a failing
// Redis.
func open(t *testing.T, url string) (*ratelimit.Limiter, *syncBuffer) {
	t.Helper()
	return openWithin(t, url, 30*time.Second)
}

func openWithin(t *testing.T, url string, timeout time.Duration) (*ratelimit.Limiter, *syncBuffer) {
	t.Helper()
	log := &syncBuffer{}
	return ratelimit.New(t.Context(), enginetest.RedisClient(t, url), timeout, slog.New(slog.NewTextHandler(log, nil))),
		log
}

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

func costs(n int) map[network.CallKind]int { return map[network.CallKind]int{network.CallPublish: n} }

// someone returns a caller that no other test uses.
func someone(quotas ...network.Quota) ratelimit.Caller {
	return ratelimit.Caller{
		Network: "test", BaseURL: "https://{" + uuid.NewString() + "}", RemoteID: "1", Quotas: quotas,
	}
}

func take(t *testing.T, l *ratelimit.Limiter, c ratelimit.Caller) ratelimit.Grant {
	t.Helper()
	return l.Acquire(t.Context(), c, network.CallPublish)
}

// burst requests many tokens concurrently and counts those that it gets.
func burst(t *testing.T, l *ratelimit.Limiter, c ratelimit.Caller, n int) (passed int) {
	t.Helper()
	var ok atomic.Int32
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if take(t, l, c).OK {
				ok.Add(1)
			}
		})
	}
	all.Wait()
	return int(ok.Load())
}

func account(name string, requests int, per time.Duration) network.Quota {
	return network.Quota{Bucket: name, Scope: network.ScopeAccount, Requests: requests, Per: per, Costs: costs(1)}
}

func TestAcquire_AllowsAllWithoutLimits(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		if n := burst(t, l, someone(), 500); n != 500 {
			t.Errorf("%d of 500 passed", n)
		}
		q := account("posts", 3, time.Hour)
		q.Default = true
		if n := burst(t, l, someone(q), 100); n != 100 {
			t.Errorf("%d of 100 passed a limit that is only usual", n)
		}
	})
}

func TestAcquire_AllowsExactlyTheLimit(t *testing.T) {
	for name, q := range map[string]network.Quota{
		"Even": account("posts", 100, 24*time.Hour),
		"Fixed": {
			Bucket: "posts", Scope: network.ScopeAccount, Requests: 100, Per: 1000 * 24 * time.Hour,
			FixedWindow: true, Costs: costs(1),
		},
		"App":  {Bucket: "posts", Scope: network.ScopeApp, Requests: 100, Per: 24 * time.Hour, Costs: costs(1)},
		"Cost": {Bucket: "points", Scope: network.ScopeAccount, Requests: 302, Per: 24 * time.Hour, Costs: costs(3)},
	} {
		t.Run(name, func(t *testing.T) {
			onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
				c := someone(q)
				if n := burst(t, l, c, 300); n != 100 {
					t.Errorf("%d passed, want 100", n)
				}
				grant := take(t, l, c)
				if grant.OK || grant.Bucket != q.Bucket || grant.Scope != q.Scope || !grant.RetryAt.After(time.Now()) {
					t.Errorf("one more: %+v", grant)
				}
			})
		})
	}
}

func TestTokens_RefillEvenly(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(account("posts", 10, 2*time.Second))
		began := time.Now()
		passed := 0
		for passed < 15 {
			grant := take(t, l, c)
			if grant.OK {
				passed++
				continue
			}
			if wait := time.Until(grant.RetryAt); wait > 2*time.Second {
				t.Fatalf("the next one waits %s", wait)
			}
			time.Sleep(time.Until(grant.RetryAt))
		}
		// Ten immediately and one more every 200 ms; the upper bound includes the
		// machine's delays.
		if took := time.Since(began); took < 990*time.Millisecond {
			t.Errorf("15 passed in %s", took)
		}
	})
}

func TestAcquire_SpreadsRetryTimes(t *testing.T) {
	l, _ := open(t, enginetest.Redis(t))
	c := someone(account("posts", 1, time.Hour))
	var mu sync.Mutex
	var until []time.Time
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			grant := take(t, l, c)
			mu.Lock()
			defer mu.Unlock()
			until = append(until, grant.RetryAt)
		})
	}
	all.Wait()
	for _, at := range until {
		if !at.IsZero() && time.Until(at) < 59*time.Minute {
			t.Errorf("one may retry at %s", at)
		}
	}
}

func TestAcquire_TakesAllBucketsOrNone(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		app := network.Quota{Bucket: "all", Scope: network.ScopeApp, Requests: 5, Per: 24 * time.Hour, Costs: costs(1)}
		first := someone(account("posts", 4, 24*time.Hour), app)
		second := first
		second.RemoteID = "2"
		if n := burst(t, l, first, 20); n != 4 {
			t.Errorf("%d of the first account passed, want 4", n)
		}
		// Those that the account's bucket refused took no token of the app's.
		if n := burst(t, l, second, 20); n != 1 {
			t.Errorf("%d of the second account passed, want 1", n)
		}
		if grant := take(t, l, second); grant.Scope != network.ScopeApp || grant.Bucket != "all" {
			t.Errorf("refused by %+v", grant)
		}
	})
}

func TestRelease_ReturnsTokens(t *testing.T) {
	fixed := account("posts", 3, 1000*24*time.Hour)
	fixed.FixedWindow = true
	for name, q := range map[string]network.Quota{"Even": account("posts", 3, 24*time.Hour), "Fixed": fixed} {
		t.Run(name, func(t *testing.T) {
			onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
				c := someone(q)
				var tokens []ratelimit.Token
				for range 3 {
					tokens = append(tokens, take(t, l, c).Token)
				}
				for _, p := range tokens[:2] {
					l.Release(t.Context(), p)
				}
				l.Release(t.Context(), ratelimit.Token{})
				if n := burst(t, l, c, 10); n != 2 {
					t.Errorf("%d passed, want the 2 that were released", n)
				}
			})
		})
	}
}

func said(limit, remaining int, reset time.Duration) []network.RateStatus {
	return []network.RateStatus{
		{
			Bucket: "posts", Scope: network.ScopeAccount, Limit: limit, Remaining: remaining,
			ResetAt: time.Now().Add(reset),
		},
	}
}

func TestObserve_ReportOverridesDeclared(t *testing.T) {
	usual := account("posts", 10, 3*time.Hour)
	usual.Default = true
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		for name, q := range map[string]network.Quota{"Usual": usual, "Declared": account("posts", 10, 3*time.Hour)} {
			c := someone(q)
			// More than documented.
			l.Observe(t.Context(), c, network.CallPublish, said(50, 40, time.Hour), nil)
			if n := burst(t, l, c, 10); n != 10 {
				t.Errorf("%s: %d of 10 passed", name, n)
			}
			// Another program used the account: fewer are left than counted here.
			l.Observe(t.Context(), c, network.CallPublish, said(50, 5, time.Hour), nil)
			// A response from before then, and one of a period that ends earlier.
			l.Observe(t.Context(), c, network.CallPublish, said(50, 45, time.Hour), nil)
			l.Observe(t.Context(), c, network.CallPublish, said(50, 45, 30*time.Minute), nil)
			if n := burst(t, l, c, 30); n != 5 {
				t.Errorf("%s: %d passed, want the 5 that are left", name, n)
			}
			grant := take(t, l, c)
			if wait := time.Until(grant.RetryAt); grant.OK || wait < 59*time.Minute || wait > 61*time.Minute {
				t.Errorf("%s: waits %s, want until the reset", name, wait)
			}
			buckets, err := l.Buckets(t.Context(), c)
			require.NoError(t, err, "%s: %+v, %v", name, buckets, err)
			require.Equal(t, 50, buckets[0].Limit, "%s: %+v, %v", name, buckets, err)
			require.Equal(t, 0, buckets[0].Available(time.Now()), "%s: %+v, %v", name, buckets, err)
			require.True(t, buckets[0].Reported, "%s: %+v, %v", name, buckets, err)
			require.Equal(t, time.Duration(0), buckets[0].Per, "%s: %+v, %v", name, buckets, err)
			l.Observe(t.Context(), c, network.CallPublish, said(50, 20, 4*time.Hour), nil)
			if n := burst(t, l, c, 30); n != 20 {
				t.Errorf("%s: %d of the next period passed, want 20", name, n)
			}
		}
	})
}

func TestWindow_StartsAgainAfterItsEnd(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(account("posts", 10, 3*time.Hour))
		l.Observe(t.Context(), c, network.CallPublish, said(7, 0, 300*time.Millisecond), nil)
		grant := take(t, l, c)
		if grant.OK {
			t.Fatal("passed before the reset")
		}
		time.Sleep(time.Until(grant.RetryAt) + 5*time.Millisecond)
		if n := burst(t, l, c, 30); n != 7 {
			t.Errorf("%d passed after the reset, want 7", n)
		}
		// The end of that period was a guess, which a report replaces.
		l.Observe(t.Context(), c, network.CallPublish, said(7, 3, time.Hour), nil)
		if grant := take(t, l, c); grant.OK || time.Until(grant.RetryAt) > 61*time.Minute {
			t.Errorf("%+v", grant)
		}
	})
}

func TestObserve_WithoutResetOnlyLowers(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(account("posts", 100, 24*time.Hour))
		rate := said(100, 10, 0)
		rate[0].ResetAt = time.Time{}
		l.Observe(t.Context(), c, network.CallPublish, rate, nil)
		rate[0].Remaining = 90
		l.Observe(t.Context(), c, network.CallPublish, rate, nil)
		if n := burst(t, l, c, 50); n != 10 {
			t.Errorf("%d passed, want 10", n)
		}
	})
}

func TestRefusal_ClosesTheBucket(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		for _, scope := range []network.Scope{network.ScopeAccount, network.ScopeApp} {
			c := someone() // no limits are known
			other := c
			other.RemoteID = "2"
			at := time.Now().Add(time.Minute)
			l.Observe(t.Context(), c, network.CallPublish, nil, &network.Error{
				Class: network.Throttled, Scope: scope, RetryAt: at,
			})
			grant := take(t, l, c)
			if late := grant.RetryAt.Sub(at); grant.OK || grant.Scope != scope || late < -10*time.Millisecond ||
				late > time.Second {
				t.Errorf("%s: %+v", scope, grant)
			}
			if ok := take(t, l, other).OK; ok != (scope == network.ScopeAccount) {
				t.Errorf("%s: another account passes: %v", scope, ok)
			}
			if !l.Acquire(t.Context(), c, network.CallUpload).OK {
				t.Errorf("%s: uploads are delayed, too", scope)
			}
		}
	})
}

func TestAcquire_AllowsAllWithoutRedis(t *testing.T) {
	url, stop := enginetest.StoppableRedis(t)
	l, log := open(t, url)
	c := someone(account("posts", 1, time.Hour))
	if !take(t, l, c).OK || take(t, l, c).OK {
		t.Fatal("the limit is not enforced")
	}
	stop()
	if n := burst(t, l, c, 200); n != 200 {
		t.Errorf("%d of 200 passed without Redis", n)
	}
	l.Observe(t.Context(), c, network.CallPublish, said(1, 0, time.Hour), nil)
	if lines := strings.Count(log.String(), "Redis does not respond"); lines != 1 {
		t.Errorf("got %d warnings, want 1: %s", lines, log)
	}
}

// A Redis that accepts connections and does not respond must not delay posts.
func TestAcquire_AllowsAllWithSlowRedis(t *testing.T) {
	url := enginetest.Redis(t)
	l, _ := openWithin(t, url, ratelimit.DefaultTimeout)
	c := someone(account("posts", 1, time.Hour))
	for take(t, l, c).OK { // a busy machine lets some pass
	}
	if err := enginetest.RedisClient(t, url).Do(context.Background(), "CLIENT", "PAUSE", "60000", "ALL").
		Err(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if n := burst(t, l, c, 200); n != 200 {
		t.Errorf("%d of 200 passed", n)
	}
	// Far less than the client's own timeout.
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
}

// A caller that cancels does not indicate a Redis failure: limits still apply, and
// nothing is logged.
func TestAcquire_CanceledCallerIsNoRedisFailure(t *testing.T) {
	l, log := open(t, enginetest.Redis(t))
	c := someone(account("posts", 1, time.Hour))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	l.Acquire(canceled, c, network.CallUpload)
	if _, err := l.Buckets(t.Context(), c); err != nil {
		t.Errorf("the limits are not known: %v", err)
	}
	take(t, l, c)
	if take(t, l, c).OK || log.String() != "" {
		t.Errorf("the limit is not enforced: %s", log)
	}
}
