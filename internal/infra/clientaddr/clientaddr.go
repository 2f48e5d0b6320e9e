// Package clientaddr finds the address of a client behind reverse proxies. Counting, rate
// limits and logins all use it, so that they agree on who a client is.
package clientaddr

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the addresses and networks of trusted proxies.
type Proxies []netip.Prefix

// Parse parses addresses and networks of proxies.
func Parse(texts []string) (Proxies, error) {
	var out Proxies
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

// Client returns the client's address. Behind trusted proxies it reads X-Forwarded-For from
// its end, because a client can forge the entries before, and in all its lines, because
// HAProxy appends a line of its own. Other headers, such as X-Real-IP, are not read: a proxy
// that does not set them passes on what the client wrote.
func (p Proxies) Client(r *http.Request) netip.Addr {
	address := peer(r)
	if !p.contains(address) {
		return address
	}
	hops := r.Header[header]
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
			if !p.contains(address) {
				return address
			}
		}
	}
	return address
}

const header = "X-Forwarded-For"

// IsMissing reports whether a trusted proxy sent a request without X-Forwarded-For: all its
// clients then count as one.
func (p Proxies) IsMissing(r *http.Request) bool {
	return len(r.Header[header]) == 0 && p.contains(peer(r))
}

// peer returns the address of the connection; zero for a Unix socket.
func peer(r *http.Request) netip.Addr {
	of, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return of.Addr().Unmap()
}

func (p Proxies) contains(a netip.Addr) bool {
	for _, network := range p {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// ForwardedHeader is a header of /livez that says how the client's address is known. It
// lets `dateline doctor` test the proxy in front of the API.
const ForwardedHeader = "X-Dateline-Forwarded"

// The values of ForwardedHeader.
const (
	ForwardedYes     = "yes"
	ForwardedMissing = "missing" // a trusted proxy sent no X-Forwarded-For
)
