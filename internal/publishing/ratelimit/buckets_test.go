package ratelimit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/ratelimit"
	"dateline/internal/testing/enginetest"
	"dateline/platforms/network"
)

// near reports whether a time is a duration from now, give or take two seconds.
func near(at time.Time, want time.Duration) bool {
	return (time.Until(at) - want).Abs() < 2*time.Second
}

// bucketOf reads the state of one bucket of an account.
func bucketOf(
	t *testing.T, l *ratelimit.Limiter, c ratelimit.Caller, name string, scope network.Scope,
) ratelimit.Bucket {
	t.Helper()
	all, err := l.Buckets(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if b.Name == name && b.Scope == scope {
			return b
		}
	}
	t.Fatalf("no bucket %q in %+v", name, all)
	return ratelimit.Bucket{}
}

// The limits page of an account shows when posts can be sent again.
func TestBuckets_ReportTheirReset(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c, ctx := someone(declared(300)), t.Context()
		if b := bucketOf(t, l, c, "posts", network.ScopeAccount); b.Enforced || b.Reported {
			t.Errorf("a usual limit that was not reported: got %+v, want one that delays nothing", b)
		}
		l.Observe(ctx, c, network.CallPublish, report(300, 7, time.Now().Add(time.Minute)), nil)
		b := bucketOf(t, l, c, "posts", network.ScopeAccount)
		require.True(t, b.Enforced)
		require.True(t, b.Reported)
		require.Equal(t, 300, b.Limit)
		require.Equal(t, 7, b.Available(time.Now()))
		require.True(t, near(b.ResetAt, time.Minute))
		require.True(t, b.ClosedUntil.IsZero())
		l.Observe(ctx, c, network.CallPublish, nil, &network.Error{
			Class: network.Throttled, Scope: network.ScopeAccount, RetryAt: time.Now().Add(30 * time.Second),
		})
		b = bucketOf(t, l, c, "posts", network.ScopeAccount)
		if !near(b.ClosedUntil, 30*time.Second) || b.Available(time.Now()) != 0 {
			t.Errorf("after a refusal: got %+v, want none left and closed for 30s", b)
		}
	})
}

// Without Redis only documented limits are known.
func TestDeclared_ListsDocumentedLimits(t *testing.T) {
	var names []string
	for _, b := range ratelimit.DeclaredBuckets(someone(account("posts", 25, 24*time.Hour), declared(300))) {
		if b.Name == "posts" && b.Scope == network.ScopeAccount && !b.Reported {
			names = append(names, b.Per.String())
		}
	}
	if len(names) == 0 || names[0] != "24h0m0s" {
		t.Errorf("got limits with the periods %v, want 24h0m0s first", names)
	}
}

func TestBuckets_FailWithoutRedis(t *testing.T) {
	url, stop := enginetest.StoppableRedis(t)
	l, _ := open(t, url)
	c := someone(account("posts", 3, time.Hour))
	stop()
	if got, err := l.Buckets(t.Context(), c); err == nil {
		t.Errorf("Redis has stopped: got %+v, want an error", got)
	}
	take(t, l, c) // detects that Redis is down
	if got, err := l.Buckets(t.Context(), c); !errors.Is(err, ratelimit.ErrUnavailable) {
		t.Errorf("Redis is known to be down: got %+v, %v, want ErrAway", got, err)
	}
}

// Reading the limits must not use up the probes that follow a refusal.
func TestBuckets_ChangeNothing(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(declared(300))
		l.Observe(t.Context(), c, network.CallPublish, nil, &network.Error{
			Class: network.Throttled, Scope: network.ScopeAccount,
		})
		time.Sleep(time.Until(take(t, l, c).RetryAt) + 10*time.Millisecond)
		for range 5 {
			bucketOf(t, l, c, "posts", network.ScopeAccount)
		}
		if grant := take(t, l, c); !grant.OK {
			t.Errorf("after the pause: got %+v, want a probe", grant)
		}
	})
}

// A quota without a number delays nothing.
func TestAcquire_UnknownLimitAllowsAll(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		if got := burst(t, l, someone(account("posts", 0, time.Hour)), 50); got != 50 {
			t.Errorf("got %d tokens, want 50", got)
		}
	})
}

// A call waits until the last of its buckets opens.
func TestAcquire_WaitsForTheLastBucket(t *testing.T) {
	onRedis(t, func(t *testing.T, l *ratelimit.Limiter) {
		c := someone(account("posts", 300, time.Hour), network.Quota{
			Bucket: "app", Scope: network.ScopeApp, Requests: 300, Per: time.Hour, Costs: costs(1),
		})
		for scope, wait := range map[network.Scope]time.Duration{
			network.ScopeAccount: time.Minute,
			network.ScopeApp:     10 * time.Second,
		} {
			l.Observe(t.Context(), c, network.CallPublish, nil, &network.Error{
				Class: network.Throttled, Scope: scope, RetryAt: time.Now().Add(wait),
			})
		}
		if grant := take(t, l, c); grant.OK || grant.Bucket != "posts" || !near(grant.RetryAt, time.Minute) {
			t.Errorf("got %+v, want to wait a minute for the bucket of the account", grant)
		}
	})
}

// Redis stores the state of a bucket for as long as it matters, and no longer.
func TestKeys_Expire(t *testing.T) {
	refused := func(in time.Duration) *network.Error {
		e := &network.Error{Class: network.Throttled, Scope: network.ScopeAccount}
		if in > 0 {
			e.RetryAt = time.Now().Add(in)
		}
		return e
	}
	fixed := account("posts", 5, time.Hour)
	fixed.FixedWindow = true
	for name, row := range map[string]struct {
		quota    network.Quota
		use      func(l *ratelimit.Limiter, c ratelimit.Caller)
		from, to time.Duration
	}{
		"Even": {
			account("posts", 5, time.Hour), func(l *ratelimit.Limiter, c ratelimit.Caller) { take(t, l, c) },
			10 * time.Minute, 13 * time.Minute,
		},
		"Fixed": {
			fixed, func(l *ratelimit.Limiter, c ratelimit.Caller) { take(t, l, c) }, 0,
			time.Hour + 2*time.Second,
		},
		"RefusedUntil": {declared(300), func(l *ratelimit.Limiter, c ratelimit.Caller) {
			l.Observe(t.Context(), c, network.CallPublish, nil, refused(time.Minute))
		}, 55 * time.Second, 65 * time.Second},
		// A second refusal soon afterwards pauses for longer.
		"Refused": {declared(300), func(l *ratelimit.Limiter, c ratelimit.Caller) {
			l.Observe(t.Context(), c, network.CallPublish, nil, refused(0))
		}, 9 * time.Minute, 11 * time.Minute},
		"Reported": {declared(300), func(l *ratelimit.Limiter, c ratelimit.Caller) {
			l.Observe(t.Context(), c, network.CallPublish, report(300, 7, time.Now().Add(time.Minute)), nil)
			take(t, l, c)
		}, 6 * 24 * time.Hour, 8 * 24 * time.Hour},
		"Waiting": {declared(300), func(l *ratelimit.Limiter, c ratelimit.Caller) {
			l.AddWaiter(t.Context(), c, network.CallPublish,
				ratelimit.Wait{Scope: network.ScopeAccount, Bucket: "posts", Until: time.Now().Add(10 * time.Minute)},
				uuid.New())
		}, 10 * time.Minute, 12 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			url := enginetest.Redis(t)
			l, _ := open(t, url)
			row.use(l, someone(row.quota))
			client := enginetest.RedisClient(t, url)
			keys, err := client.Keys(t.Context(), "*").Result()
			if err != nil || len(keys) == 0 {
				t.Fatalf("got the keys %v, %v, want some", keys, err)
			}
			for _, key := range keys {
				if ttl := client.PTTL(t.Context(), key).Val(); ttl < row.from || ttl > row.to {
					t.Errorf("%s expires in %s, want between %s and %s", key, ttl, row.from, row.to)
				}
			}
		})
	}
}
