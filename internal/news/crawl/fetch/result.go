// Package fetch makes the crawler's HTTP requests. Whatever a server does, a
// fetch ends within its time and size limits, and its result has one of a few
// outcomes. Requests to private networks are blocked.
package fetch

import (
	"context"
	"net/http"
	"net/netip"
	"time"
)

// Kind is the type of document expected at a URL. It determines the accepted
// content types and size limits.
type Kind string

// The kinds.
const (
	KindPage    Kind = "page"
	KindFeed    Kind = "feed"
	KindSitemap Kind = "sitemap"
	KindRobots  Kind = "robots"
	// KindHub is a page, feed or sitemap: only its content shows which.
	KindHub Kind = "hub"
)

// mayBeZipped reports whether a document of the kind may be a gzip file, such as
// sitemap.xml.gz.
func (k Kind) mayBeZipped() bool { return k == KindSitemap || k == KindFeed || k == KindHub }

// Request describes a fetch.
type Request struct {
	URL  string
	Kind Kind // empty: KindPage

	// ETag and LastModified are validators from an earlier Result. They make
	// the request conditional (RFC 9110 §13).
	ETag         string
	LastModified string

	// MaxBytes lowers the limit of the decompressed body; 0: the limit of the
	// kind.
	MaxBytes int64
	// Render renders the page in a browser, if there is a Renderer.
	Render bool
	// Proxy overrides the fetcher's proxy.
	Proxy string
	// Allowed is called before every request, including those of redirects. It
	// returns false and a reason to stop. It may wait for a request slot; this
	// does not count towards the timeout. Nil allows everything.
	Allowed func(ctx context.Context, url string) (bool, string)
}

// Outcome is the result of a fetch in one word.
type Outcome string

// The outcomes.
const (
	OK              Outcome = "ok"                // 2xx with a body of the kind asked for
	NotModified     Outcome = "not_modified"      // 304
	NotFound        Outcome = "not_found"         // 404, 410 or 451
	ClientError     Outcome = "client_error"      // 401, 403 and other 4xx
	BlockedByRobots Outcome = "blocked_by_robots" // Allowed returned false for the URL or the target of a redirect
	Throttled       Outcome = "throttled"         // 429, or 503 with Retry-After
	ServerError     Outcome = "server_error"      // 5xx
	Timeout         Outcome = "timeout"           // total time or transfer rate
	TooBig          Outcome = "too_big"           // too many bytes, on the wire or decompressed
	WrongType       Outcome = "wrong_type"        // unexpected content type
	BlockedAddress  Outcome = "blocked_address"   // private network, or port that is not allowed
	Unreachable     Outcome = "unreachable"       // no DNS name, connection, TLS or HTTP
	Trap            Outcome = "trap"              // endless redirects
	Invalid         Outcome = "invalid"           // invalid URL
)

// Hop is one request in a chain of redirects.
type Hop struct {
	URL    string `json:"url"`
	Status int    `json:"status"`
	To     string `json:"to,omitempty"` // target, absolute
}

// Result is the result of a fetch.
type Result struct {
	URL      string // requested
	FinalURL string // that responded last
	Outcome  Outcome
	Reason   string // for users;
	Status   int    // of the last response; 0
	Header   http.Header
	Hops     []Hop // all requests except the last

	ETag         string
	LastModified string

	Body        []byte // decompressed; only with OK
	Text        []byte // Body in UTF-8; nil if it is not text
	ContentType string // media type without parameters, in lower case
	Charset     string // of Body
	Encoding    string // content encoding that was removed: gzip, br, zstd, deflate

	WireBytes  int64 // of bodies, on the wire
	RetryAfter time.Duration
	Started    time.Time
	FirstByte  time.Duration // until the headers of the last response
	Duration   time.Duration
	Requests   int        // number of requests
	RemoteIP   netip.Addr // of the last connection; invalid behind a proxy
	Protocol   string     // HTTP/1.1, HTTP/2.0
	Rendered   bool
}

// Redirected reports whether the page is at another URL than requested.
func (r *Result) Redirected() bool { return len(r.Hops) > 0 }

// Transient reports whether the same request may succeed later.
func (r *Result) Transient() bool {
	switch r.Outcome {
	case Throttled, ServerError, Timeout, Unreachable:
		return true
	}
	return false
}
