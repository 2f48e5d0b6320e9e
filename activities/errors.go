package activities

import (
	"fmt"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/temporal"

	"dateline/platforms/network"
)

// ErrNotYet is the type of the error by which an activity that was dispatched
// too early goes back to Temporal.
const ErrNotYet = "not_yet"

// maxTries is how many sends a target gets; being throttled does not count.
const maxTries = 5

// Types of the errors that the workflow and the Temporal Web UI see.
const (
	errRetry     = "retry"     // not sent, or the network asked to try again
	errThrottled = "throttled" // a rate limit; does not use up a try
	errHeld      = "held"      // the network does not answer; neither
	errWaiting   = "waiting"   // for another attempt's claim or for a parent post
)

// retryLater is the only place where a network's error becomes a Temporal one.
// It is called for errors after which sending again is safe. What the network
// said stays in the post's timeline: it may repeat what the post says, and
// Temporal's history is no place for that. attempt is Temporal's count.
func (t Timing) retryLater(e *network.Error, tries, attempt int) (delay time.Duration, again error) {
	kind := errRetry
	delay = doubling(t.Backoff, tries, 8*t.Backoff)
	if e.Class == network.Throttled {
		kind = errThrottled
		if e.RetryAt.IsZero() {
			delay = doubling(t.Backoff, attempt, t.MaxWait)
		}
	}
	if wait := time.Until(e.RetryAt); !e.RetryAt.IsZero() && wait > delay {
		delay = wait
	}
	message := fmt.Sprintf("%s; the post's timeline says more", e.Class)
	if e.Status != 0 {
		message = fmt.Sprintf("%s (HTTP status %d); the post's timeline says more", e.Class, e.Status)
	}
	delay = jitter(delay)
	return delay, temporal.NewApplicationErrorWithOptions(message, kind, temporal.ApplicationErrorOptions{NextRetryDelay: delay})
}

// waitFor makes Temporal run the activity again after about delay.
func waitFor(what string, delay time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(what, errWaiting, temporal.ApplicationErrorOptions{NextRetryDelay: jitter(delay)})
}

// jitter spreads retries over up to a fifth more, never less: a reset time is
// not to be tried early.
func jitter(d time.Duration) time.Duration {
	return d + time.Duration(rand.Int64N(int64(d)/5+1)) //nolint:gosec // not a secret
}
