// Package ssrf prevents server-side request forgery: requests to user-supplied URLs cannot
// reach private networks. It checks every address when it is dialed, after name
// resolution, so DNS rebinding, redirects and unusual notations of 127.0.0.1 are covered.
package ssrf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Errors of CheckHost for host names.
var (
	ErrLocalName = errors.New("the name is local")
	ErrIPv4Form  = errors.New("IPv4 addresses must be written as four decimal numbers")
)

// Guard allows connections to public addresses on ports 80 and 443, and to the exceptions
// of the operator.
type Guard struct {
	hosts    map[string]bool // host:port as in the URL
	prefixes []netip.Prefix
	public   *ssrf.Guardian
	open     net.Dialer
	guarded  net.Dialer
}

// New returns a guard. allowPrivate lists the exceptions: host:port as in the URL
// (sandbox:4001, 127.0.0.1:4001) or CIDR ranges (10.20.0.0/16).
func New(allowPrivate []string) (*Guard, error) {
	// On Azure, this public address reaches the agent of the host, which has
	// credentials
	// (learn.microsoft.com, "What is IP address 168.63.129.16?").
	azure := netip.PrefixFrom(netip.AddrFrom4([4]byte{168, 63, 129, 16}), 32)
	g := &Guard{hosts: map[string]bool{}, public: ssrf.New(ssrf.WithDeniedV4Prefixes(azure))}
	for _, entry := range allowPrivate {
		if prefix, err := netip.ParsePrefix(entry); err == nil {
			g.prefixes = append(g.prefixes, prefix.Masked())
			continue
		}
		host, port, err := net.SplitHostPort(entry)
		if err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("%q is neither host:port nor a CIDR range such as 10.0.0.0/8", entry)
		}
		g.hosts[strings.ToLower(entry)] = true
	}
	g.open = net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	g.guarded = g.open
	g.guarded.Control = func(network, address string, c syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err == nil && g.listed(target) {
			return nil
		}
		if err == nil {
			// ::ffff:192.0.2.1 reaches 192.0.2.1 (RFC 4291, section 2.5.5.2).
			address = unmapped(target).String()
		}
		return g.public.Safe(network, address, c)
	}
	return g, nil
}

// DialContext connects to a host:port.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if g.hosts[strings.ToLower(address)] {
		return g.open.DialContext(ctx, network, address)
	}
	return g.guarded.DialContext(ctx, network, address)
}

// DialResolved connects to a resolved address of a host:port.
func (g *Guard) DialResolved(ctx context.Context, network, address string, to netip.Addr) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	target := net.JoinHostPort(to.Unmap().String(), port)
	if g.hosts[strings.ToLower(address)] {
		return g.open.DialContext(ctx, network, target)
	}
	return g.guarded.DialContext(ctx, network, target)
}

// CheckAll returns an error unless all addresses of a host:port are allowed.
func (g *Guard) CheckAll(address string, addrs []netip.Addr) error {
	if g.hosts[strings.ToLower(address)] {
		return nil
	}
	_, digits, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return fmt.Errorf("%q is not a port", digits)
	}
	for _, addr := range addrs {
		if err := g.Check(netip.AddrPortFrom(addr, uint16(port))); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error unless an address is allowed.
func (g *Guard) Check(target netip.AddrPort) error {
	if g.listed(target) {
		return nil
	}
	return g.public.SafeAddrPort(unmapped(target))
}

func unmapped(target netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(target.Addr().Unmap(), target.Port())
}

// Trusts reports whether a host:port, as in a URL, is an exception. Names are not
// resolved.
func (g *Guard) Trusts(hostPort string) bool {
	if g.hosts[strings.ToLower(hostPort)] {
		return true
	}
	target, err := netip.ParseAddrPort(hostPort)
	return err == nil && g.listed(target)
}

// IsBlocked reports whether an error means that a guard rejected the address.
func IsBlocked(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedPort) ||
		errors.Is(err, ssrf.ErrProhibitedNetwork)
}

func (g *Guard) listed(target netip.AddrPort) bool {
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

// CheckHost checks the host of a URL before name resolution. It rejects addresses that
// are not public, local names, and IPv4
// addresses that are not four decimal numbers (127.1, 0x7f.1,
// 2130706433), which resolvers and browsers interpret differently
// (https://url.spec.whatwg.org/#ipv4-number-parser). All other names must be
// checked again when they are dialed.
func (g *Guard) CheckHost(host string) error {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		return g.public.SafeAddr(addr.WithZone("").Unmap())
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761, section 6.3
		return ErrLocalName
	}
	if isNumber(host[strings.LastIndexByte(host, '.')+1:]) {
		return ErrIPv4Form
	}
	return nil
}

// isNumber reports whether the last label of a host makes it an IPv4 address.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok && strings.Trim(hex, "0123456789abcdef") == "" {
		return true
	}
	_, err := strconv.ParseUint(label, 10, 64)
	return err == nil || label != "" && strings.Trim(label, "0123456789") == ""
}
