package ingest

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// ParseProxies reads addresses and networks of proxies.
func ParseProxies(texts []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
			continue
		}
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("%q is no address or network", text)
		}
		a = a.Unmap()
		out = append(out, netip.PrefixFrom(a, a.BitLen()))
	}
	return out, nil
}

// clientAddress is where a request comes from. Behind trusted proxies it is what
// the last of them saw: X-Forwarded-For is read from its end, because everybody
// may write what stands before.
func clientAddress(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // a socket of the machine
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
				return address // what stands before is not to be believed
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
