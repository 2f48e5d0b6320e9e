package call

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
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
	guard, err := newGuard(allowPrivate)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext:         guard.dial,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        1024,
		MaxIdleConnsPerHost: idlePerHost,
		MaxConnsPerHost:     idlePerHost,
		IdleConnTimeout:     60 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	return &http.Client{Transport: transport}, nil
}

// Trusts tells of a host:port, as it stands in a URL, whether allowPrivate
// lists it. Of a name it knows only what is listed by that name.
func Trusts(allowPrivate []string) (func(hostPort string) bool, error) {
	guard, err := newGuard(allowPrivate)
	if err != nil {
		return nil, err
	}
	return func(hostPort string) bool {
		if guard.hosts[strings.ToLower(hostPort)] {
			return true
		}
		target, err := netip.ParseAddrPort(hostPort)
		return err == nil && guard.listed(target)
	}, nil
}

type guard struct {
	hosts    map[string]bool // host:port as in the URL
	prefixes []netip.Prefix
	open     net.Dialer
	guarded  net.Dialer
}

func newGuard(allowPrivate []string) (*guard, error) {
	g := &guard{hosts: map[string]bool{}}
	for _, entry := range allowPrivate {
		if prefix, err := netip.ParsePrefix(entry); err == nil {
			g.prefixes = append(g.prefixes, prefix.Masked())
			continue
		}
		host, port, err := net.SplitHostPort(entry)
		if err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("%q is neither host:port nor a network such as 10.0.0.0/8: correct the list of private addresses", entry)
		}
		g.hosts[strings.ToLower(entry)] = true
	}
	public := ssrf.New()
	g.open = net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	g.guarded = g.open
	g.guarded.Control = func(network, address string, c syscall.RawConn) error {
		if target, err := netip.ParseAddrPort(address); err == nil && g.listed(target) {
			return nil
		}
		return public.Safe(network, address, c)
	}
	return g, nil
}

func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if g.hosts[strings.ToLower(address)] {
		return g.open.DialContext(ctx, network, address)
	}
	return g.guarded.DialContext(ctx, network, address)
}

func (g *guard) listed(target netip.AddrPort) bool {
	addr := target.Addr().Unmap()
	if g.hosts[netip.AddrPortFrom(addr, target.Port()).String()] {
		return true
	}
	for _, prefix := range g.prefixes {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}
