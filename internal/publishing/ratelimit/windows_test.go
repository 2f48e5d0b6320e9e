package ratelimit_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/ratelimit"
	"dateline/internal/testing/enginetest"
	"dateline/platforms/network"
)

// report is a server's report: the calls left until a reset.
func report(limit, remaining int, reset time.Time) []network.RateStatus {
	return []network.RateStatus{
		{Bucket: "posts", Scope: network.ScopeAccount, Limit: limit, Remaining: remaining, ResetAt: reset},
	}
}

// declared is a quota like Mastodon's: usual, fixed, three hours.
func declared(limit int) network.Quota {
	q := account("posts", limit, 3*time.Hour)
	q.FixedWindow, q.Default = true, true
	return q
}

func TestWindow_IsOpenAfterItsReset(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		// The limit is the declared one; the window is not.
		c := someone(declared(20))
		l.Observe(t.Context(), c, network.CallPublish, report(20, 0, time.Now().Add(300*time.Millisecond)), nil)
		time.Sleep(310 * time.Millisecond)
		if got := burst(t, l, c, 30); got != 20 {
			t.Errorf("after the reset: got %d tokens, want the limit of 20", got)
		}
		// No response has reported more: the next calls wait for a probe, not for
		// hours.
		grant := take(t, l, c)
		if wait := time.Until(grant.RetryAt); grant.OK || wait > 6*time.Second {
			t.Errorf("the next waits %s, want at most 6s", wait)
		}
	})
}

func TestWindow_ProbesWhenNothingIsKnown(t *testing.T) {
	if testing.Short() {
		t.Skip("waits five seconds")
	}
	l, _ := open(t, enginetest.Redis(t))
	c := someone(declared(20))
	l.Observe(t.Context(), c, network.CallPublish, report(20, 0, time.Now().Add(50*time.Millisecond)), nil)
	time.Sleep(60 * time.Millisecond)
	burst(t, l, c, 20)
	grant := take(t, l, c)
	time.Sleep(time.Until(grant.RetryAt) + 10*time.Millisecond)
	if got := burst(t, l, c, 20); got != 3 {
		t.Errorf("got %d probes, want 3", got)
	}
	if wait := time.Until(take(t, l, c).RetryAt); wait < 9*time.Second || wait > 11*time.Second {
		t.Errorf("the next probes go out in %s, want 10s", wait)
	}
	// A response to a probe reports that 3 of the window are used.
	l.Observe(t.Context(), c, network.CallPublish, report(20, 17, time.Now().Add(time.Hour)), nil)
	if got := burst(t, l, c, 30); got != 17 {
		t.Errorf("after the response: got %d tokens, want 17", got)
	}
}

func TestPeriod_ReportedOverridesDeclared(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(declared(10))
		r := report(10, 0, time.Now().Add(200*time.Millisecond))
		r[0].Per = 5 * time.Minute
		l.Observe(t.Context(), c, network.CallPublish, r, nil)
		time.Sleep(210 * time.Millisecond)
		if got := burst(t, l, c, 30); got != 10 {
			t.Errorf("got %d tokens, want 10", got)
		}
		if wait := time.Until(take(t, l, c).RetryAt); wait < 4*time.Minute || wait > 5*time.Minute+time.Second {
			t.Errorf("the next waits %s, want the reported 5m", wait)
		}
	})
}

func TestPeriod_IsLearnedFromTwoResets(t *testing.T) {
	if testing.Short() {
		t.Skip("waits two windows")
	}
	l, _ := open(t, enginetest.Redis(t))
	c := someone(declared(300))
	first := time.Now().Add(time.Second)
	l.Observe(t.Context(), c, network.CallPublish, report(300, 0, first), nil)
	time.Sleep(time.Until(first) + 20*time.Millisecond)
	second := first.Add(4 * time.Second)
	l.Observe(t.Context(), c, network.CallPublish, report(300, 299, second), nil)
	buckets, err := l.Buckets(t.Context(), c)
	if err != nil || (buckets[0].Per-4*time.Second).Abs() > 100*time.Millisecond {
		t.Errorf("got a period of %s (%v), want 4s", buckets[0].Per, err)
	}
	// A reset that moves with every call does not define a period.
	l.Observe(t.Context(), c, network.CallPublish, report(300, 298, second.Add(3*time.Second)), nil)
	if buckets, _ = l.Buckets(t.Context(), c); buckets[0].Per != 0 && buckets[0].Per < 4*time.Second {
		t.Errorf("got a period of %s from a reset that had not passed", buckets[0].Per)
	}
}

func TestPeriod_DeclaredIsTrustedWhenReportsAgree(t *testing.T) {
	l, _ := open(t, enginetest.Redis(t))
	aligned := time.Now().Truncate(3 * time.Hour).Add(3 * time.Hour)
	if time.Until(aligned) < 2*time.Minute { // a reset would be in the past
		aligned = aligned.Add(3 * time.Hour)
	}
	for name, c := range map[string]struct {
		limit int
		reset time.Time
		want  time.Duration
	}{
		"SameLimitAndGrid": {300, aligned, 3 * time.Hour},
		"OtherLimit":       {50, aligned, 0},
		"OffTheGrid":       {300, aligned.Add(-time.Minute), 0},
	} {
		who := someone(declared(300))
		l.Observe(t.Context(), who, network.CallPublish, report(c.limit, 10, c.reset), nil)
		buckets, err := l.Buckets(t.Context(), who)
		if err != nil || buckets[0].Per != c.want {
			t.Errorf("%s: got a period of %s (%v), want %s", name, buckets[0].Per, err, c.want)
		}
	}
}

func TestWrongReports_DelayNobodyForLong(t *testing.T) {
	for name, lie := range map[string]func() []network.RateStatus{
		"RemainingNeverDecreases": func() []network.RateStatus { return report(1000, 1000, time.Now().Add(time.Hour)) },
		"ResetInThePast":          func() []network.RateStatus { return report(10, 0, time.Now().Add(-time.Hour)) },
		"LimitZero":               func() []network.RateStatus { return report(0, 0, time.Now().Add(time.Hour)) },
	} {
		t.Run(name, func(t *testing.T) {
			onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
				c := someone(declared(300))
				for i := range 100 {
					if grant := take(t, l, c); !grant.OK {
						t.Fatalf("call %d: got %+v, want a token", i, grant)
					}
					l.Observe(t.Context(), c, network.CallPublish, lie(), nil)
				}
			})
		})
	}
}

// A refusal without headers closes the bucket for a pause that grows, and a few calls
// probe whether it is open again.
func TestRefusalWithoutHeaders_PausesAndProbes(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(declared(300))
		refusal := &network.Error{Class: network.Throttled, Scope: network.ScopeAccount}
		l.Observe(t.Context(), c, network.CallPublish, nil, refusal)
		grant := take(t, l, c)
		if wait := time.Until(grant.RetryAt); grant.OK || wait > 1100*time.Millisecond {
			t.Fatalf("after a refusal: got %+v, want a wait of about 1s", grant)
		}
		time.Sleep(time.Until(grant.RetryAt) + 10*time.Millisecond)
		if got := burst(t, l, c, 30); got < 1 || got > 3 {
			t.Errorf("after the pause: got %d tokens, want 1 to 3 probes", got)
		}
		if got := burst(t, l, c, 30); got != 0 {
			t.Errorf("while the probes are in flight: got %d tokens, want 0", got)
		}
		l.Observe(t.Context(), c, network.CallPublish, nil, nil)
		if got := burst(t, l, c, 30); got != 30 {
			t.Errorf("after a success: got %d tokens, want 30", got)
		}
	})
}

func TestWait_IsEndedByALaterResponse(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c, ctx := someone(declared(300)), t.Context()
		l.Observe(ctx, c, network.CallPublish, report(300, 0, time.Now().Add(3*time.Hour)), nil)
		grant := take(t, l, c)
		if grant.OK {
			t.Fatal("got a token from a bucket that is used up")
		}
		wait := func(until time.Time) uuid.UUID {
			id := uuid.New()
			l.AddWaiter(ctx, c, network.CallPublish, ratelimit.Wait{
				Scope: grant.Scope, Bucket: grant.Bucket,
				Until: until,
			}, id)
			return id
		}
		waits := wait(grant.RetryAt)
		if woken := l.Observe(ctx, c, network.CallPublish, report(300, 0, time.Now().Add(3*time.Hour)),
			nil); len(woken) != 0 {
			t.Errorf("woken %v although nothing has changed", woken)
		}
		// The window ends earlier than reported.
		later := time.Now().Add(3*time.Hour + 5*time.Minute)
		if woken := l.Observe(ctx, c, network.CallPublish, report(300, 299, later), nil); len(woken) != 1 ||
			woken[0] != waits {
			t.Errorf("woken %v, want %v", woken, waits)
		}
		wait(later)
		if woken := l.Observe(ctx, c, network.CallPublish, report(300, 0, later), nil); len(woken) != 0 {
			t.Errorf("woken %v, though the bucket is used up until the announced time", woken)
		}
	})
}

// A success in a newer window ends the pause of a refusal.
func TestRefusal_EndsWithANewerWindow(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c, ctx, reset := someone(declared(300)), t.Context(), time.Now().Add(time.Minute)
		l.Observe(ctx, c, network.CallPublish, report(300, 0, reset), &network.Error{
			Class: network.Throttled, Scope: network.ScopeAccount, RetryAt: time.Now().Add(3 * time.Hour),
		})
		l.Observe(ctx, c, network.CallPublish, report(300, 4, reset), nil) // in flight when the other was refused
		if take(t, l, c).OK {
			t.Error("a call of the same window ended the refusal")
		}
		l.Observe(ctx, c, network.CallPublish, report(300, 299, reset.Add(5*time.Minute)), nil)
		if grant := take(t, l, c); !grant.OK {
			t.Errorf("got %+v, want a token in the newer window", grant)
		}
	})
}
