package network

import (
	"errors"
	"fmt"
	"time"
)

// Class says what an error means for the promise never to publish twice.
type Class string

// The classes. Only NotSent, Transient and Throttled allow another send
// without looking first.
const (
	// NotSent: the request provably never left this machine.
	NotSent Class = "not_sent"
	// Transient: the network says that it did not act and to try again.
	Transient Class = "transient"
	// Throttled: refused by a rate limit before acting; RetryAt says until when.
	Throttled Class = "throttled"
	// Ambiguous: bytes left and there is no trustworthy answer.
	Ambiguous Class = "ambiguous"
	// Auth: the token is expired, revoked or lacks a scope.
	Auth Class = "auth"
	// Rejected: refused for good (content, policy, permission, validation).
	Rejected Class = "rejected"
	// Duplicate: the network says that it already has this post.
	Duplicate Class = "duplicate"
)

// CodeMediaExpired together with Transient says that the network does not have (any more)
// what was staged and therefore published nothing: stage it again. Where an
// earlier send of the same post is unclear, that one may have taken it.
const CodeMediaExpired = "media_expired"

// CodeUnsupported says that a network has no such call.
const CodeUnsupported = "unsupported"

// CodeNotConfigured says that the operator has set up no application at the
// network.
const CodeNotConfigured = "not_configured"

// Error is the only error type that adapters return.
type Error struct {
	Class     Class
	Code      string       // the network's own code, or ours when it has none
	Message   string       // a sentence for people, without secrets
	Status    int          // HTTP status; 0 when there was none
	RetryAt   time.Time    // Throttled and Transient; zero: the caller's backoff
	Scope     Scope        // Throttled: whose limit it was
	Rates     []RateStatus // what the answer said of rate limits, if anything
	RequestID string       // the network's id of the call
	Existing  *Receipt     // Duplicate: the earlier post, where the network names it
	Field     string       // of a form or of content, where the error is about one
	Err       error        // cause; may be nil
}

// Error says class, code and message in one line.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%s: %s", e.Class, e.Message)
	}
	return fmt.Sprintf("%s (%s): %s", e.Class, e.Code, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError finds the *Error in err. An error that is none is Ambiguous: what we
// do not understand may have published.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Class: Ambiguous, Message: "The network adapter failed in an unknown way.", Err: err}
}
