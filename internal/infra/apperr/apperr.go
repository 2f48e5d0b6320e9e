// Package apperr is the error type that every domain returns to the people
// who use Dateline: a kind for the program, a stable code for scripts, and a
// sentence for people.
package apperr

import (
	"fmt"
	"strings"
)

// Kind classifies an Error; the API maps it to an HTTP status.
type Kind int

// The kinds of errors.
const (
	KindInvalid              Kind = iota + 1 // the request is malformed or names something impossible
	KindNotFound                             // the workspace has no such resource
	KindConflict                             // the resource's state forbids the request
	KindPreconditionFailed                   // the resource changed since it was read
	KindTooLarge                             // larger than the configured limit
	KindPreconditionRequired                 // the request has to name the version that it is about
	KindInsufficientStorage                  // there is no room to store the upload
)

// FieldError is one invalid field of a request.
type FieldError struct {
	Field   string // path in the request body, e.g. attachments[0]
	Code    string // stable
	Message string // a sentence for people
}

// Error is a failed request with a stable code and a sentence for people.
type Error struct {
	Kind    Kind
	Code    string
	Message string
	Fields  []FieldError
}

// Error returns the sentence and every field's message.
func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Message
	}
	lines := make([]string, 0, len(e.Fields))
	for _, f := range e.Fields {
		lines = append(lines, f.Field+": "+f.Message)
	}
	return e.Message + " " + strings.Join(lines, " ")
}

// InvalidFields returns a KindInvalid error about the given fields.
func InvalidFields(fields ...FieldError) *Error {
	return &Error{Kind: KindInvalid, Code: "invalid_request", Message: "The request cannot be carried out as it is.", Fields: fields}
}

// NotFound returns a KindNotFound error with the code "<resource>_not_found".
func NotFound(resource string) *Error {
	return &Error{Kind: KindNotFound, Code: resource + "_not_found", Message: fmt.Sprintf("There is no such %s in this workspace.", resource)}
}
