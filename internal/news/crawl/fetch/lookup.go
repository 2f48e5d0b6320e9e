package fetch

import (
	"context"
	"net/netip"
	"time"
)

// Lookup tells the addresses of a host from the cache that requests use, for
// who has to wait for the turn at an address.
func (f *Fetcher) Lookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
	addrs, err := f.resolve(ctx, host)
	return addrs, 0, err
}
