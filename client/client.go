// Package client calls the REST API of a Dateline instance, for the commands and the tools of
// agents: the operations that they need, in operations.go, with the models of api/spec.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/oapi-codegen/runtime"
)

// Options are optional properties of a client.
type Options struct {
	HTTP      *http.Client // nil: a client without a timeout, because streams have no end
	UserAgent string
}

// Client calls one instance.
type Client struct {
	address, token string
	Options
}

// New returns a client of the instance at address, such as https://dateline.example.com.
func New(address, token string, options ...Options) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("address must be a URL such as https://dateline.example.com: %q", address)
	}
	c := &Client{address: strings.TrimSuffix(address, "/"), token: token}
	if len(options) > 0 {
		c.Options = options[0]
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{}
	}
	return c, nil
}

// Edit changes a request before it is sent.
type Edit func(*http.Request)

// Form is a body of type multipart/form-data.
type Form struct {
	ContentType string // with the boundary
	Content     []byte
}

// Response is a successful response.
type Response[T any] struct {
	Body  []byte
	Value *T // what Body contains
}

// request is a call of an operation.
type request struct {
	method, path string    // as in openapi.yaml
	id           uuid.UUID // of {id} in the path
	params       any       // pointer to the generated struct of its parameters, or nil
	body         any       // nil, a Form, or what is sent as JSON
}

// call returns the response of an operation, or an *Error unless it is a success.
func call[T any](ctx context.Context, c *Client, r request, edits []Edit) (*Response[T], error) {
	response, err := c.send(ctx, r, edits...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if err := Failure(response.StatusCode, body); err != nil {
		return nil, err
	}
	value := new(T)
	if len(body) > 0 {
		if err := json.Unmarshal(body, value); err != nil {
			return nil, fmt.Errorf("the response of %s %s is not what the API describes; check the address: %w",
				r.method, r.path, err)
		}
	}
	return &Response[T]{Body: body, Value: value}, nil
}

// send sends a request. The caller closes the body of the response.
func (c *Client) send(ctx context.Context, r request, edits ...Edit) (*http.Response, error) {
	path, listed, _ := strings.Cut(r.path, "{?")
	query, header, err := parameters(r.params, strings.Split(strings.TrimSuffix(listed, "}"), ","))
	if err != nil {
		return nil, err
	}
	address := c.address + strings.Replace(path, "{id}", r.id.String(), 1)
	if query != "" {
		address += "?" + query
	}
	content, contentType, err := encode(r.body)
	if err != nil {
		return nil, err
	}
	// With a *bytes.Reader, net/http sets GetBody, so that requests can be repeated.
	request, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header = header
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.UserAgent != "" {
		request.Header.Set("User-Agent", c.UserAgent)
	}
	for _, edit := range edits {
		edit(request)
	}
	return c.HTTP.Do(request)
}

// encode returns a body and its type.
func encode(body any) (content []byte, contentType string, err error) {
	switch b := body.(type) {
	case nil:
		return nil, "", nil
	case Form:
		return b.Content, b.ContentType, nil
	}
	content, err = json.Marshal(body)
	return content, "application/json", err
}

// parameters returns the query and the header of a generated struct of parameters: those of the
// query have a tag "form", those of the header only "json".
func parameters(params any, listed []string) (query string, header http.Header, err error) {
	header = http.Header{}
	if params == nil {
		return "", header, nil
	}
	v := reflect.Indirect(reflect.ValueOf(params))
	var parts []string
	for field, value := range v.Fields() {
		if value.Kind() == reflect.Pointer {
			if value.IsNil() {
				continue
			}
			value = value.Elem()
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if _, inQuery := field.Tag.Lookup("form"); !inQuery {
			header.Set(name, fmt.Sprint(value.Interface()))
			continue
		}
		part, err := runtime.StyleParamWithOptions("form", !slices.Contains(listed, name), name, value.Interface(),
			runtime.StyleParamOptions{ParamLocation: runtime.ParamLocationQuery})
		if err != nil {
			return "", nil, err
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "&"), header, nil
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
