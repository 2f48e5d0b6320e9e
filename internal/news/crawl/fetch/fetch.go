// Package fetch gets pages from the web for the crawler: politely towards the
// server, carefully towards what it answers. Whatever a server does, a fetch
// ends within its bounds and says in one word what came of it.
package fetch

import (
	"context"
	"net/http"
	"net/netip"
	"time"
)

// Kind is what is expected at a URL. It decides on content types and sizes.
type Kind string

// The kinds.
const (
	KindPage    Kind = "page" // an article or a hub
	KindFeed    Kind = "feed"
	KindSitemap Kind = "sitemap"
	KindRobots  Kind = "robots"
)

// Request is one thing to fetch.
type Request struct {
	URL  string
	Kind Kind // empty: Page

	// ETag and LastModified come from an earlier Result and make the request
	// conditional (RFC 9110 §13).
	ETag         string
	LastModified string

	// MaxBytes lowers the cap on the decompressed body; 0: the kind's own.
	MaxBytes int64
	// Render asks for the page as a browser shows it, if there is a Renderer.
	Render bool
	// Proxy is the proxy for this request; empty: the fetcher's own.
	Proxy string
	// Allowed is asked before every request that is made, also those that
	// redirects lead to. It returns false, and why, to stop. It may wait for a
	// host's turn: its time is not counted. Nil allows all.
	Allowed func(ctx context.Context, url string) (bool, string)
}

// Outcome says in one word what came of a fetch.
type Outcome string

// The outcomes.
const (
	OK              Outcome = "ok"                // 2xx with a body of the kind asked for
	NotModified     Outcome = "not_modified"      // 304
	NotFound        Outcome = "gone"              // 404, 410 or 451: not asked for again soon
	ClientError     Outcome = "refused"           // 401, 403 and the other 4xx
	BlockedByRobots Outcome = "blocked_by_robots" // Allowed said no; of the URL or of where it redirects
	Throttled       Outcome = "throttled"         // 429, or 503 with Retry-After
	ServerError     Outcome = "server_error"      // 5xx
	Timeout         Outcome = "timeout"           // too slow, in total or by its rate
	TooBig          Outcome = "too_big"           // more bytes than allowed, on the wire or decompressed
	WrongType       Outcome = "wrong_type"        // not of the kind asked for
	BlockedAddress  Outcome = "refused_address"   // leads to where the crawler does not go: private networks
	Unreachable     Outcome = "unreachable"       // no such name, no connection, no TLS, no HTTP
	Trap            Outcome = "trap"              // endless redirects
	Invalid         Outcome = "invalid"           // not a URL that can be fetched
)

// Hop is one request of a chain of redirects.
type Hop struct {
	URL    string `json:"url"`
	Status int    `json:"status"`
	To     string `json:"to,omitempty"` // where it redirects, absolute
}

// Result is what came of a fetch.
type Result struct {
	URL      string // that was asked for
	FinalURL string // that answered last
	Outcome  Outcome
	Reason   string // a sentence for people; empty with OK
	Status   int    // of the last answer; 0: none
	Header   http.Header
	Hops     []Hop // every request but the last

	ETag         string
	LastModified string

	Body        []byte // decompressed, as the server sent it; only with OK
	Text        []byte // the same in UTF-8; nil for what is no text
	ContentType string // media type without parameters, in small letters
	Charset     string // that Text was decoded from
	Encoding    string // that was taken off: gzip, br, zstd, deflate

	WireBytes  int64 // of bodies, as they came over the wire
	RetryAfter time.Duration
	Started    time.Time
	FirstByte  time.Duration // until the headers of the last answer
	Duration   time.Duration
	Requests   int        // that were made
	RemoteIP   netip.Addr // of the last connection; invalid behind a proxy
	Protocol   string     // HTTP/1.1, HTTP/2.0
	Rendered   bool
}

// Redirected says whether the page is at another URL than was asked for.
func (r *Result) Redirected() bool { return len(r.Hops) > 0 }

// Transient says whether the same request may succeed later.
func (r *Result) Transient() bool {
	switch r.Outcome {
	case Throttled, ServerError, Timeout, Unreachable:
		return true
	}
	return false
}
