// Package call makes the HTTP requests of network adapters, and classifies
// failures: whether a request provably was not sent, or may have been processed.
package call

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
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
	defaultCreateTimeout = 4 * time.Minute // networks were observed to take more than 200 s to publish
	defaultMaxBody       = 4 << 20
)

// Request is an HTTP request.
type Request struct {
	Method string
	URL    string
	Token  secret.Text // sent as a bearer token if not empty
	Body   *Body       // nil: none
	Header http.Header // additional headers

	// Create marks a request that must not happen twice: once bytes were sent, a
	// lost response is Ambiguous. All other requests can be repeated, so a lost
	// response is Transient.
	Create bool
	// IdempotencyKey is sent as Idempotency-Key; empty: not sent.
	IdempotencyKey string

	Timeout time.Duration // 0: 30 s, or 4 min for Create
	MaxBody int64         // 0: 4 MiB of response body
	Secrets []secret.Text // redacted from errors, in addition to Token
}

// Response is a complete response with any status.
type Response struct {
	Status    int
	URL       string // that responded, after redirects
	Header    http.Header
	Body      []byte
	Date      time.Time // the server's clock; zero: no Date header
	Sent      time.Time // local clock when the request's headers were sent
	Received  time.Time // local clock when the response's headers arrived
	RequestID string

	create  bool
	secrets []secret.Text
}

// ClockSkew returns how far the server's clock is ahead of the local one, to the
// second; zero if the server does not report its time.
func (r *Response) ClockSkew() time.Duration {
	if r.Date.IsZero() {
		return 0
	}
	skew := r.Date.Sub(r.Received)
	// Date has whole seconds, and the response took time: less is not skew.
	if skew.Abs() < 2*time.Second {
		return 0
	}
	return skew.Truncate(time.Second)
}

// Caller makes requests with one HTTP client.
type Caller struct{ client http.Client }

// New wraps a client, which should refuse private addresses (NewClient). The
// client's timeout is not used: every Request has its own.
func New(client *http.Client) *Caller {
	own := *client
	own.Timeout = 0
	own.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		// 307 and 308 would send the body again, to an unknown address.
		if method := via[0].Method; method != http.MethodGet && method != http.MethodHead {
			return http.ErrUseLastResponse
		}
		if len(via) >= 5 {
			return errors.New("the network redirects in a loop")
		}
		if next.URL.Host != via[0].URL.Host {
			// net/http keeps headers that it does not know as secret, such as Zalo's access_token.
			maps.DeleteFunc(next.Header, func(name string, _ []string) bool {
				return name != "Accept" && name != "User-Agent"
			})
		}
		return nil
	}
	return &Caller{client: own}
}

// Do makes the request once. An error is always a *network.Error. A response with
// an error status is not an error here (see Response.StatusError).
//
// Bodies cannot be rewound, so net/http never repeats a request after bytes were
// sent, not even one with an Idempotency-Key (net/http Request.isReplayable): a
// network that stores the key after it acts would publish twice while the first
// call is still running.
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
	if request.Create {
		traced = withCreate(traced)
	}
	req, err := newRequest(traced, request)
	if err != nil {
		return nil, newError(request, network.NotSent, "bad_request", "The request could not be built", err)
	}
	res, err := c.client.Do(req)
	if err != nil {
		// A request that was canceled while it was being written may have been
		// sent although the trace did not report it yet.
		left := wrote.Load() || connected.Load() && ctx.Err() != nil
		return nil, noResponseError(request, left, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := readResponse(request, res)
	if err != nil {
		return nil, err
	}
	body.Sent = time.Unix(0, sent.Load()).UTC()
	return body, nil
}

func newRequest(ctx context.Context, request Request) (*http.Request, error) {
	var body io.Reader
	if request.Body != nil {
		// The wrapper hides the reader's type, so that net/http does not set
		// GetBody.
		body = struct{ io.Reader }{request.Body.Reader}
		if request.Body.Closer != nil {
			// net/http may read the body after Do returned: only it knows when to
			// close it.
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
	// net/http would also repeat a request without a body that has such a header.
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
	body := &Response{
		Status:    res.StatusCode,
		URL:       res.Request.URL.String(),
		Header:    res.Header,
		Received:  time.Now(),
		RequestID: res.Header.Get("X-Request-Id"),
		create:    request.Create,
		secrets:   append([]secret.Text{request.Token}, request.Secrets...),
	}
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		body.Date = date
	}
	limit := request.MaxBody
	if limit == 0 {
		limit = defaultMaxBody
	}
	var buf bytes.Buffer
	n, err := buf.ReadFrom(io.LimitReader(res.Body, limit+1))
	body.Body = buf.Bytes()
	if err == nil && n > limit {
		err = fmt.Errorf("the response is longer than %d bytes", limit)
		body.Body = body.Body[:limit]
	}
	// The status of a refusal is sufficient; only a success needs its body.
	if err != nil && body.Status < 300 {
		e := noResponseError(request, true, err)
		e.Status, e.RequestID = body.Status, body.RequestID
		return nil, e
	}
	return body, nil
}

// noResponseError classifies a request without a complete response.
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
		return newError(request, network.NotSent, code, "The request did not reach "+host, err)
	case request.Create:
		return newError(request, network.Ambiguous, code, "No response from "+host+", which may have acted", err)
	default:
		return newError(request, network.Transient, code, "No response from "+host, err)
	}
}

func newError(request Request, class network.Class, code, message string, err error) *network.Error {
	// url.Error contains the whole URL, including the query.
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	secrets := append([]secret.Text{request.Token}, request.Secrets...)
	return &network.Error{
		Class:   class,
		Code:    code,
		Message: Redact(fmt.Sprintf("%s: %s.", message, Cause(err)), secrets...),
		Err:     redactedError{err, secrets},
	}
}

// Cause describes why a connection failed, without resolved IP addresses:
// users see the text, and the addresses may be those of the operator's own
// network.
func Cause(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case ssrf.IsBlocked(err):
		return "its address or port is not allowed"
	case errors.As(err, &dns):
		return "its name cannot be resolved"
	case errors.As(err, &op) && op.Timeout():
		return "it took too long"
	case errors.As(err, &op):
		return op.Err.Error()
	default: // net/http passes some errors of connections on as text
		return regexp.MustCompile(`(read|write) \w+ \S+->\S+: `).ReplaceAllString(err.Error(), "")
	}
}

// redactedError is an error whose text contains no secrets.
type redactedError struct {
	error
	secrets []secret.Text
}

func (q redactedError) Error() string { return Redact(q.error.Error(), q.secrets...) }
func (q redactedError) Unwrap() error { return q.error }

// Redact replaces secrets in text from other sources.
func Redact(text string, secrets ...secret.Text) string {
	for _, s := range secrets {
		if !s.Empty() {
			text = strings.ReplaceAll(text, s.Reveal(), "[redacted]")
		}
	}
	return text
}
