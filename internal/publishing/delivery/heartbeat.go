package delivery

import (
	"context"
	"math/rand/v2"
	"time"
)

// pulse heartbeats until it is stopped, so that Temporal learns in time that
// this worker is gone.
type pulse struct {
	beat func()
	at   chan time.Time
	done chan struct{}
}

// keepAlive starts a pulse that beats so often, or as rarely as the heartbeat
// timeout allows: a beat costs Temporal as much as a step of a workflow, and a
// crowd's timeout is longer for that reason.
func keepAlive(ctx context.Context, a Attempt, every time.Duration) *pulse {
	every = max(every, a.HeartbeatTimeout*7/10)
	p := &pulse{beat: a.heartbeat, at: make(chan time.Time, 1), done: make(chan struct{})}
	go p.run(ctx, every)
	return p
}

func (p *pulse) stop() { close(p.done) }

// quietAround names the second at which nothing but sending may run.
func (p *pulse) quietAround(at time.Time) { p.at <- at }

func (p *pulse) run(ctx context.Context, every time.Duration) {
	var at time.Time
	last := time.Now()
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-ctx.Done():
			return
		case at = <-p.at:
		case last = <-timer.C:
			p.beat()
		}
		timer.Reset(time.Until(nextBeat(last, at, every)))
	}
}

// mostQuiet is how long before and after its second a crowd keeps quiet.
const mostQuiet = 4 * time.Second

// nextBeat follows on the last one. One that would come close to the second
// comes before it, and not together with everybody else's.
func nextBeat(last, at time.Time, every time.Duration) time.Time {
	next, quiet := last.Add(every), min(every/8, mostQuiet)
	if at.IsZero() || next.Sub(at).Abs() > quiet {
		return next
	}
	return at.Add(-quiet - rand.N(quiet+1)) //nolint:gosec // not a secret
}
