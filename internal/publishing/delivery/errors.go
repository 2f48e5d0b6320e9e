package delivery

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/retry"
	"dateline/platforms/network"
)

// NotDueError returns a target that was dispatched too early to the caller, which
// dispatches it again after Delay. Nothing failed.
type NotDueError struct {
	NotBefore time.Time
	Delay     time.Duration
}

func (e *NotDueError) Error() string {
	return "Nothing failed: it waits until " + e.NotBefore.UTC().Format(time.RFC3339) + "."
}

// RetryError requests another attempt, which is safe: nothing was sent, or the ledger
// has the call to resolve first.
type RetryError struct {
	Kind    string        // one of the kinds below
	Message string        // without anything from the network's response
	Delay   time.Duration // until the next attempt; 0: the caller's own backoff
}

func (e *RetryError) Error() string { return e.Message }

// Kinds of RetryError.
const (
	RetryFailed    = "retry"     // not sent, or the network asked for a retry
	RetryThrottled = "throttled" // a rate limit; does not use up an attempt
	RetryHostDown  = "host_down" // the network's host does not respond; nor does this
	RetryWaiting   = "waiting"   // for another attempt's claim or for a parent post
)

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

// maxAttempts is how many sends a target gets; being throttled does not count.
const maxAttempts = 5

// retryAfterError is the only place where a network's error becomes a RetryError.
// It is called for errors after which sending again is safe. The network's
// message stays in the post's timeline: it may repeat the post's content, which
// must not reach Temporal's history. attempt is the number of the attempt.
func (t Timing) retryAfterError(e *network.Error, attempts, attempt int) (delay time.Duration, again error) {
	kind := RetryFailed
	delay = doubling(t.Backoff, attempts, 8*t.Backoff)
	if e.Class == network.Throttled {
		kind = RetryThrottled
		if e.RetryAt.IsZero() {
			delay = doubling(t.Backoff, attempt, t.MaxWait)
		}
	}
	if wait := time.Until(e.RetryAt); !e.RetryAt.IsZero() && wait > delay {
		delay = wait
	}
	message := fmt.Sprintf("%s; the post's timeline has the details", e.Class)
	if e.Status != 0 {
		message = fmt.Sprintf("%s (HTTP status %d); the post's timeline has the details", e.Class, e.Status)
	}
	delay = retry.Jitter(delay)
	return delay, &RetryError{Kind: kind, Message: message, Delay: delay}
}

// waitFor requests another attempt after about delay.
func waitFor(what string, delay time.Duration) error {
	return &RetryError{Kind: RetryWaiting, Message: what, Delay: retry.Jitter(delay)}
}

// retryAt requests another attempt soon after a time. The jitter is small: a post that
// waited hours for a reset should not wait much longer.
func retryAt(kind, what string, at time.Time) error {
	wait := max(time.Until(at), 0) + 10*time.Millisecond
	wait += time.Duration(rand.Int64N(int64(min(wait/5, 10*time.Second)) + 1)) //nolint:gosec // not a secret
	return &RetryError{Kind: kind, Message: what + " The post's timeline has the details.", Delay: wait}
}

// Codes of errors that the publisher itself returns.
const (
	codeRateLimited   = "rate_limited"   // a rate limit delays the post before anything is sent
	codeParentWaiting = "parent_waiting" // a reply is due before its parent is published
	codeAbsent        = "absent"         // a call that provably published nothing
	// The network would identify a repeated call by its key, if the first one created a post that is not listed yet
	codeNotShown = "not_shown"

	// Failures of Dateline's own engines. They delay a post for as long as they last,
	// and use up no attempt.
	codeParentUnknown = "parent_unknown"
	codeNotRecorded   = "not_recorded"
	codeUnreadable    = "attachment_unreadable"

	// Why a post cannot use its account's token.
	codeDisconnected = "disconnected"      // the account's owner disconnected it
	codeRenewed      = "token_renewed"     // it was rejected, and there is a newer one
	codeReplaced     = "token_replaced"    // the same, and a person has reconnected the account
	codeNotRenewed   = "token_not_renewed" // the network refuses to renew it
	codeRenewalWaits = "renewal_waits"     // the network cannot renew it right now
)

func isInternalFailure(e *network.Error) bool {
	return e.Code == codeParentUnknown || e.Code == codeNotRecorded || e.Code == codeUnreadable
}
