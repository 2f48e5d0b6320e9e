package ratelimit_test

import (
	"testing"
	"time"

	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

// A share leaves the rest of a limit to posts, whether the limit is documented or
// reported, and whether posts or other readings used the rest.
func TestAcquireShare_LeavesTheRestToPosts(t *testing.T) {
	t.Parallel()
	both := map[network.CallKind]int{network.CallPublish: 1, network.CallMeasure: 1}
	for name, quota := range map[string]network.Quota{
		"Fixed": {
			Bucket: "calls", Scope: network.ScopeAccount, Requests: 10, Per: time.Hour, FixedWindow: true,
			Costs: both,
		},
		"Even": {Bucket: "calls", Scope: network.ScopeAccount, Requests: 10, Per: time.Hour, Costs: both},
		"Shared": {
			Bucket: "calls", Scope: network.ScopeApp, Requests: 10, Per: time.Hour, FixedWindow: true,
			Costs: both,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
				c := someone(quota)
				granted := 0
				for range 10 {
					if l.AcquireShare(t.Context(), c, network.CallMeasure, 30).OK {
						granted++
					}
				}
				if granted != 3 {
					t.Errorf("measuring calls: got %d, want 3 of 10", granted)
				}
				refused := l.AcquireShare(t.Context(), c, network.CallMeasure, 30)
				if refused.OK || refused.Bucket != "calls" || !refused.RetryAt.After(time.Now()) {
					t.Errorf("got %+v, want a refusal with a time", refused)
				}
				for n := range 7 {
					if !take(t, l, c).OK {
						t.Fatalf("post %d was refused, want the other 7 calls for posts", n+1)
					}
				}
			})
		})
	}
}

// Posts that used most of a limit leave nothing to measuring.
func TestAcquireShare_WaitsWhilePostsUseTheLimit(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(network.Quota{
			Bucket: "calls", Scope: network.ScopeAccount, Requests: 300, Per: 5 * time.Minute,
			FixedWindow: true, Default: true,
			Costs: map[network.CallKind]int{network.CallMeasure: 1},
		})
		report := func(remaining int) {
			l.Observe(t.Context(), c, network.CallMeasure,
				[]network.RateStatus{{
					Bucket: "calls", Scope: network.ScopeAccount, Limit: 300, Remaining: remaining,
					ResetAt: time.Now().Add(4 * time.Minute),
				}}, nil)
		}
		report(280)
		if !l.AcquireShare(t.Context(), c, network.CallMeasure, 30).OK {
			t.Error("refused although 280 of 300 calls are left")
		}
		report(205)
		got := l.AcquireShare(t.Context(), c, network.CallMeasure, 30)
		if got.OK {
			t.Error("granted although the account has used 95 of 300 calls, which is more than 30 percent")
		}
		if until := time.Until(got.RetryAt); until < 3*time.Minute || until > 5*time.Minute {
			t.Errorf("retry in %v, want when the limit resets in 4 minutes", until)
		}
	})
}

// A 429 closes the bucket for measuring until the time that the network named.
func TestAcquireShare_FollowsThe429(t *testing.T) {
	t.Parallel()
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(network.Quota{
			Bucket: "calls", Scope: network.ScopeAccount, Requests: 300, Per: 5 * time.Minute,
			FixedWindow: true,
			Costs:       map[network.CallKind]int{network.CallMeasure: 1},
		})
		until := time.Now().Add(3 * time.Minute)
		l.Observe(t.Context(), c, network.CallMeasure, nil, &network.Error{
			Class: network.Throttled, Scope: network.ScopeAccount, RetryAt: until,
		})
		if got := l.AcquireShare(t.Context(), c, network.CallMeasure, 30); got.OK ||
			got.RetryAt.Sub(until).Abs() > 5*time.Second {
			t.Errorf("got %+v, want a refusal until %v", got, until)
		}
	})
}
