package call

import (
	"net/http"
	"time"

	"dateline/internal/infra/ssrf"
	"dateline/platforms/network"
)

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
		DialContext:         readEarlyResponses(guard.DialContext),
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        4 * maxCalls,
		MaxIdleConnsPerHost: maxCalls, // opening connections at the scheduled second makes posts late
		MaxConnsPerHost:     maxCalls,
		IdleConnTimeout:     60 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	fresh := transport.Clone()
	fresh.DisableKeepAlives = true
	return &http.Client{Transport: &limiter{next: transport, fresh: fresh}}, nil
}

// Host returns the host to call for an account at baseURL, on a network with a
// single service: host, or the fake network at sandbox (empty: there is none).
func Host(networkName, baseURL, sandbox, host string) (string, error) {
	switch {
	case baseURL == "":
		return host, nil
	case sandbox != "" && baseURL == sandbox:
		return sandbox, nil
	default:
		return "", &network.Error{
			Class: network.Rejected, Code: "bad_address", Field: "base_url",
			Message: networkName + " has a single service: leave the address empty.",
		}
	}
}
