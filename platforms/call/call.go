// Package call makes the HTTP calls of network adapters, and knows what a
// failed one means: whether the request provably never left, or may have been
// acted on.
package call

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/ssrf"
	"dateline/platforms/network"
)

const (
	defaultTimeout       = 30 * time.Second
	defaultCreateTimeout = 4 * time.Minute // networks were seen to take over 200 s to publish
	defaultMaxBody       = 4 << 20
)

// Request is one call.
type Request struct {
	Method string
	URL    string
	Token  secret.Text // sent as bearer token when not empty
	Body   *Body       // nil: none
	Header http.Header // further headers

	// Create marks a call that must not happen twice: once bytes have left, a
	// lost response is Ambiguous. Every other call may be repeated, so a lost
	// response is Transient.
	Create bool
	// IdempotencyKey is sent as Idempotency-Key; empty sends none.
	IdempotencyKey string

	Timeout time.Duration // 0: 30 s, or 4 min for Create
	MaxBody int64         // 0: 4 MiB of response body
	Secrets []secret.Text // kept out of errors, besides Token
}

// Response is a complete answer, whatever its status.
type Response struct {
	Status    int
	Header    http.Header
	Body      []byte
	Date      time.Time // the server's clock; zero when it sent none
	Sent      time.Time // our clock when the request's headers left
	Received  time.Time // our clock when the headers arrived
	RequestID string

	create  bool
	secrets []secret.Text
}

// ClockSkew is how far the server's clock is ahead of ours, to the second; zero
// when the server does not tell.
func (r *Response) ClockSkew() time.Duration {
	if r.Date.IsZero() {
		return 0
	}
	skew := r.Date.Sub(r.Received)
	// Date has whole seconds, and the response traveled: less is no skew.
	if skew.Abs() < 2*time.Second {
		return 0
	}
	return skew.Truncate(time.Second)
}

// Caller makes calls over one HTTP client.
type Caller struct{ client http.Client }

// New wraps a client, which should refuse private addresses (NewClient). Its
// own timeout is not used: every Request has one.
func New(client *http.Client) *Caller {
	own := *client
	own.Timeout = 0
	own.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
		// 307 and 308 would send a body again, to a place nobody chose.
		if method := via[0].Method; method != http.MethodGet && method != http.MethodHead {
			return http.ErrUseLastResponse
		}
		if len(via) >= 5 {
			return errors.New("the network redirects in circles")
		}
		return nil
	}
	return &Caller{client: own}
}

// Do makes the call once. An error is always a *network.Error; a response of any
// status is no error here (see Response.Error).
//
// Bodies cannot be rewound, so net/http never sends a request again by itself
// after bytes have left, not even one with an Idempotency-Key (net/http
// Request.isReplayable): a network that stores the key only after acting would
// publish twice when the first call is still running.
func (c *Caller) Do(ctx context.Context, request Request) (*Response, error) {
	timeout := request.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
		if request.Create {
			timeout = defaultCreateTimeout
		}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	var connected, wrote atomic.Bool
	var sent atomic.Int64
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { connected.Store(true) },
		WroteHeaders: func() { wrote.Store(true); sent.Store(time.Now().UnixNano()) },
	})
	req, err := newRequest(traced, request)
	if err != nil {
		return nil, newError(request, network.NotSent, "bad_request", "The request could not be built", err)
	}
	res, err := c.client.Do(req)
	if err != nil {
		// A request that was canceled just as it was being written may be on its
		// way although the trace did not say so yet.
		left := wrote.Load() || connected.Load() && ctx.Err() != nil
		return nil, noResponseError(request, left, err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := readResponse(request, res)
	if err != nil {
		return nil, err
	}
	answer.Sent = time.Unix(0, sent.Load()).UTC()
	return answer, nil
}

func newRequest(ctx context.Context, request Request) (*http.Request, error) {
	var body io.Reader
	if request.Body != nil {
		// The wrapper hides the reader's type, so that net/http sets no GetBody.
		body = struct{ io.Reader }{request.Body.Reader}
		if request.Body.Closer != nil {
			// net/http may still read the body after Do has returned: only it
			// knows when to close.
			body = struct {
				io.Reader
				io.Closer
			}{request.Body.Reader, request.Body.Closer}
		}
	}
	req, err := http.NewRequestWithContext(ctx, request.Method, request.URL, body)
	if err != nil {
		if request.Body != nil && request.Body.Closer != nil {
			_ = request.Body.Closer.Close()
		}
		return nil, err
	}
	for name, values := range request.Header {
		req.Header[name] = values
	}
	// A body-less request with such a header would be replayed by net/http too.
	req.Header.Del("Idempotency-Key")
	req.Header.Del("X-Idempotency-Key")
	if request.IdempotencyKey != "" && request.Body != nil {
		req.Header.Set("Idempotency-Key", request.IdempotencyKey)
	}
	if request.Body != nil {
		req.ContentLength = request.Body.Length
		req.Header.Set("Content-Type", request.Body.Type)
	}
	if !request.Token.Empty() {
		req.Header.Set("Authorization", "Bearer "+request.Token.Reveal())
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	req.Header.Set("User-Agent", "Dateline")
	return req, nil
}

func readResponse(request Request, res *http.Response) (*Response, error) {
	answer := &Response{
		Status:    res.StatusCode,
		Header:    res.Header,
		Received:  time.Now(),
		RequestID: res.Header.Get("X-Request-Id"),
		create:    request.Create,
		secrets:   append([]secret.Text{request.Token}, request.Secrets...),
	}
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		answer.Date = date
	}
	limit := request.MaxBody
	if limit == 0 {
		limit = defaultMaxBody
	}
	var buf bytes.Buffer
	n, err := buf.ReadFrom(io.LimitReader(res.Body, limit+1))
	answer.Body = buf.Bytes()
	if err == nil && n > limit {
		err = fmt.Errorf("the answer is longer than %d bytes", limit)
		answer.Body = answer.Body[:limit]
	}
	// A refusal is clear from its status; only a success needs its body.
	if err != nil && answer.Status < 300 {
		e := noResponseError(request, true, err)
		e.Status, e.RequestID = answer.Status, answer.RequestID
		return nil, e
	}
	return answer, nil
}

// noResponseError classifies a call that got no complete answer.
func noResponseError(request Request, left bool, err error) *network.Error {
	code := "connection_failed"
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		code = "timeout"
	case left && errors.Is(err, syscall.ECONNRESET):
		code = "connection_reset"
	case left && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		code = "connection_closed"
	}
	host := request.URL
	if u, parseErr := url.Parse(request.URL); parseErr == nil {
		host = u.Host
	}
	switch {
	case !left:
		return newError(request, network.NotSent, code, "The request never reached "+host, err)
	case request.Create:
		return newError(request, network.Ambiguous, code, "No answer came from "+host+": it may have acted", err)
	default:
		return newError(request, network.Transient, code, "No answer came from "+host, err)
	}
}

func newError(request Request, class network.Class, code, message string, err error) *network.Error {
	// url.Error repeats the whole URL, query included.
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	secrets := append([]secret.Text{request.Token}, request.Secrets...)
	return &network.Error{
		Class:   class,
		Code:    code,
		Message: Redact(fmt.Sprintf("%s: %s.", message, describeCause(err)), secrets...),
		Err:     redactedError{err, secrets},
	}
}

// describeCause says why a connection failed, without the addresses that a name
// resolved to: people see it, and those may be of the operator's own network.
func describeCause(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case ssrf.Prohibited(err):
		return "its address is private or its port unusual, which is not allowed"
	case errors.As(err, &dns):
		return "its name cannot be resolved"
	case errors.As(err, &op) && op.Timeout():
		return "it took too long"
	case errors.As(err, &op):
		return op.Err.Error()
	default:
		return err.Error()
	}
}

// redactedError is an error whose text has no secrets in it.
type redactedError struct {
	error
	secrets []secret.Text
}

func (q redactedError) Error() string { return Redact(q.error.Error(), q.secrets...) }
func (q redactedError) Unwrap() error { return q.error }

// Redact replaces secrets in text that came from elsewhere.
func Redact(text string, secrets ...secret.Text) string {
	for _, s := range secrets {
		if !s.Empty() {
			text = strings.ReplaceAll(text, s.Reveal(), "[redacted]")
		}
	}
	return text
}
