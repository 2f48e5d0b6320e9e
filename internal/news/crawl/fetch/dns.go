package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Resolver finds the addresses of a host, and how long they may be kept; zero
// when that is unknown.
type Resolver interface {
	Lookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error)
}

// SystemResolver asks as all programs of the machine do. It does not tell how
// long an answer holds.
type SystemResolver struct{}

// Lookup implements Resolver.
func (SystemResolver) Lookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return addrs, 0, err
}

const (
	defaultTTL     = 5 * time.Minute
	minTTL         = 10 * time.Second
	maxTTL         = 10 * time.Minute
	notFoundTTL    = time.Minute      // a name that does not exist (RFC 2308)
	failedTTL      = 10 * time.Second // a server that did not answer
	maxCachedNames = 100_000
	dnsTimeout     = 10 * time.Second
)

// dnsCache keeps what a resolver said. A crawler asks for the same names all day,
// and for names that do not exist too.
type dnsCache struct {
	resolver Resolver
	now      func() time.Time
	flight   singleflight.Group

	mu    sync.Mutex
	names map[string]dnsEntry
}

type dnsEntry struct {
	addrs   []netip.Addr
	err     error
	expires time.Time
}

func newDNSCache(resolver Resolver, now func() time.Time) *dnsCache {
	return &dnsCache{resolver: resolver, now: now, names: map[string]dnsEntry{}}
}

func (c *dnsCache) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if known, ok := c.cached(host); ok {
		return known.addrs, known.err
	}
	// One question for all who ask at once; it outlives the first of them.
	answer := c.flight.DoChan(host, func() (any, error) {
		// Another caller's question may have been answered since.
		if known, ok := c.cached(host); ok {
			return known, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dnsTimeout)
		defer cancel()
		return c.resolve(ctx, host), nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-answer:
		found, _ := result.Val.(dnsEntry)
		return found.addrs, found.err
	}
}

// cached gives an answer that still holds.
func (c *dnsCache) cached(host string) (dnsEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.names[host]
	return known, ok && c.now().Before(known.expires)
}

func (c *dnsCache) resolve(ctx context.Context, host string) dnsEntry {
	addrs, ttl, err := c.resolver.Lookup(ctx, host)
	addrs = unmapped(addrs)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	found := dnsEntry{addrs: addrs, err: err}
	var dns *net.DNSError
	switch {
	case err == nil && ttl == 0:
		ttl = defaultTTL
	case err == nil:
		ttl = min(max(ttl, minTTL), maxTTL)
	case errors.As(err, &dns) && dns.IsNotFound:
		ttl = notFoundTTL
	default:
		ttl = failedTTL
	}
	found.expires = c.now().Add(ttl)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) >= maxCachedNames {
		c.evict()
	}
	c.names[host] = found
	return found
}

// unmapped gives IPv4 addresses as such. Resolvers may answer with IPv4-mapped
// IPv6 addresses (RFC 4291, section 2.5.5.2): the guard would refuse public
// ones, and host slots would count one server twice.
func unmapped(addrs []netip.Addr) []netip.Addr {
	var out []netip.Addr
	for _, addr := range addrs {
		if addr = addr.Unmap(); !slices.Contains(out, addr) {
			out = append(out, addr)
		}
	}
	return out
}

// evict forgets what has expired, and if that is too little, some of the rest.
func (c *dnsCache) evict() {
	now := c.now()
	for host, known := range c.names {
		if !now.Before(known.expires) {
			delete(c.names, host)
		}
	}
	for host := range c.names {
		if len(c.names) < maxCachedNames*9/10 {
			return
		}
		delete(c.names, host)
	}
}
