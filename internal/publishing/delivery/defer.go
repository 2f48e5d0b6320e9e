package delivery

import "time"

// Attempt is one run of a target by its caller, who may run it again.
type Attempt struct {
	Number           int           // from 1
	HeartbeatTimeout time.Duration // without a heartbeat for longer, the caller takes this run for dead; 0: never
	Heartbeat        func()        // nil: nobody listens
}

func (a Attempt) heartbeat() {
	if a.Heartbeat != nil {
		a.Heartbeat()
	}
}

// soon is how near its dispatch an activity stays with its worker.
const soon = time.Second

// notYet gives a target back to Temporal until it is to be dispatched: an error
// whose retry comes at that moment. It is a durable timer that wakes the
// activity itself and not the workflow: at its time a post is handed to whoever
// is free, in one step of Temporal's instead of three, and neither waits for the
// worker that had the workflow in memory nor for its history to be played again.
func (p *Publisher) notYet(in TargetInput) error {
	left := in.NotBefore.Sub(p.clock().Now())
	if in.NotBefore.IsZero() || left < soon {
		return nil
	}
	return &NotDueError{NotBefore: in.NotBefore, Delay: left}
}

// attempt is which run this is of an activity, from 1, without the one that only
// found that it was not time yet.
func (a Attempt) of(in TargetInput) int {
	n := a.Number
	if n > 1 && !in.NotBefore.IsZero() {
		n--
	}
	return n
}

// defers says whether a post's activity may be dispatched at once and wait at
// Temporal, see notYet. That costs a step for each target and saves two for the
// post, so it is for those with a single one.
func defers(v PostView) bool {
	open := 0
	for _, t := range v.Targets {
		if t.Status.Open() {
			open++
		}
	}
	return open == 1
}
