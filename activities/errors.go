package activities

import (
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/temporal"

	"dateline/platforms/network"
)

// maxTries is how many sends a target gets; being throttled does not count.
const maxTries = 5

// Types of the errors that the workflow and the Temporal Web UI see.
const (
	errRetry     = "retry"     // not sent, or the network asked to try again
	errThrottled = "throttled" // a rate limit; does not use up a try
	errWaiting   = "waiting"   // for another attempt's claim or for a parent post
)

// retryLater is the only place where a network's error becomes a Temporal one.
// It is called for errors after which sending again is safe; the message is the
// network's sentence, which holds no secret.
func retryLater(e *network.Error, tries int) error {
	kind, delay := errRetry, backoff(tries)
	if e.Class == network.Throttled {
		kind = errThrottled
	}
	if wait := time.Until(e.RetryAt); !e.RetryAt.IsZero() && wait > delay {
		delay = jitter(wait)
	}
	return temporal.NewApplicationErrorWithOptions(e.Error(), kind, temporal.ApplicationErrorOptions{NextRetryDelay: delay})
}

// waitFor makes Temporal run the activity again after about delay.
func waitFor(what string, delay time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(what, errWaiting, temporal.ApplicationErrorOptions{NextRetryDelay: jitter(delay)})
}

// backoff gives 1 s, 2 s, 4 s, 8 s after the first, second … try.
func backoff(tries int) time.Duration {
	return jitter(time.Second << max(0, min(tries, 4)-1))
}

// jitter spreads retries over up to a fifth more, never less: a reset time is
// not to be tried early.
func jitter(d time.Duration) time.Duration {
	return d + time.Duration(rand.Int64N(int64(d)/5+1)) //nolint:gosec // not a secret
}
