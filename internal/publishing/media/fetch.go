package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"sync/atomic"
	"time"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/ssrf"
)

const maxRedirects = 3

// FetchLimits bounds how slow the server of a fetched file may be, because a request
// waits for it. Zero values mean 30 seconds in total, and 16 KiB per second measured
// over 5 seconds.
type FetchLimits struct {
	Timeout    time.Duration
	MinRate    int64 // bytes per second
	RateWindow time.Duration
}

func (p FetchLimits) withDefaults() FetchLimits {
	if p.Timeout == 0 {
		p.Timeout = 30 * time.Second
	}
	if p.MinRate == 0 {
		p.MinRate = 16 << 10
	}
	if p.RateWindow == 0 {
		p.RateWindow = 5 * time.Second
	}
	return p
}

// Fetch downloads a file from a public URL. The HTTP client checks every address
// after name resolution, also those of redirects.
func (s *Service) Fetch(
	ctx context.Context, who workspace.Principal, address, altText, idempotencyKey string,
) (Item, bool, error) {
	u, err := url.Parse(address)
	if problem := checkAddress(u, err); problem != nil {
		return Item{}, false, apperr.InvalidFields(*problem)
	}
	if s.Web == nil {
		return Item{}, false, errors.New("this process does not fetch from the web")
	}
	pace := s.FetchLimits.withDefaults()
	// The limits apply to the server, not to the processing of the file.
	giveUp, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	asking, cancel := context.WithTimeoutCause(giveUp, pace.Timeout,
		fetchFailed("timeout", fmt.Sprintf("The server did not send the whole file within %v.", pace.Timeout)))
	defer cancel()
	request, err := http.NewRequestWithContext(asking, http.MethodGet, u.String(), nil)
	if err != nil {
		return Item{}, false, apperr.InvalidFields(apperr.FieldError{
			Field: "url", Code: "invalid", Message: "Invalid URL.",
		})
	}
	request.Header.Set("User-Agent", "Dateline")
	request.Header.Set("Accept", "image/*, video/*")
	request.Header.Set("Accept-Encoding", "identity") // no decompression bombs
	response, err := s.redirectClient().Do(request)
	if err != nil {
		return Item{}, false, fetchError(asking, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return Item{}, false, fetchFailed("refused",
			fmt.Sprintf("The server responded with status %d.", response.StatusCode))
	}
	if response.ContentLength > 0 {
		if err := s.checkSize(response.ContentLength); err != nil {
			return Item{}, false, err
		}
	}
	body := newLimitedBody(asking, abandon, response.Body, pace)
	defer body.stop()
	return s.Save(ctx, who, NewFile{
		FileName: responseFileName(response), AltText: altText, Body: body, IdempotencyKey: idempotencyKey,
	})
}

// redirectClient returns the client with a stricter redirect policy.
func (s *Service) redirectClient() *http.Client {
	client := *s.Web
	client.Timeout = 0 // the context has one
	client.Jar = nil
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fetchFailed("redirects", fmt.Sprintf("The address redirects more than %d times.", maxRedirects))
		}
		if problem := checkAddress(r.URL, nil); problem != nil {
			return fetchFailed(problem.Code, "It redirects to a URL that is not allowed. "+problem.Message)
		}
		r.Header.Del("Referer") // the URL may contain a secret
		return nil
	}
	return &client
}

func checkAddress(u *url.URL, err error) *apperr.FieldError {
	switch {
	case err == nil && u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		return &apperr.FieldError{
			Field: "url", Code: "unsupported_scheme", Message: "Only http and https addresses are fetched.",
		}
	case err != nil || u.Scheme == "" || u.Hostname() == "":
		return &apperr.FieldError{
			Field: "url", Code: "invalid", Message: "Invalid URL. Use a URL such as https://example.org/photo.jpg.",
		}
	case u.User != nil:
		return &apperr.FieldError{
			Field: "url", Code: "credentials", Message: "Remove the user name and password from the URL.",
		}
	}
	return nil
}

func fetchFailed(code, message string) *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindInvalid, Code: "fetch_failed", Message: "The file could not be fetched.",
		Fields: []apperr.FieldError{{Field: "url", Code: code, Message: message}},
	}
}

// fetchError describes the failure without the URL, which may contain a secret, and
// without the resolved address, which may belong to the operator's network.
func fetchError(ctx context.Context, err error) error {
	var known *apperr.Error
	var dns *net.DNSError
	switch {
	case ctx.Err() != nil && errors.As(context.Cause(ctx), &known):
		return known
	case errors.As(err, &known):
		return known
	case ssrf.IsBlocked(err):
		return fetchFailed("private_address", "The address is private or uses an unusual port, which is not allowed.")
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return fetchFailed("timeout", "The server took too long to respond.")
	case errors.As(err, &dns):
		return fetchFailed("unknown_host", "The name of the server cannot be resolved.")
	default:
		return fetchFailed("unreachable", "The server cannot be reached, or does not speak HTTP.")
	}
}

// limitedBody is the body of a download. It aborts a download that is too slow, and
// marks its errors as errors of the download.
type limitedBody struct {
	ctx    context.Context //nolint:containedctx // io.Reader takes none
	cancel context.CancelCauseFunc
	body   io.Reader
	limits FetchLimits
	passed atomic.Int64 // bytes since the last check
	timer  *time.Timer
}

func newLimitedBody(
	ctx context.Context, cancel context.CancelCauseFunc, body io.Reader, pace FetchLimits,
) *limitedBody {
	f := &limitedBody{ctx: ctx, cancel: cancel, body: body, limits: pace}
	f.timer = time.AfterFunc(time.Hour, f.checkRate)
	f.timer.Reset(pace.RateWindow)
	return f
}

// checkRate cancels the download, also during a Read, if too few bytes arrived since
// the last check.
func (f *limitedBody) checkRate() {
	if f.passed.Swap(0) < max(1, int64(float64(f.limits.MinRate)*f.limits.RateWindow.Seconds())) {
		f.cancel(fetchFailed("too_slow", fmt.Sprintf("The server sends less than %d bytes a second.",
			f.limits.MinRate)))
		return
	}
	f.timer.Reset(f.limits.RateWindow)
}

func (f *limitedBody) stop() { f.timer.Stop() }

func (f *limitedBody) Read(p []byte) (int, error) {
	n, err := f.body.Read(p)
	f.passed.Add(int64(n))
	if err == nil {
		return n, nil
	}
	f.stop()
	if errors.Is(err, io.EOF) {
		return n, err
	}
	var known *apperr.Error
	switch {
	case f.ctx.Err() != nil && errors.As(context.Cause(f.ctx), &known):
		return n, known
	case errors.Is(err, context.Canceled):
		return n, context.Canceled
	}
	return n, fetchFailed("incomplete", "The server did not send the whole file.")
}

// responseFileName returns the file name of the Content-Disposition header, or else
// the last element of the URL's path.
func responseFileName(r *http.Response) string {
	if _, params, err := mime.ParseMediaType(r.Header.Get("Content-Disposition")); err == nil &&
		params["filename"] != "" {
		return params["filename"]
	}
	return path.Base(r.Request.URL.Path)
}
