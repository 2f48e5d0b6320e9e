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

// newTransport makes the connections of the crawler, directly or through a
// proxy.
func (f *Fetcher) newTransport(proxy *url.URL) *http.Transport {
	t := &http.Transport{
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // read takes encodings off, with caps
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    2,        // hosts are asked one page at a time
		ReadBufferSize:         16 << 10, // most pages are compressed, and come in one go
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  f.limits.Header,
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

// transport is the one for a request's proxy.
func (f *Fetcher) transport(proxy string) (*http.Transport, error) {
	if proxy == "" {
		proxy = f.options.Proxy
	}
	if proxy == "" {
		return f.direct, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.proxied[proxy]; known != nil {
		return known, nil
	}
	u, err := parseProxy(proxy)
	if err != nil {
		return nil, err
	}
	made := f.newTransport(u)
	f.proxied[proxy] = made
	return made, nil
}

func parseProxy(proxy string) (*url.URL, error) {
	u, err := url.Parse(proxy)
	if err != nil || u.Host == "" {
		return nil, errors.New("the proxy is no URL such as http://proxy:3128") // it may hold a password
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, fmt.Errorf("a proxy of scheme %q is not supported: use http, https or socks5", u.Scheme)
}

// dial resolves through the cache, then lets the guard look at the address that
// is really dialled.
func (f *Fetcher) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := f.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	// A name that has one private address is not trusted with its others.
	if err := f.guard.CheckAll(address, addrs); err != nil {
		return nil, err
	}
	var problem error
	for _, addr := range inTurn(addrs) {
		conn, err := f.dialOne(ctx, network, address, addr)
		if err == nil {
			return conn, nil
		}
		if ssrf.IsBlocked(err) || ctx.Err() != nil {
			return nil, err
		}
		problem = err
	}
	return nil, problem
}

// inTurn are the addresses to be tried: IPv4 first, because a machine without
// IPv4 fails at once, and one with broken IPv6 waits; and not too many.
func inTurn(addrs []netip.Addr) []netip.Addr {
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
// itself: addresses written as such, local names, and names that resolve here
// to a private address are refused. What a name means to the proxy only the
// proxy knows.
func (f *Fetcher) checkBehindProxy(ctx context.Context, u *url.URL) error {
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if name := strings.TrimSuffix(strings.ToLower(host), "."); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return errLocalName
	}
	addrs, err := f.resolve(ctx, host)
	if err != nil {
		return ctx.Err() // the proxy may know the name
	}
	return f.guard.CheckAll(net.JoinHostPort(host, port), addrs)
}

var errLocalName = errors.New("a name of the machine itself")
