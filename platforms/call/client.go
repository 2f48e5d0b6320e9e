package call

import (
	"net/http"
	"time"

	"dateline/internal/infra/ssrf"
)

// idlePerHost keeps enough warm connections for a crowded second: opening them
// at the moment of sending is what makes posts late.
const idlePerHost = 64

// NewClient makes the HTTP client for calls to social networks. Addresses of
// instances come from users, so it refuses to dial anything but public
// addresses on ports 80 and 443, checked after name resolution.
//
// allowPrivate lists exceptions that the operator trusts, each a host:port as
// it stands in the URL (sandbox:4001, 127.0.0.1:4001) or a network in CIDR
// notation (10.20.0.0/16). No proxy is used: behind one, the check would see
// the proxy's address only.
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
