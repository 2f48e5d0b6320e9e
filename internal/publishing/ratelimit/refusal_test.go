package ratelimit_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/ratelimit"
	"dateline/internal/testing/enginetest"
	"dateline/platforms/network"
)

func refusal(in time.Duration) *network.Error {
	return &network.Error{Class: network.Throttled, Scope: network.ScopeAccount, RetryAt: time.Now().Add(in)}
}

// Of several refusals the latest end counts.
func TestRefusal_ALaterOneExtendsTheWait(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(declared(300))
		for i, row := range []struct{ retryAfter, want time.Duration }{
			{10 * time.Second, 10 * time.Second},
			{time.Minute, time.Minute},
			{20 * time.Second, time.Minute},
		} {
			l.Observe(t.Context(), c, network.CallPublish, nil, refusal(row.retryAfter))
			if grant := take(t, l, c); grant.OK || !near(grant.RetryAt, row.want) {
				t.Errorf("refusal %d: got a wait of %s, want %s", i+1, time.Until(grant.RetryAt), row.want)
			}
		}
	})
}

// Once a network has named the end of its refusal, all calls may be made after it.
func TestRefusal_WithAnEndNeedsNoProbes(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(declared(300))
		l.Observe(t.Context(), c, network.CallPublish, nil, &network.Error{
			Class: network.Throttled, Scope: network.ScopeAccount,
		})
		l.Observe(t.Context(), c, network.CallPublish, nil, refusal(1200*time.Millisecond))
		time.Sleep(1250 * time.Millisecond)
		if got := burst(t, l, c, 30); got != 30 {
			t.Errorf("after the end: got %d tokens, want 30", got)
		}
	})
}

// A call that was already in flight in the same window proves nothing.
func TestRefusal_StaysInItsWindow(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c, reset := someone(declared(300)), time.Now().Add(time.Minute)
		l.Observe(t.Context(), c, network.CallPublish, report(300, 9, reset), refusal(time.Hour))
		l.Observe(t.Context(), c, network.CallPublish, report(300, 8, reset), nil)
		if grant := take(t, l, c); grant.OK || !near(grant.RetryAt, time.Hour) {
			t.Errorf("got %+v, want to wait an hour", grant)
		}
	})
}

// Posts that wait because of a refusal without an end are sent when a call succeeds.
func TestWait_EndsWhenARefusedBucketOpens(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c, post := someone(), uuid.New()
		l.Observe(t.Context(), c, network.CallPublish, nil, &network.Error{
			Class: network.Throttled, Scope: network.ScopeAccount,
		})
		l.AddWaiter(t.Context(), c, network.CallPublish,
			ratelimit.Wait{Scope: network.ScopeAccount, Until: time.Now().Add(time.Minute)}, post)
		if woken := l.Observe(t.Context(), c, network.CallPublish, nil, nil); len(woken) != 1 || woken[0] != post {
			t.Errorf("woken %v, want %v", woken, post)
		}
	})
}

// Refusals without an end cause longer pauses each time, up to half a minute, until a
// call succeeds.
func TestRefusal_PausesGrowUntilASuccess(t *testing.T) {
	url := enginetest.Redis(t)
	l, _ := open(t, url)
	c, client := someone(declared(300)), enginetest.RedisClient(t, url)
	refused := &network.Error{Class: network.Throttled, Scope: network.ScopeAccount}
	for i, want := range []int{1, 2, 4, 8, 16, 30, 30} {
		l.Observe(t.Context(), c, network.CallPublish, nil, refused)
		wait := bucketOf(t, l, c, "posts", network.ScopeAccount).ClosedUntil
		if got := time.Until(wait).Seconds(); got > float64(want) || got < float64(want)-0.7 {
			t.Errorf("refusal %d: got a pause of %.1fs, want %ds", i+1, got, want)
		}
		for _, key := range client.Keys(t.Context(), "*").Val() {
			client.HSet(t.Context(), key, "closed", 0) // as if it had passed
		}
	}
	l.Observe(t.Context(), c, network.CallPublish, nil, nil)
	l.Observe(t.Context(), c, network.CallPublish, nil, refused)
	if wait := time.Until(bucketOf(t, l, c, "posts", network.ScopeAccount).ClosedUntil); wait > time.Second {
		t.Errorf("after a success: got a pause of %s, want 1s", wait)
	}
}

// Posts that wait for the end of a refusal are sent when a call in a newer window
// succeeds.
func TestWait_EndsWhenANewerWindowLiftsTheRefusal(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c, post, reset := someone(declared(300)), uuid.New(), time.Now().Add(time.Minute)
		l.Observe(t.Context(), c, network.CallPublish, report(300, 0, reset), refusal(time.Hour))
		l.AddWaiter(t.Context(), c, network.CallPublish,
			ratelimit.Wait{Scope: network.ScopeAccount, Until: time.Now().Add(30 * time.Minute)}, post)
		if woken := l.Observe(t.Context(), c, network.CallPublish, report(300, 299, reset.Add(5*time.Minute)),
			nil); len(woken) != 1 || woken[0] != post {
			t.Errorf("woken %v, want %v", woken, post)
		}
	})
}

// The responses of a burst reach Redis together. Within one window the lowest remainder
// counts, and the latest end of a refusal.
func TestObserve_ResponsesOfABurstAddUp(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		for range 5 {
			c, reset := someone(declared(300)), time.Now().Add(time.Minute)
			var all sync.WaitGroup
			for i := range 60 {
				all.Go(func() {
					l.Observe(t.Context(), c, network.CallPublish, report(300, 100+(i*37)%60, reset), nil)
				})
			}
			all.Wait()
			if got := bucketOf(t, l, c, "posts", network.ScopeAccount).Remaining; got != 100 {
				t.Errorf("after the burst: got %d left, want 100", got)
			}
			for i := range 60 {
				all.Go(func() {
					l.Observe(t.Context(), c, network.CallPublish, nil,
						refusal(time.Duration(10+(i*37)%60)*time.Second))
				})
			}
			all.Wait()
			if got := bucketOf(t, l, c, "posts", network.ScopeAccount).ClosedUntil; !near(got, 69*time.Second) {
				t.Errorf("after the refusals: closed for %s, want 69s", time.Until(got))
			}
		}
	})
}
