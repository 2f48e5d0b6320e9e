package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"

	"dateline/internal/infra/ssrf"
	"dateline/internal/news/crawl/weburl"
)

// Fetcher makes requests. It is safe for concurrent use. It does not enforce
// politeness; that is the task of package crawler.
type Fetcher struct {
	options Options
	limits  Limits
	agent   string
	guard   *ssrf.Guard
	names   *dnsCache
	direct  *http.Transport

	gunzippers sync.Pool // *gunzipper

	mu      sync.Mutex
	proxied map[string]*http.Transport
}

// New creates a fetcher.
func New(options Options) (*Fetcher, error) {
	agent, err := options.agent()
	if err != nil {
		return nil, err
	}
	guard, err := ssrf.New(options.AllowPrivate)
	if err != nil {
		return nil, err
	}
	if options.Resolver == nil {
		options.Resolver = SystemResolver{}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	f := &Fetcher{
		options: options, limits: options.Limits.withDefaults(), agent: agent, guard: guard,
		names: newDNSCache(options.Resolver, options.Now), proxied: map[string]*http.Transport{},
	}
	f.direct = f.newTransport(nil)
	if options.Proxy != "" {
		if _, err := f.transport(""); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Agent is the User-Agent header.
func (f *Fetcher) Agent() string { return f.agent }

// Product is the product token that robots.txt files use for this crawler.
func (f *Fetcher) Product() string { return f.options.Product }

// Close closes idle connections.
func (f *Fetcher) Close() {
	f.direct.CloseIdleConnections()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.proxied {
		t.CloseIdleConnections()
	}
}

// Fetch fetches a page, following redirects. It reports whatever the server did
// in the result; an error means that ctx ended or that the request is invalid.
func (f *Fetcher) Fetch(ctx context.Context, request Request) (*Result, error) {
	if request.Kind == "" {
		request.Kind = KindPage
	}
	transport, err := f.transport(request.Proxy)
	if err != nil {
		return nil, err
	}
	a := &attempt{
		f: f, request: request, timeLeft: f.limits.Timeout, transport: transport,
		direct: transport == f.direct,
		result: &Result{URL: request.URL, FinalURL: request.URL, Started: f.options.Now()},
	}
	start := time.Now()
	a.follow(ctx)
	a.result.Duration = time.Since(start)
	// A canceled context is not a timeout of the server.
	if err := ctx.Err(); err != nil && (a.result.Outcome == Timeout || a.result.Outcome == BlockedByRobots) {
		return nil, err
	}
	isPage := request.Kind == KindPage || request.Kind == KindHub && IsHTML(a.result.ContentType)
	if request.Render && f.options.Renderer != nil && a.result.Outcome == OK && isPage {
		return f.render(ctx, a)
	}
	return a.result, nil
}

// attempt is a Fetch in progress.
type attempt struct {
	f         *Fetcher
	request   Request
	transport *http.Transport
	direct    bool
	timeLeft  time.Duration  // for all requests
	jar       http.CookieJar // nil until a redirect sets a cookie
	visited   []string
	result    *Result
}

func (a *attempt) finish(outcome Outcome, reason string) {
	a.result.Outcome, a.result.Reason = outcome, reason
}

// follow follows redirects.
func (a *attempt) follow(ctx context.Context) {
	address, err := weburl.Absolute("", a.request.URL)
	for {
		if err != nil {
			a.invalid(err)
			return
		}
		a.result.FinalURL = address
		if a.request.Allowed != nil {
			if allowed, reason := a.request.Allowed(ctx, address); !allowed {
				a.finish(BlockedByRobots, reason)
				return
			}
		}
		to, redirects := a.hop(ctx, address)
		if !redirects {
			return
		}
		a.result.Hops = append(a.result.Hops, Hop{URL: address, Status: a.result.Status, To: to})
		a.visited = append(a.visited, address)
		switch {
		case len(a.result.Hops) > a.f.limits.MaxRedirects:
			a.finish(Trap, fmt.Sprintf("too many redirects: more than %d", a.f.limits.MaxRedirects))
			return
		case slices.Contains(a.visited, to) && a.jar == nil, count(a.visited, to) > 1:
			// A page may set a cookie and redirect to itself once.
			a.finish(Trap, "it redirects in a loop")
			return
		}
		address = to
	}
}

func count(all []string, a string) int {
	n := 0
	for _, other := range all {
		if other == a {
			n++
		}
	}
	return n
}

func (a *attempt) invalid(err error) {
	outcome := Invalid
	if len(a.result.Hops) > 0 { // caused by the server
		outcome = Unreachable
	}
	reason := "the URL is invalid"
	switch {
	case errors.Is(err, weburl.ErrScheme):
		outcome, reason = BlockedAddress, "only http and https are supported"
	case errors.Is(err, weburl.ErrCredentials):
		outcome, reason = BlockedAddress, "the URL contains credentials"
	case errors.Is(err, weburl.ErrTooLong):
		reason = "the URL is too long"
	}
	a.finish(outcome, reason)
}

// hop makes one request and returns the target of its redirect, if there is
// one.
func (a *attempt) hop(ctx context.Context, address string) (to string, redirects bool) {
	u, err := url.Parse(address)
	if err != nil {
		a.invalid(weburl.ErrInvalid)
		return "", false
	}
	started := time.Now()
	ctx, stop := context.WithTimeout(ctx, a.timeLeft)
	defer stop()
	defer func() { a.timeLeft -= time.Since(started) }()
	if !a.direct {
		if err := a.f.checkBehindProxy(ctx, u); err != nil {
			a.handleError(err)
			return "", false
		}
	}
	var remote netip.Addr
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if ap, err := netip.ParseAddrPort(info.Conn.RemoteAddr().String()); err == nil {
			remote = ap.Addr().Unmap()
		}
	}})
	r, err := http.NewRequestWithContext(traced, http.MethodGet, address, nil)
	if err != nil {
		a.invalid(weburl.ErrInvalid)
		return "", false
	}
	r.URL = u
	a.setHeaders(r)
	start := time.Now()
	a.result.Requests++
	a.result.Status, a.result.Header = 0, nil
	res, err := a.transport.RoundTrip(r)
	a.result.FirstByte = time.Since(start)
	if a.direct {
		a.result.RemoteIP = remote
	}
	if err != nil {
		a.handleError(err)
		return "", false
	}
	defer func() { _ = res.Body.Close() }()
	a.result.Status, a.result.Header, a.result.Protocol = res.StatusCode, res.Header, res.Proto
	if location := res.Header.Get("Location"); location != "" && isRedirect(res.StatusCode) {
		return a.redirect(u, res, location)
	}
	a.handleResponse(res, stop)
	return "", false
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

func (a *attempt) redirect(from *url.URL, res *http.Response, location string) (string, bool) {
	to, err := weburl.Absolute(from.String(), location)
	if err != nil {
		a.result.Hops = append(a.result.Hops, Hop{
			URL: from.String(), Status: res.StatusCode, To: location[:min(len(location), weburl.MaxLength)],
		})
		a.invalid(err)
		return "", false
	}
	if len(res.Cookies()) > 0 {
		if a.jar == nil {
			// This cannot fail with these options.
			a.jar, _ = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
		}
		a.jar.SetCookies(from, res.Cookies())
	}
	return to, true
}

func (a *attempt) setHeaders(r *http.Request) {
	r.Header.Set("User-Agent", a.f.agent)
	r.Header.Set("Accept", acceptHeader(a.request.Kind))
	r.Header.Set("Accept-Language", "vi, en;q=0.8, *;q=0.5")
	r.Header.Set("Accept-Encoding", "gzip, br, zstd, deflate")
	if a.jar != nil {
		for _, cookie := range a.jar.Cookies(r.URL) {
			r.AddCookie(cookie)
		}
	}
	// The validators belong to the page at the end of the redirects. They are
	// sent with every request; other pages ignore them (RFC 9110 §13.2.1).
	if a.request.ETag != "" {
		r.Header.Set("If-None-Match", a.request.ETag)
	}
	if a.request.LastModified != "" {
		r.Header.Set("If-Modified-Since", a.request.LastModified)
	}
}

func acceptHeader(kind Kind) string {
	switch kind {
	case KindFeed:
		return "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5"
	case KindSitemap:
		return "application/xml, text/xml, application/gzip, */*;q=0.5"
	case KindRobots:
		return "text/plain, */*;q=0.5"
	default:
		return "text/html, application/xhtml+xml, */*;q=0.5"
	}
}
