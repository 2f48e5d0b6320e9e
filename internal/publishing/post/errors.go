package post

import (
	"fmt"
	"strings"
)

// Kind says what sort of refusal an Error is; the API maps it to a status.
type Kind int

// The kinds of refusal.
const (
	Invalid             Kind = iota + 1 // the request names something impossible
	NotFound                            // no such post, account or attachment here
	Conflict                            // the post's state forbids it
	PreconditionFailed                  // the post changed since it was read
	TooLarge                            // more than the configured limit
	PreconditionMissing                 // the request has to say which version it is about
	InsufficientStorage                 // there is no room to store what was sent
)

// Problem is one thing that is wrong with a request.
type Problem struct {
	Field   string // path in the request body, e.g. attachments[0]
	Code    string // stable
	Message string // a sentence for people
}

// Error is a refusal with a stable code and a sentence for people.
type Error struct {
	Kind     Kind
	Code     string
	Message  string
	Problems []Problem
}

// Error gives the sentence, with every field's problem.
func (e *Error) Error() string {
	if len(e.Problems) == 0 {
		return e.Message
	}
	lines := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		lines = append(lines, p.Field+": "+p.Message)
	}
	return e.Message + " " + strings.Join(lines, " ")
}

// InvalidFields refuses a request for the problems given.
func InvalidFields(problems ...Problem) *Error {
	return &Error{Kind: Invalid, Code: "invalid_request", Message: "The request cannot be carried out as it is.", Problems: problems}
}

// Missing refuses a request for something that is not there.
func Missing(what string) *Error {
	return &Error{Kind: NotFound, Code: what + "_not_found", Message: fmt.Sprintf("There is no such %s in this workspace.", what)}
}

// TooLate refuses a change that came after the point of no return.
func TooLate(p Post) *Error {
	reason := map[Status]string{
		Draft:        "it is a draft", // again, or only now: see NotDraft
		Scheduled:    "it is scheduled",
		Publishing:   "it is being published right now",
		Posted:       "it is already published",
		PartlyPosted: "it is already published on some accounts",
		Failed:       "publishing it has failed; retry or discard what failed",
		Cancelled:    "it is cancelled",
	}[p.Status]
	if doubtful := p.doubtful(); p.Status == Publishing && len(doubtful) > 0 {
		reason = "it waits for a decision about " + strings.Join(doubtful, " and ") + "; confirm the post there or send it again"
	}
	return &Error{Kind: Conflict, Code: "too_late",
		Message: fmt.Sprintf("The post cannot be changed any more: %s.", reason)}
}

// doubtful names the accounts that a post waits for a decision about; none
// while it still goes out on others.
func (p Post) doubtful() []string {
	var handles []string
	for _, t := range p.Targets {
		switch {
		case t.Status.Open():
			return nil
		case t.Status == TargetUncertain:
			handles = append(handles, "@"+strings.TrimPrefix(t.Handle, "@"))
		}
	}
	return handles
}

// NotDraft refuses to schedule what is no draft.
func NotDraft(status Status) *Error {
	return &Error{Kind: Conflict, Code: "not_a_draft",
		Message: fmt.Sprintf("Only a draft can be scheduled, and this post is %s. To change its time, edit it.", strings.ReplaceAll(string(status), "_", " "))}
}

// Stale refuses a change that was made against an older version.
func Stale(current int64) *Error {
	return &Error{Kind: PreconditionFailed, Code: "version_mismatch",
		Message: fmt.Sprintf("The post has changed since you read it; its version is now %d. Read it again, then repeat the change.", current)}
}
