package delivery

import (
	"context"
	"math/rand/v2"
	"time"
)

// heartbeater sends heartbeats until it is stopped, so that the caller learns in
// time that this worker is dead.
type heartbeater struct {
	attempt Attempt
	at      chan time.Time
	done    chan struct{}
}

// startHeartbeats sends a heartbeat at every interval, or as rarely as the
// heartbeat timeout allows: a heartbeat costs Temporal as much as a workflow
// step, and bursts have a longer timeout for that reason.
func startHeartbeats(ctx context.Context, a Attempt, interval time.Duration) *heartbeater {
	interval = max(interval, a.HeartbeatTimeout*7/10)
	h := &heartbeater{attempt: a, at: make(chan time.Time, 1), done: make(chan struct{})}
	go h.run(ctx, interval)
	return h
}

func (h *heartbeater) stop() { close(h.done) }

// quietAround sets the second around which only sends may run.
func (h *heartbeater) quietAround(at time.Time) { h.at <- at }

func (h *heartbeater) run(ctx context.Context, interval time.Duration) {
	var at time.Time
	last := time.Now()
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-h.done:
			return
		case <-ctx.Done():
			return
		case at = <-h.at:
		case last = <-timer.C:
			h.attempt.heartbeat()
		}
		timer.Reset(time.Until(nextHeartbeat(last, at, interval)))
	}
}

// maxQuiet is how long before and after its second a burst sends no heartbeats.
const maxQuiet = 4 * time.Second

// nextHeartbeat is one interval after the last. One that would be close to the second
// is sent before it, and not at the same time as all others.
func nextHeartbeat(last, at time.Time, interval time.Duration) time.Time {
	next, quiet := last.Add(interval), min(interval/8, maxQuiet)
	if at.IsZero() || next.Sub(at).Abs() > quiet {
		return next
	}
	return at.Add(-quiet - rand.N(quiet+1)) //nolint:gosec // not a secret
}
