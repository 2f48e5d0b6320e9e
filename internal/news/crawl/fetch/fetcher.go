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

// Fetcher fetches. It is safe for concurrent use. It does not wait for a host's
// turn: politeness is the frontier's.
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

// New makes a fetcher.
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
	f := &Fetcher{options: options, limits: options.Limits.withDefaults(), agent: agent, guard: guard,
		names: newDNSCache(options.Resolver, options.Now), proxied: map[string]*http.Transport{}}
	f.direct = f.newTransport(nil)
	if options.Proxy != "" {
		if _, err := f.transport(""); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Agent is the User-Agent header that is sent.
func (f *Fetcher) Agent() string { return f.agent }

// Product is the token by which robots.txt names this crawler.
func (f *Fetcher) Product() string { return f.options.Product }

// Close drops idle connections.
func (f *Fetcher) Close() {
	f.direct.CloseIdleConnections()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.proxied {
		t.CloseIdleConnections()
	}
}

// Fetch gets one page, following redirects. Whatever the server did is told by
// the result; an error means that ctx ended, or that the request makes no sense.
func (f *Fetcher) Fetch(ctx context.Context, request Request) (*Result, error) {
	if request.Kind == "" {
		request.Kind = KindPage
	}
	transport, err := f.transport(request.Proxy)
	if err != nil {
		return nil, err
	}
	one := &attempt{f: f, request: request, timeLeft: f.limits.Timeout, transport: transport, direct: transport == f.direct,
		result: &Result{URL: request.URL, FinalURL: request.URL, Started: f.options.Now()}}
	start := time.Now()
	one.follow(ctx)
	one.result.Duration = time.Since(start)
	// The caller's end is not the server's fault.
	if err := ctx.Err(); err != nil && (one.result.Outcome == Timeout || one.result.Outcome == BlockedByRobots) {
		return nil, err
	}
	if request.Render && f.options.Renderer != nil && one.result.Outcome == OK && request.Kind == KindPage {
		return f.render(ctx, one)
	}
	return one.result, nil
}

// attempt is one Fetch under way.
type attempt struct {
	f         *Fetcher
	request   Request
	transport *http.Transport
	direct    bool
	timeLeft  time.Duration  // of the time for all requests
	jar       http.CookieJar // of this fetch alone; nil until a redirect sets a cookie
	visited   []string
	result    *Result
}

func (a *attempt) finish(outcome Outcome, reason string) {
	a.result.Outcome, a.result.Reason = outcome, reason
}

// follow goes from redirect to redirect.
func (a *attempt) follow(ctx context.Context) {
	address, err := weburl.Absolute("", a.request.URL)
	for {
		if err != nil {
			a.invalid(err)
			return
		}
		a.result.FinalURL = address
		if a.request.Allowed != nil {
			if allowed, why := a.request.Allowed(ctx, address); !allowed {
				a.finish(BlockedByRobots, why)
				return
			}
		}
		to, goesOn := a.hop(ctx, address)
		if !goesOn {
			return
		}
		a.result.Hops = append(a.result.Hops, Hop{URL: address, Status: a.result.Status, To: to})
		a.visited = append(a.visited, address)
		switch {
		case len(a.result.Hops) > a.f.limits.MaxRedirects:
			a.finish(Trap, fmt.Sprintf("it redirects more than %d times", a.f.limits.MaxRedirects))
			return
		case slices.Contains(a.visited, to) && a.jar == nil, count(a.visited, to) > 1:
			// A page may set a cookie and lead back to itself, once.
			a.finish(Trap, "it redirects in a circle")
			return
		}
		address = to
	}
}

func count(all []string, one string) int {
	n := 0
	for _, other := range all {
		if other == one {
			n++
		}
	}
	return n
}

func (a *attempt) invalid(err error) {
	outcome := Invalid
	if len(a.result.Hops) > 0 { // the server's doing
		outcome = Unreachable
	}
	reason := "it is no URL"
	switch {
	case errors.Is(err, weburl.ErrScheme):
		outcome, reason = BlockedAddress, "only http and https are fetched"
	case errors.Is(err, weburl.ErrCredentials):
		outcome, reason = BlockedAddress, "its URL has a user name or a password"
	case errors.Is(err, weburl.ErrTooLong):
		reason = "its URL is too long"
	}
	a.finish(outcome, reason)
}

// hop makes one request. It returns where that redirects, if it does.
func (a *attempt) hop(ctx context.Context, address string) (to string, redirects bool) {
	u, err := url.Parse(address)
	if err != nil {
		a.invalid(weburl.ErrInvalid)
		return "", false
	}
	begun := time.Now()
	ctx, stop := context.WithTimeout(ctx, a.timeLeft)
	defer stop()
	defer func() { a.timeLeft -= time.Since(begun) }()
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
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func (a *attempt) redirect(from *url.URL, res *http.Response, location string) (string, bool) {
	to, err := weburl.Absolute(from.String(), location)
	if err != nil {
		a.result.Hops = append(a.result.Hops, Hop{URL: from.String(), Status: res.StatusCode, To: location[:min(len(location), weburl.MaxLength)]})
		a.invalid(err)
		return "", false
	}
	if len(res.Cookies()) > 0 {
		if a.jar == nil {
			// An error is not possible with these options.
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
	// A validator belongs to the page at the end of the redirects: it is sent
	// along, and the others ignore it (RFC 9110 §13.2.1).
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
