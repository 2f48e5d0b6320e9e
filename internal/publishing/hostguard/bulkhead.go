// Package hostguard is a bulkhead and circuit breaker per network host, so that one
// slow or broken host does not delay the posts to others: it bounds how many slow
// calls a host has, and stops calling a host that fails, except for probes.
//
// Its state is local to the process. Calls that it delays cost a host nothing, so
// processes need no shared state.
package hostguard

import (
	"sync"
	"time"
)

// Options of a Bulkhead. A zero field has the default.
type Options struct {
	// MaxCalls is how many calls to one host may be planned or in flight; 10,000,
	// which is what a worker arms at most: a burst has thousands.
	MaxCalls int
	// MaxSlow is how many of them may take longer than Slow; 200 and 5 s. A healthy
	// host has none, also in a burst.
	MaxSlow int
	Slow    time.Duration
	// Failures in a row open the breaker; 10.
	Failures int
	// Pause is how long it stays open at first, doubled with every probe that
	// fails up to MaxPause; 2 s and 1 min.
	Pause, MaxPause time.Duration
}

func (o Options) orDefaults() Options {
	for field, fallback := range map[*int]int{&o.MaxCalls: 10_000, &o.MaxSlow: 200, &o.Failures: 10} {
		if *field <= 0 {
			*field = fallback
		}
	}
	for field, fallback := range map[*time.Duration]time.Duration{
		&o.Slow: 5 * time.Second, &o.Pause: 2 * time.Second,
		&o.MaxPause: time.Minute,
	} {
		if *field <= 0 {
			*field = fallback
		}
	}
	return o
}

// Bulkhead has slots for every host. The zero value is ready, and it is safe for
// concurrent use.
type Bulkhead struct {
	Options Options

	mu    sync.Mutex
	hosts map[string]*host
}

type host struct {
	calls     map[*Slot]struct{}
	slow      int // of them, at checkedAt
	checkedAt time.Time

	failures  int           // in a row
	pause     time.Duration // 0: the breaker is closed
	openUntil time.Time     // open until then, afterwards one probe per pause
}

// Outcome is what a call showed about the host.
type Outcome int

// The outcomes.
const (
	Unknown   Outcome = iota // there was no call, or it shows nothing about the host
	Responded                // it responded, with any result
	Failed                   // it could not be reached, closed the connection, or reported a server error
)

// Reason is why a call may not be made now.
type Reason string

// The reasons.
const (
	CircuitOpen Reason = "network_unavailable" // too many calls in a row have failed
	Saturated   Reason = "network_slow"        // too many calls are slow
)

// Slot is a call that is planned or in flight.
type Slot struct {
	bulkhead *Bulkhead
	host     string
	from     time.Time // when it starts to count as in flight
	once     sync.Once
}

// Acquire acquires a slot for a call to a host. planned is when the call will be
// made. probe means that its outcome shows whether the host works: an open circuit
// waits for the outcome of such a call. slot is nil if the call may not be made before
// retry.
func (b *Bulkhead) Acquire(name string, planned time.Time, probe bool) (call *Slot, retry time.Time, reason Reason) {
	o, now := b.Options.orDefaults(), time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.hosts[name]
	if h == nil {
		h = &host{calls: map[*Slot]struct{}{}}
		if b.hosts == nil {
			b.hosts = map[string]*host{}
		}
		b.hosts[name] = h
	}
	if h.pause > 0 && now.Before(h.openUntil) {
		return nil, h.openUntil, CircuitOpen
	}
	if h.updateSlow(now, o); h.slow >= o.MaxSlow || len(h.calls) >= o.MaxCalls {
		return nil, now.Add(o.Slow), Saturated
	}
	if h.pause > 0 && probe {
		// Other calls wait for this one, but not for longer than a pause: the call may
		// hang.
		h.openUntil = now.Add(h.pause)
	}
	if planned.Before(now) {
		planned = now
	}
	call = &Slot{bulkhead: b, host: name, from: planned}
	h.calls[call] = struct{}{}
	return call, time.Time{}, ""
}

// updateSlow counts the slow calls, but not again for every call of a burst.
func (h *host) updateSlow(now time.Time, o Options) {
	if len(h.calls) >= o.MaxSlow && now.Sub(h.checkedAt) < o.Slow/20 {
		return
	}
	h.slow, h.checkedAt = 0, now
	if len(h.calls) < o.MaxSlow {
		return
	}
	for c := range h.calls {
		if now.Sub(c.from) > o.Slow {
			h.slow++
		}
	}
}

// Release ends the call. Only the first Leave of a call counts.
func (c *Slot) Release(v Outcome) {
	c.once.Do(func() { c.bulkhead.release(c, v) })
}

func (b *Bulkhead) release(c *Slot, v Outcome) {
	o, now := b.Options.orDefaults(), time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.hosts[c.host]
	delete(h.calls, c)
	switch {
	case v == Responded:
		h.failures, h.pause = 0, 0
	case v == Failed && h.pause > 0:
		// Calls that were in flight when the circuit opened show nothing new.
		if !c.from.Before(h.openUntil.Add(-h.pause)) {
			h.pause = min(2*h.pause, o.MaxPause)
			h.openUntil = now.Add(h.pause)
		}
	case v == Failed:
		if h.failures++; h.failures >= o.Failures {
			h.pause, h.openUntil = o.Pause, now.Add(o.Pause)
		}
	}
	if len(h.calls) == 0 && h.failures == 0 && h.pause == 0 {
		delete(b.hosts, c.host)
	}
}
