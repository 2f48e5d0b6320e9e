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

// Resolver looks up the addresses of a host and how long they may be cached; a
// TTL of zero means unknown.
type Resolver interface {
	Lookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error)
}

// SystemResolver uses the resolver of the operating system, which returns no
// TTL.
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
	notFoundTTL    = time.Minute      // name that does not exist
	failedTTL      = 10 * time.Second // server failure
	maxCachedNames = 100_000
	dnsTimeout     = 10 * time.Second
)

// dnsCache caches lookups, including those of names that do not exist.
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
	if entry, ok := c.cached(host); ok {
		return entry.addrs, entry.err
	}
	// Concurrent callers share one lookup, which continues when the first of
	// them leaves.
	answer := c.flight.DoChan(host, func() (any, error) {
		// Another lookup may have ended in the meantime.
		if entry, ok := c.cached(host); ok {
			return entry, nil
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

// cached returns an entry that has not expired.
func (c *dnsCache) cached(host string) (dnsEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.names[host]
	return entry, ok && c.now().Before(entry.expires)
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

// unmapped converts IPv4-mapped IPv6 addresses (RFC 4291, section 2.5.5.2) to
// IPv4: the guard would reject public ones, and the rate limit per address
// would count one server twice.
func unmapped(addrs []netip.Addr) []netip.Addr {
	var out []netip.Addr
	for _, addr := range addrs {
		if addr = addr.Unmap(); !slices.Contains(out, addr) {
			out = append(out, addr)
		}
	}
	return out
}

// evict removes expired entries, and others if these are not enough.
func (c *dnsCache) evict() {
	now := c.now()
	for host, entry := range c.names {
		if !now.Before(entry.expires) {
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

// Lookup returns the addresses of a host from the cache that requests use, for rate
// limits per IP address. The TTL is always zero.
func (f *Fetcher) Lookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
	addrs, err := f.resolve(ctx, host)
	return addrs, 0, err
}
