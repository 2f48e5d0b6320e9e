package throttle

import (
	"testing"
	"time"
)

func TestANetworkIsOneClient(t *testing.T) {
	r := New(2, time.Minute)
	r.key = [32]byte{} // unless clients share a slot, which is very unlikely
	now := time.Now()
	for i, c := range []struct {
		address string
		may     bool
	}{
		{"2001:db8::1", true},
		{"2001:db8::2", true},
		{"2001:db8::3", false},
		{"2001:db8:0:1::1", true},
		{"192.0.2.1", true},
		{"::ffff:192.0.2.1", true},
		{"192.0.2.1", false},
		{"no address", true},
	} {
		wait, got := r.Allow(ClientKey(c.address), now)
		if got != c.may || (wait == time.Minute) == c.may {
			t.Errorf("%d, %s: %v, %s", i, c.address, got, wait)
		}
	}
	one := func(at time.Time) bool { _, ok := r.Allow(ClientKey("192.0.2.1"), at); return ok }
	if !one(now.Add(time.Minute)) || one(now.Add(time.Minute)) {
		t.Error("tokens are not refilled one by one")
	}
}

func TestSoManyASecond(t *testing.T) {
	if _, ok := PerSecond(0).Allow("anybody", time.Now()); !ok {
		t.Error("without a limit, requests are refused")
	}
	r, now := PerSecond(20), time.Now()
	passed := func(times int) (n int) {
		for range times {
			if _, ok := r.Allow("somebody", now); ok {
				n++
			}
		}
		return n
	}
	if n := passed(1000); n != 200 {
		t.Errorf("%d at once", n)
	}
	now = now.Add(time.Second)
	if n := passed(1000); n != 20 {
		t.Errorf("%d after a second", n)
	}
}
