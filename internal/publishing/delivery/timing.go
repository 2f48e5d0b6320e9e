package delivery

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"dateline/internal/infra/retry"
	"dateline/platforms/network"
)

// Timing are the publisher's intervals. A zero field has the default that suits
// real networks; tests shorten them.
type Timing struct {
	Lease     time.Duration // how long a claim outlives its holder, who renews it; 15 s
	Heartbeat time.Duration // minimum interval of heartbeats, see startHeartbeats; 2 s
	Backoff   time.Duration // after the first attempt, doubled after each; 1 s
	Parent    time.Duration // before a reply checks again for the post it replies to, doubled up to MaxWait; 2 s
	MaxWait   time.Duration // the maximum wait that no network requested; 30 s
	// Looks are the waits before each search for a lost post, because listings
	// lag behind; docs/explanation/delivery-guarantees.md promises 1 s, 5 s, 15 s, 60 s.
	Looks []time.Duration
	// Settled is how long after a send a network with idempotency keys gets the same
	// request again, if the post is not found: long enough for it to have finished or
	// dropped the first call, because it may store the key only then; 20 s.
	Settled time.Duration
	// MaxFinish limits network.Limits.FinishesWithin, for tests; 0: no limit.
	MaxFinish time.Duration
	// Disturbed is roughly how long after the last of the Looks the next one follows
	// if another call on the account ended meanwhile, doubled with each up to the last
	// wait. It is random: the calls of a burst are lost together, and searches at the
	// same moments disturb each other again; 5 s.
	Disturbed time.Duration
	// Unanswered is how long after a send a network that cannot be queried about
	// it is queried again, before a person has to decide; 15 min.
	Unanswered time.Duration
	// MaxLimitWait is how long past its time a post waits in memory for a rate
	// limit or a host, before it is retried by Temporal; 2 s.
	MaxLimitWait time.Duration
}

func (t Timing) orDefaults() Timing {
	for field, fallback := range map[*time.Duration]time.Duration{
		&t.Lease:        15 * time.Second,
		&t.Heartbeat:    2 * time.Second,
		&t.Backoff:      time.Second,
		&t.Parent:       2 * time.Second,
		&t.MaxWait:      30 * time.Second,
		&t.Settled:      20 * time.Second,
		&t.Disturbed:    5 * time.Second,
		&t.Unanswered:   15 * time.Minute,
		&t.MaxLimitWait: 2 * time.Second,
	} {
		if *field <= 0 {
			*field = fallback
		}
	}
	if len(t.Looks) == 0 {
		t.Looks = []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, 60 * time.Second}
	}
	return t
}

// finish returns how long after a lost call the network may still act on it.
func (t Timing) finish(limits network.Limits) time.Duration {
	if t.MaxFinish > 0 {
		return min(limits.FinishesWithin, t.MaxFinish)
	}
	return limits.FinishesWithin
}

// look returns how long to wait before the search with index n, after disturbed
// searches that other calls disturbed.
func (t Timing) look(n, disturbed int) time.Duration {
	last := t.Looks[len(t.Looks)-1]
	if n < len(t.Looks) {
		return t.Looks[n]
	}
	if disturbed == 0 {
		return last
	}
	wait := doubling(t.Disturbed, disturbed, last)
	return wait/2 + rand.N(wait) //nolint:gosec // not a secret
}

// doubling returns base, twice, four times base … for n = 1, 2, 3 …, at most limit.
func doubling(base time.Duration, n int, limit time.Duration) time.Duration {
	return min(base<<min(max(n-1, 0), 20), limit)
}

// Clock shows the database's time, by which posts are due.
type Clock interface {
	Now() time.Time
	FromHost(t time.Time) time.Time // converts a time of the host's own clock
}

// hostClock uses the host's time as the database's.
type hostClock struct{}

func (hostClock) Now() time.Time                 { return time.Now() }
func (hostClock) FromHost(t time.Time) time.Time { return t }

// clockInterval is how often a waiting attempt reads the clock: it may have been
// corrected meanwhile.
const clockInterval = 5 * time.Second

// sleepUntil waits in memory until the clock shows at.
func sleepUntil(ctx context.Context, clock Clock, at time.Time) error {
	for {
		left := at.Sub(clock.Now())
		if err := retry.Sleep(ctx, min(left, clockInterval)); err != nil || left <= clockInterval {
			return err
		}
	}
}

// onHost converts a time of the database's clock into one of the host's, by
// which limits and pauses go.
func onHost(clock Clock, at time.Time) time.Time { return time.Now().Add(at.Sub(clock.Now())) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Attempt is one run of a target by its caller, who may run it again.
type Attempt struct {
	Number           int           // from 1
	HeartbeatTimeout time.Duration // without a heartbeat for longer, the caller considers this run dead; 0: never
	Heartbeat        func()        // nil: no heartbeats
}

func (a Attempt) heartbeat() {
	if a.Heartbeat != nil {
		a.Heartbeat()
	}
}

// of is the number of the attempt, from 1, without the one that only found that
// it was not due yet.
func (a Attempt) of(in TargetInput) int {
	n := a.Number
	if n > 1 && !in.NotBefore.IsZero() {
		n--
	}
	return n
}

// dueTolerance is how close to its dispatch an attempt stays with its worker.
const dueTolerance = time.Second

// notDue defers a target until it is to be dispatched: an error whose retry is at that
// time. It is a durable timer that wakes the activity and not the workflow: at its time
// a post is dispatched to any free worker, in one step of Temporal's instead of three,
// and waits neither for the worker that has the workflow in its cache nor for a replay
// of its history.
func notDue(clock Clock, in TargetInput) error {
	left := in.NotBefore.Sub(clock.Now())
	if in.NotBefore.IsZero() || left < dueTolerance {
		return nil
	}
	return &NotDueError{NotBefore: in.NotBefore, Delay: left}
}

// isDeferrable reports whether a post's activity may be dispatched immediately and wait
// at Temporal, see notDue. That costs a step for each target and saves two for the
// post, so it is used for posts with a single one.
func isDeferrable(v PostView) bool {
	open := 0
	for _, t := range v.Targets {
		if t.Status.IsOpen() {
			open++
		}
	}
	return open == 1
}

// inProcessRetry ends a publishing attempt that continues in the same process: the next
// step is near, and a retry by Temporal costs one step to end the attempt and one to
// dispatch it again. After a crash in the second of a burst, those steps would take
// longer than all the waiting.
type inProcessRetry struct {
	delay time.Duration
	error // returned to the caller if the attempt cannot continue
}

func (r *inProcessRetry) Unwrap() error { return r.error }

// maxWaits bounds the in-process retries that only waited. They last two leases:
// a claim that is held for longer has a holder that is alive.
const (
	waitsPerLease = 5
	maxWaits      = 2 * waitsPerLease
)

// retryInProcess runs attempts until one ends without an inProcessRetry.
func retryInProcess(ctx context.Context, attempt func() (TargetResult, error)) (TargetResult, error) {
	for waits := 0; ; {
		result, err := attempt()
		var next *inProcessRetry
		if !errors.As(err, &next) {
			return result, err
		}
		if next.delay > 0 {
			waits++
		}
		if waits > maxWaits || retry.Sleep(ctx, next.delay) != nil || ctx.Err() != nil {
			return TargetResult{}, next.error
		}
	}
}
