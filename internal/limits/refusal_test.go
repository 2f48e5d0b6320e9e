package limits_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/limits"
	"dateline/platforms/network"
)

func refusal(in time.Duration) *network.Error {
	return &network.Error{Class: network.Throttled, Scope: network.ScopeAccount, RetryAt: time.Now().Add(in)}
}

// Of several refusals the latest end counts.
func TestRefusal_ALaterOneExtendsTheWait(t *testing.T) {
	onEach(t, func(t *testing.T, l *limits.Limiter) {
		c := someone(declared(300))
		for i, row := range []struct{ says, want time.Duration }{{10 * time.Second, 10 * time.Second}, {time.Minute, time.Minute}, {20 * time.Second, time.Minute}} {
			l.Observe(t.Context(), c, network.UsePublish, nil, refusal(row.says))
			if grant := take(t, l, c); grant.OK || !near(grant.Until, row.want) {
				t.Errorf("refusal %d: got a wait of %s, want %s", i+1, time.Until(grant.Until), row.want)
			}
		}
	})
}

// Once a network has named the end of its refusal, everybody may try after it.
func TestRefusal_WithAnEndNeedsNoProbes(t *testing.T) {
	onEach(t, func(t *testing.T, l *limits.Limiter) {
		c := someone(declared(300))
		l.Observe(t.Context(), c, network.UsePublish, nil, &network.Error{Class: network.Throttled, Scope: network.ScopeAccount})
		l.Observe(t.Context(), c, network.UsePublish, nil, refusal(1200*time.Millisecond))
		time.Sleep(1250 * time.Millisecond)
		if got := crowd(t, l, c, 30); got != 30 {
			t.Errorf("after the end: got %d permits, want 30", got)
		}
	})
}

// A call of the same window that was under way meanwhile proves nothing.
func TestRefusal_StaysInItsWindow(t *testing.T) {
	onEach(t, func(t *testing.T, l *limits.Limiter) {
		c, reset := someone(declared(300)), time.Now().Add(time.Minute)
		l.Observe(t.Context(), c, network.UsePublish, report(300, 9, reset), refusal(time.Hour))
		l.Observe(t.Context(), c, network.UsePublish, report(300, 8, reset), nil)
		if grant := take(t, l, c); grant.OK || !near(grant.Until, time.Hour) {
			t.Errorf("got %+v, want to wait an hour", grant)
		}
	})
}

// Posts that wait because of a refusal without an end go out when a call succeeds.
func TestWait_EndsWhenARefusedBucketOpens(t *testing.T) {
	onEach(t, func(t *testing.T, l *limits.Limiter) {
		c, post := someone(), uuid.New()
		l.Observe(t.Context(), c, network.UsePublish, nil, &network.Error{Class: network.Throttled, Scope: network.ScopeAccount})
		l.Wait(t.Context(), c, network.UsePublish, limits.Refusal{Scope: network.ScopeAccount, Until: time.Now().Add(time.Minute)}, post)
		if woken := l.Observe(t.Context(), c, network.UsePublish, nil, nil); len(woken) != 1 || woken[0] != post {
			t.Errorf("woken %v, want %v", woken, post)
		}
	})
}
