package ssrf

import (
	"net/netip"
	"strconv"
	"strings"
)

// CheckHost says what can be known of a URL's host before its name is resolved.
// It refuses addresses that are not public, names of this machine, and IPv4
// addresses that are not written as four decimal numbers (127.1, 0x7f.1,
// 2130706433), which resolvers and browsers read in different ways
// (https://url.spec.whatwg.org/#ipv4-number-parser). Every other name has to be
// checked again when it is dialed.
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

// isNumber says whether the last label of a host makes it an IPv4 address.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok && strings.Trim(hex, "0123456789abcdef") == "" {
		return true
	}
	_, err := strconv.ParseUint(label, 10, 64)
	return err == nil || label != "" && strings.Trim(label, "0123456789") == ""
}
