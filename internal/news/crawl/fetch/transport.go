package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"dateline/internal/infra/ssrf"
)

// newTransport creates a transport with or without a proxy.
func (f *Fetcher) newTransport(proxy *url.URL) *http.Transport {
	t := &http.Transport{
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // readBody decompresses, with limits
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    2,        // hosts get one request at a time
		ReadBufferSize:         16 << 10, // fits most compressed pages
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  f.limits.HeaderTimeout,
		MaxResponseHeaderBytes: 128 << 10,
	}
	if proxy == nil {
		t.DialContext = f.dial
	} else {
		t.Proxy = http.ProxyURL(proxy)
		t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	}
	return t
}

// transport returns the transport for a request's proxy.
func (f *Fetcher) transport(proxy string) (*http.Transport, error) {
	if proxy == "" {
		proxy = f.options.Proxy
	}
	if proxy == "" {
		return f.direct, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if existing := f.proxied[proxy]; existing != nil {
		return existing, nil
	}
	u, err := parseProxy(proxy)
	if err != nil {
		return nil, err
	}
	transport := f.newTransport(u)
	f.proxied[proxy] = transport
	return transport, nil
}

func parseProxy(proxy string) (*url.URL, error) {
	u, err := url.Parse(proxy)
	if err != nil || u.Host == "" {
		return nil, errors.New("the proxy must be a URL such as http://proxy:3128") // the value may contain a password
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, fmt.Errorf("proxy scheme %q is not supported: use http, https or socks5", u.Scheme)
}

// dial resolves a name through the cache and lets the guard check the address
// that is dialed.
func (f *Fetcher) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := f.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	// If one address of a name is private, the others are not trusted.
	if err := f.guard.CheckAll(address, addrs); err != nil {
		return nil, err
	}
	var lastErr error
	for _, addr := range dialOrder(addrs) {
		conn, err := f.dialOne(ctx, network, address, addr)
		if err == nil {
			return conn, nil
		}
		if ssrf.IsBlocked(err) || ctx.Err() != nil {
			return nil, err
		}
		lastErr = err
	}
	return nil, lastErr
}

// dialOrder returns the addresses to try, at most four. IPv4 comes first:
// without IPv4 the attempt fails at once, while broken IPv6 times out.
func dialOrder(addrs []netip.Addr) []netip.Addr {
	sorted := slices.Clone(addrs)
	slices.SortStableFunc(sorted, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() })
	return sorted[:min(len(sorted), 4)]
}

func (f *Fetcher) dialOne(ctx context.Context, network, address string, addr netip.Addr) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return f.guard.DialResolved(ctx, network, address, addr)
}

func (f *Fetcher) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	return f.names.lookup(ctx, strings.ToLower(strings.TrimSuffix(host, ".")))
}

// checkBehindProxy is the guard for requests through a proxy, which dials by
// itself. It blocks literal addresses, local names, and names that resolve to a
// private address here. Only the proxy knows what else a name means to it.
func (f *Fetcher) checkBehindProxy(ctx context.Context, u *url.URL) error {
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if name := strings.TrimSuffix(strings.ToLower(host), "."); name == "localhost" ||
		strings.HasSuffix(name, ".localhost") {
		return errLocalName
	}
	addrs, err := f.resolve(ctx, host)
	if err != nil {
		return ctx.Err() // the proxy may know the name
	}
	return f.guard.CheckAll(net.JoinHostPort(host, port), addrs)
}

var errLocalName = errors.New("the name refers to the local host")
