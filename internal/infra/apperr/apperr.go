// Package apperr defines the error type for failed requests of users: a kind for the
// program, a stable code for clients, and a message for users.
package apperr

import (
	"fmt"
	"strings"

	"dateline/internal/infra/message"
)

// Kind classifies an Error; the API maps it to an HTTP status.
type Kind int

// The kinds of errors.
const (
	KindInvalid              Kind = iota + 1 // the request is malformed or names something impossible
	KindNotFound                             // the resource does not exist in the workspace
	KindConflict                             // the state of the resource does not allow the request
	KindPreconditionFailed                   // the resource changed since it was read
	KindTooLarge                             // larger than the configured limit
	KindPreconditionRequired                 // the request must contain the version of the resource
	KindInsufficientStorage                  // not enough storage for the upload
	KindNotComputable                        // the stored data cannot answer the request
)

// FieldError is one invalid field of a request.
type FieldError struct {
	Field   string // path in the request body, e.g. attachments[0]
	Code    string // stable
	Message string // for users
	Params  message.Params
}

// Field returns a FieldError with a filled template, see message.Format.
func Field(field, code, template string, args ...any) FieldError {
	text, params := message.Format(template, args...)
	return FieldError{Field: field, Code: code, Message: text, Params: params}
}

// Error is a failed request.
type Error struct {
	Kind    Kind
	Code    string
	Message string
	Params  message.Params // of Message
	Fields  []FieldError
}

// Error returns the message and those of the fields.
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
	return &Error{Kind: KindInvalid, Code: "invalid_request", Message: "The request is invalid.", Fields: fields}
}

// NotFound returns a KindNotFound error with the code "<resource>_not_found".
func NotFound(resource string) *Error {
	return &Error{
		Kind: KindNotFound, Code: resource + "_not_found",
		Message: fmt.Sprintf("The %s does not exist in this workspace.", resource),
	}
}
