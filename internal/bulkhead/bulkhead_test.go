package bulkhead_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dateline/internal/bulkhead"
)

func enter(t *testing.T, b *bulkhead.Bulkhead, host string) *bulkhead.Call {
	t.Helper()
	call, retry, reason := b.Enter(host, time.Now(), true)
	if call == nil {
		t.Fatalf("%s may not be called until %s: %s", host, retry, reason)
	}
	return call
}

func wantRefused(t *testing.T, b *bulkhead.Bulkhead, host string, want bulkhead.Reason) time.Time {
	t.Helper()
	call, retry, reason := b.Enter(host, time.Now(), true)
	if call != nil || reason != want || !retry.After(time.Now().Add(-time.Millisecond)) {
		t.Fatalf("call %v, retry %s, reason %q, want %q", call, retry, reason, want)
	}
	return retry
}

// A crowded second is no reason to hold anybody back.
func TestAHealthyCrowdPasses(t *testing.T) {
	var b bulkhead.Bulkhead
	var calls []*bulkhead.Call
	planned := time.Now().Add(time.Hour) // they wait for their time
	for i := range 3000 {
		call, _, reason := b.Enter("host", planned, true)
		if call == nil {
			t.Fatalf("call %d was refused: %s", i, reason)
		}
		calls = append(calls, call)
	}
	for _, call := range calls {
		call.Leave(bulkhead.Worked)
	}
}

func TestOnlySoManyCallsAreUnderWay(t *testing.T) {
	b := bulkhead.Bulkhead{Options: bulkhead.Options{MaxCalls: 10}}
	var mu sync.Mutex
	var got []*bulkhead.Call
	var refused atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			call, _, _ := b.Enter("host", time.Now(), true)
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
	wantRefused(t, &b, "host", bulkhead.Full)
	enter(t, &b, "another host").Leave(bulkhead.Worked)
	got[0].Leave(bulkhead.Unknown)
	got[0].Leave(bulkhead.Unknown) // counts once
	enter(t, &b, "host")
	wantRefused(t, &b, "host", bulkhead.Full)
}

func TestCallsThatHangFillAHostSooner(t *testing.T) {
	b := bulkhead.Bulkhead{Options: bulkhead.Options{MaxCalls: 100, MaxSlow: 3, Slow: 500 * time.Millisecond}}
	hanging := []*bulkhead.Call{enter(t, &b, "host"), enter(t, &b, "host"), enter(t, &b, "host")}
	enter(t, &b, "host")
	time.Sleep(600 * time.Millisecond)
	wantRefused(t, &b, "host", bulkhead.Full)
	for _, call := range hanging {
		call.Leave(bulkhead.Worked)
	}
	enter(t, &b, "host")
}

func TestABreakerOpensProbesAndCloses(t *testing.T) {
	const pause = 300 * time.Millisecond
	b := bulkhead.Bulkhead{Options: bulkhead.Options{Failures: 3, Pause: pause, MaxPause: 3 * pause}}
	early := enter(t, &b, "host")
	for i := range 5 {
		// An answer in between begins the count anew.
		v := bulkhead.Failed
		if i == 1 {
			v = bulkhead.Worked
		}
		enter(t, &b, "host").Leave(v)
	}
	retry := wantRefused(t, &b, "host", bulkhead.Broken)
	enter(t, &b, "another host").Leave(bulkhead.Failed)
	early.Leave(bulkhead.Failed) // was under way already
	time.Sleep(time.Until(retry) + time.Millisecond)

	probe := enter(t, &b, "host")
	wantRefused(t, &b, "host", bulkhead.Broken) // the others wait for the probe
	before := time.Now()
	probe.Leave(bulkhead.Failed)
	if retry = wantRefused(t, &b, "host", bulkhead.Broken); retry.Sub(before) < 2*pause {
		t.Errorf("after a failed probe the pause is %s, want twice the first", retry.Sub(before))
	}
	time.Sleep(time.Until(retry) + time.Millisecond)

	enter(t, &b, "host") // a probe that hangs
	retry = wantRefused(t, &b, "host", bulkhead.Broken)
	time.Sleep(time.Until(retry) + time.Millisecond)
	enter(t, &b, "host").Leave(bulkhead.Worked)
	for range 10 {
		enter(t, &b, "host").Leave(bulkhead.Worked)
	}
}
