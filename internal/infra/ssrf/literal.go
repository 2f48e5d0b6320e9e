package ssrf

import (
	"net/netip"
	"strconv"
	"strings"
)

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
