package call

import (
	"net/http"
	"time"

	"dateline/internal/infra/ssrf"
)

// idlePerHost is the number of idle connections per host. Opening connections at
// the scheduled second makes posts late.
const idlePerHost = 64

// NewClient returns the HTTP client for calls to social networks. Users enter the
// addresses of instances, so it only connects to public addresses on ports 80 and
// 443, checked after name resolution.
//
// allowPrivate lists exceptions that the operator trusts: host:port as in the URL
// (sandbox:4001, 127.0.0.1:4001), or a network in CIDR notation (10.20.0.0/16).
// The client uses no proxy, because only the proxy's address could be checked
// then.
func NewClient(allowPrivate []string) (*http.Client, error) {
	guard, err := ssrf.New(allowPrivate)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext:         guard.DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        1024,
		MaxIdleConnsPerHost: idlePerHost,
		MaxConnsPerHost:     idlePerHost,
		IdleConnTimeout:     60 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	return &http.Client{Transport: transport}, nil
}
