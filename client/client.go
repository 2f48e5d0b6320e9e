// Package client calls the REST API of a Dateline instance. The methods and types in
// client.gen.go are generated from api/openapi.yaml, one method for each operation:
//
//	c, err := client.New("https://dateline.example.com", token)
//	posts, err := client.Result(c.ListPostsWithResponse(ctx, &client.ListPostsParams{}))
//	for _, p := range posts.GetJSON200().Posts { … }
//
// Result turns responses that are no success into an *Error.
package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options are optional properties of a client.
type Options struct {
	HTTP      *http.Client // nil: a client without a timeout, because streams have no end
	UserAgent string
}

// New returns a client of the instance at address, such as https://dateline.example.com.
func New(address, token string, options ...Options) (*ClientWithResponses, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("address must be a URL such as https://dateline.example.com: %q", address)
	}
	o := Options{}
	if len(options) > 0 {
		o = options[0]
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	return NewClientWithResponses(strings.TrimSuffix(address, "/"), WithHTTPClient(o.HTTP), WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if o.UserAgent != "" {
			r.Header.Set("User-Agent", o.UserAgent)
		}
		return nil
	}))
}

// Response is implemented by the responses of all operations.
type Response interface {
	StatusCode() int
	GetBody() []byte
}

// FieldError is a problem of one field of a request.
type FieldError struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error is a response that is no success: a problem document (RFC 9457).
type Error struct {
	Status int          `json:"status"`
	Code   string       `json:"code"` // stable, see docs/reference/api.md
	Title  string       `json:"title"`
	Detail string       `json:"detail"`
	Fields []FieldError `json:"errors"`
}

// Error returns the detail, and the problems of fields.
func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(cmp.Or(e.Detail, e.Title))
	for _, f := range e.Fields {
		text.WriteString("\n  " + f.Field + ": " + f.Message)
	}
	return fmt.Sprintf("%s (%d %s)", &text, e.Status, e.Code)
}

// Result returns the response of a call, or an *Error unless it is a success.
func Result[R Response](r R, err error) (R, error) {
	if err != nil {
		return r, err
	}
	return r, Failure(r.StatusCode(), r.GetBody())
}

// Failure returns an *Error for a response that is no success.
func Failure(status int, body []byte) error {
	if status < http.StatusBadRequest {
		return nil
	}
	e := &Error{}
	if json.Unmarshal(body, e) != nil || e.Code == "" {
		e = &Error{Code: "unknown", Title: http.StatusText(status)}
	}
	e.Status = status
	return e
}

// StatusOf returns the HTTP status of an *Error, or 0.
func StatusOf(err error) int {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// StreamedEvent is an event of GET /api/v1/events or GET /api/v1/posts/{id}/events.
type StreamedEvent struct {
	Type      string          `json:"type"`
	At        time.Time       `json:"at"`
	Actor     string          `json:"actor"`
	PostID    string          `json:"post_id,omitempty"`
	TargetID  string          `json:"target_id,omitempty"`
	AccountID string          `json:"account_id,omitempty"`
	Data      json.RawMessage `json:"data"`
}
