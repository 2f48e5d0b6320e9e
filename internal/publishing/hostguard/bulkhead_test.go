package hostguard_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/publishing/hostguard"
)

func enter(t *testing.T, b *hostguard.Bulkhead, host string) *hostguard.Slot {
	t.Helper()
	call, retry, reason := b.Acquire(host, time.Now(), true)
	if call == nil {
		t.Fatalf("%s may not be called until %s: %s", host, retry, reason)
	}
	return call
}

func wantRefused(t *testing.T, b *hostguard.Bulkhead, host string, want hostguard.Reason) time.Time {
	t.Helper()
	call, retry, reason := b.Acquire(host, time.Now(), true)
	if call != nil || reason != want || !retry.After(time.Now().Add(-time.Millisecond)) {
		t.Fatalf("call %v, retry %s, reason %q, want %q", call, retry, reason, want)
	}
	return retry
}

// A burst alone is no reason to delay posts.
func TestBulkhead_AllowsAHealthyBurst(t *testing.T) {
	var b hostguard.Bulkhead
	var calls []*hostguard.Slot
	planned := time.Now().Add(time.Hour) // they wait for their time
	for i := range 3000 {
		call, _, reason := b.Acquire("host", planned, true)
		if call == nil {
			t.Fatalf("call %d was refused: %s", i, reason)
		}
		calls = append(calls, call)
	}
	for _, call := range calls {
		call.Release(hostguard.Responded)
	}
}

func TestBulkhead_LimitsCallsInFlight(t *testing.T) {
	b := hostguard.Bulkhead{Options: hostguard.Options{MaxCalls: 10}}
	var mu sync.Mutex
	var got []*hostguard.Slot
	var refused atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			call, _, _ := b.Acquire("host", time.Now(), true)
			if call == nil {
				refused.Add(1)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			got = append(got, call)
		})
	}
	all.Wait()
	if len(got) != 10 || refused.Load() != 90 {
		t.Fatalf("%d entered, %d were refused", len(got), refused.Load())
	}
	wantRefused(t, &b, "host", hostguard.Saturated)
	enter(t, &b, "another host").Release(hostguard.Responded)
	got[0].Release(hostguard.Unknown)
	got[0].Release(hostguard.Unknown) // counts once
	enter(t, &b, "host")
	wantRefused(t, &b, "host", hostguard.Saturated)
}

func TestBulkhead_LimitsSlowCalls(t *testing.T) {
	b := hostguard.Bulkhead{Options: hostguard.Options{MaxCalls: 100, MaxSlow: 3, Slow: 500 * time.Millisecond}}
	hanging := []*hostguard.Slot{enter(t, &b, "host"), enter(t, &b, "host"), enter(t, &b, "host")}
	enter(t, &b, "host")
	time.Sleep(600 * time.Millisecond)
	wantRefused(t, &b, "host", hostguard.Saturated)
	for _, call := range hanging {
		call.Release(hostguard.Responded)
	}
	enter(t, &b, "host")
}

func TestBreaker_OpensProbesAndCloses(t *testing.T) {
	const pause = 300 * time.Millisecond
	b := hostguard.Bulkhead{Options: hostguard.Options{Failures: 3, Pause: pause, MaxPause: 3 * pause}}
	early := enter(t, &b, "host")
	for i := range 5 {
		// A response in between resets the count.
		v := hostguard.Failed
		if i == 1 {
			v = hostguard.Responded
		}
		enter(t, &b, "host").Release(v)
	}
	retry := wantRefused(t, &b, "host", hostguard.CircuitOpen)
	enter(t, &b, "another host").Release(hostguard.Failed)
	early.Release(hostguard.Failed) // started before
	time.Sleep(time.Until(retry) + time.Millisecond)

	probe := enter(t, &b, "host")
	wantRefused(t, &b, "host", hostguard.CircuitOpen) // the others wait for the probe
	before := time.Now()
	probe.Release(hostguard.Failed)
	if retry = wantRefused(t, &b, "host", hostguard.CircuitOpen); retry.Sub(before) < 2*pause {
		t.Errorf("after a failed probe the pause is %s, want twice the first", retry.Sub(before))
	}
	time.Sleep(time.Until(retry) + time.Millisecond)

	enter(t, &b, "host") // a probe that hangs
	retry = wantRefused(t, &b, "host", hostguard.CircuitOpen)
	time.Sleep(time.Until(retry) + time.Millisecond)
	enter(t, &b, "host").Release(hostguard.Responded)
	for range 10 {
		enter(t, &b, "host").Release(hostguard.Responded)
	}
}
