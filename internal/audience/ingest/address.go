package ingest

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// ParseProxies parses addresses and networks of proxies.
func ParseProxies(texts []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
			continue
		}
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("%q must be an IP address or a network", text)
		}
		a = a.Unmap()
		out = append(out, netip.PrefixFrom(a, a.BitLen()))
	}
	return out, nil
}

// clientAddress returns the client's address. Behind trusted proxies it reads
// X-Forwarded-For from its end, because a client can forge the entries before.
func clientAddress(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // a Unix socket
	}
	address := peer.Addr().Unmap()
	if !containsAddress(address, trusted) {
		return address
	}
	hops := r.Header["X-Forwarded-For"]
	for i := len(hops) - 1; i >= 0; i-- {
		for rest := hops[i]; rest != ""; {
			at := strings.LastIndexByte(rest, ',')
			one := strings.TrimSpace(rest[at+1:])
			rest = rest[:max(at, 0)]
			hop, err := netip.ParseAddr(one)
			if err != nil {
				return address // earlier entries can't be trusted
			}
			address = hop.Unmap()
			if !containsAddress(address, trusted) {
				return address
			}
		}
	}
	return address
}

func containsAddress(a netip.Addr, networks []netip.Prefix) bool {
	for _, p := range networks {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
