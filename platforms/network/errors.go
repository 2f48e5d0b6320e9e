package network

import (
	"errors"
	"fmt"
	"time"

	"dateline/internal/infra/message"
)

// Class classifies an error by what it means for another attempt.
type Class string

// The classes. Only NotSent, Transient and Throttled allow another send without
// a search for the post.
const (
	// NotSent means that the request provably never left this machine.
	NotSent Class = "not_sent"
	// Transient means that the network reports that it did not act, and that a
	// later attempt may succeed.
	Transient Class = "transient"
	// Throttled means that a rate limit refused the request before the network
	// acted; RetryAt is the end of the limit.
	Throttled Class = "throttled"
	// Ambiguous means that the request was sent and there is no reliable
	// response.
	Ambiguous Class = "ambiguous"
	// Auth means that the token is expired, revoked or lacks a scope.
	Auth Class = "auth"
	// Rejected means that the request was refused permanently (content, policy,
	// permission, validation).
	Rejected Class = "rejected"
	// Duplicate means that the network reports that it already has this post.
	Duplicate Class = "duplicate"
)

// The error codes that callers handle. Other codes are the network's own.
const (
	// CodeMediaExpired together with Transient means that the network no longer
	// has what was staged or prepared and therefore published nothing: stage it
	// again. If an earlier send of the same post is unresolved, that send may
	// have used it.
	CodeMediaExpired = "media_expired"
	// CodeUnsupported means that a network has no such call.
	CodeUnsupported = "unsupported"
	// CodeNotConfigured means that the operator has not configured an
	// application at the network.
	CodeNotConfigured = "not_configured"
)

// Error is the only error type that adapters return.
type Error struct {
	Class     Class
	Code      string         // the network's code, or Dateline's if it has none
	Message   string         // a sentence for users, without secrets
	Params    message.Params // the values in Message, if it is the template of Code; nil: it is another sentence
	Status    int            // HTTP status; 0: no response
	RetryAt   time.Time      // for Throttled and Transient; zero: the caller's backoff
	Scope     Scope          // for Throttled: whose limit it was
	Rates     []RateStatus   // rate limits that the response reported
	RequestID string         // the network's id of the request
	Existing  *Receipt       // for Duplicate: the existing post, if the network names it
	Field     string         // field of a form or of the content that the error is about
	Err       error          // cause; may be nil
}

// Error returns class, code and message in one line.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%s: %s", e.Class, e.Message)
	}
	return fmt.Sprintf("%s (%s): %s", e.Class, e.Code, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError returns the *Error in err. Any other error becomes Ambiguous, because
// an unknown failure may have published.
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
