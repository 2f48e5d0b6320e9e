package delivery

import (
	"errors"
	"fmt"
	"time"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/retry"
	"dateline/platforms/network"
)

// NotDueError returns a target that was dispatched too early to the caller,
// which is to dispatch it again after Delay. Nothing failed.
type NotDueError struct {
	NotBefore time.Time
	Delay     time.Duration
}

func (e *NotDueError) Error() string {
	return "Nothing failed: it waits until " + e.NotBefore.UTC().Format(time.RFC3339) + "."
}

// RetryError asks for another attempt, which is safe: nothing was sent, or the
// ledger says what to look for first.
type RetryError struct {
	Kind    string        // one of the kinds below
	Message string        // without anything that the network said
	Delay   time.Duration // until the next attempt; 0: the caller's own backoff
}

func (e *RetryError) Error() string { return e.Message }

// PermanentError wraps an error that no other attempt can change.
type PermanentError struct{ Cause *apperr.Error }

func (e *PermanentError) Error() string { return e.Cause.Error() }

func (e *PermanentError) Unwrap() error { return e.Cause }

// permanent marks errors that no retry can change.
func permanent(err error) error {
	var e *apperr.Error
	if errors.As(err, &e) {
		return &PermanentError{Cause: e}
	}
	return err
}

// maxTries is how many sends a target gets; being throttled does not count.
const maxTries = 5

// Kinds of RetryError.
const (
	RetryFailed    = "retry"     // not sent, or the network asked to try again
	RetryThrottled = "throttled" // a rate limit; does not use up a try
	RetryHostDown  = "held"      // the network does not answer; neither
	RetryWaiting   = "waiting"   // for another attempt's claim or for a parent post
)

// retryLater is the only place where a network's error becomes a RetryError. It
// is called for errors after which sending again is safe. What the network
// said stays in the post's timeline: it may repeat what the post says, and
// Temporal's history is no place for that. attempt is
// the number of the attempt.
func (t Timing) retryLater(e *network.Error, tries, attempt int) (delay time.Duration, again error) {
	kind := RetryFailed
	delay = doubling(t.Backoff, tries, 8*t.Backoff)
	if e.Class == network.Throttled {
		kind = RetryThrottled
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
	delay = retry.Jitter(delay)
	return delay, &RetryError{Kind: kind, Message: message, Delay: delay}
}

// waitFor asks for another attempt after about delay.
func waitFor(what string, delay time.Duration) error {
	return &RetryError{Kind: RetryWaiting, Message: what, Delay: retry.Jitter(delay)}
}
