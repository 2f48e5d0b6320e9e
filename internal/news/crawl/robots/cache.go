package robots

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Lifetimes of cached files.
const (
	// maxAge is the limit of RFC 9309 §2.4.
	maxAge = 24 * time.Hour
	// retryInterval is how long an unreachable server is left alone.
	retryInterval = 10 * time.Minute
	// unreachableGrace is when an unreachable robots.txt may be treated as
	// missing (RFC 9309 §2.3.1.4).
	unreachableGrace = 30 * 24 * time.Hour
)

// Entry is a cached robots.txt, with the tdmrep.json of the same origin.
type Entry struct {
	Status           int       // of the last response; 0: none
	Body             []byte    // of the last successful response
	FetchedAt        time.Time // when Body was fetched, or found to be missing; zero: never
	ExpiresAt        time.Time // when it is fetched again
	UnreachableSince time.Time // zero: the last attempt succeeded
	TDM              []byte    `json:",omitempty"` // the last tdmrep.json; empty: none
}

// Store shares entries between processes. It must be safe for concurrent use.
type Store interface {
	// LoadRobots returns the entry of an origin such as https://example.org,
	// and whether it exists.
	LoadRobots(ctx context.Context, origin string) (Entry, bool, error)
	SaveRobots(ctx context.Context, origin string, entry Entry) error
}

// Response is the response to a request for a robots.txt, after redirects.
type Response struct {
	Status     int // 0: no response
	Body       []byte
	RetryAfter time.Duration // requested by the server
	TDM        []byte        // tdmrep.json; empty: none
	HasTDM     bool          // TDM is known
}

// Source fetches the robots.txt of an origin. An error means that nothing was
// learned, for example because ctx ended. A server that cannot be reached is a
// Response with status 0.
type Source func(ctx context.Context, origin string) (Response, error)

// Options for a Cache.
type Options struct {
	Product  string // the crawler's product token
	Source   Source
	Store    Store            // nil: in memory only
	Now      func() time.Time // nil: time.Now
	Capacity int              // origins in memory; 10,000
}

// Cache caches the robots.txt of sites. It is safe for concurrent use.
type Cache struct {
	options Options
	flight  singleflight.Group

	mu       sync.Mutex
	policies map[string]Policy
}

// Policy is what a site currently allows.
type Policy struct {
	Group
	Sitemaps []string
	TDM      TDMRules
	// Reachable is false if robots.txt could not be fetched. Then the previous
	// rules apply, or nothing is allowed.
	Reachable bool
	// Status is that of the last response; 0: none.
	Status int
	// ExpiresAt is when robots.txt is fetched again.
	ExpiresAt time.Time
}

// NewCache creates a cache.
func NewCache(options Options) *Cache {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Capacity <= 0 {
		options.Capacity = 10_000
	}
	return &Cache{options: options, policies: map[string]Policy{}}
}

// Get returns the policy of an origin such as https://example.org, fetching its
// robots.txt if needed.
func (c *Cache) Get(ctx context.Context, origin string) (Policy, error) {
	if policy, ok := c.current(origin); ok {
		return policy, nil
	}
	// Concurrent callers share one request, made with the context of the first.
	// If that one is canceled, another caller retries.
	for {
		response := c.flight.DoChan(origin, func() (any, error) { return c.refresh(ctx, origin) })
		select {
		case <-ctx.Done():
			return Policy{}, ctx.Err()
		case result := <-response:
			if ctx.Err() == nil && result.Shared &&
				(errors.Is(result.Err, context.Canceled) || errors.Is(result.Err, context.DeadlineExceeded)) {
				continue
			}
			policy, _ := result.Val.(Policy)
			return policy, result.Err
		}
	}
}

// current returns the policy in memory, unless it has expired.
func (c *Cache) current(origin string) (Policy, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	policy, ok := c.policies[origin]
	return policy, ok && c.options.Now().Before(policy.ExpiresAt)
}

// Forget removes an origin from memory.
func (c *Cache) Forget(origin string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.policies, origin)
}

func (c *Cache) refresh(ctx context.Context, origin string) (Policy, error) {
	// Another caller may have finished in the meantime.
	if policy, ok := c.current(origin); ok {
		return policy, nil
	}
	var entry Entry
	if c.options.Store != nil {
		stored, ok, err := c.options.Store.LoadRobots(ctx, origin)
		if err != nil {
			return Policy{}, fmt.Errorf("load the robots.txt of %s: %w", origin, err)
		}
		if ok {
			entry = stored
		}
	}
	if now := c.options.Now(); !now.Before(entry.ExpiresAt) {
		response, err := c.options.Source(ctx, origin)
		if err != nil {
			return Policy{}, fmt.Errorf("fetch the robots.txt of %s: %w", origin, err)
		}
		entry = entry.Update(response, c.options.Now())
		if c.options.Store != nil {
			if err := c.options.Store.SaveRobots(ctx, origin, entry); err != nil {
				return Policy{}, fmt.Errorf("save the robots.txt of %s: %w", origin, err)
			}
		}
	}
	policy := entry.Policy(c.options.Product, c.options.Now())
	c.put(origin, policy)
	return policy, nil
}

func (c *Cache) put(origin string, policy Policy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.policies[origin]; !known && len(c.policies) >= c.options.Capacity {
		now := c.options.Now()
		for other, old := range c.policies {
			if !now.Before(old.ExpiresAt) {
				delete(c.policies, other)
			}
		}
		for other := range c.policies {
			if len(c.policies) < c.options.Capacity {
				break
			}
			delete(c.policies, other)
		}
	}
	c.policies[origin] = policy
}

// Update returns the entry after a response.
func (e Entry) Update(response Response, now time.Time) Entry {
	status := response.Status
	if response.HasTDM {
		e.TDM = response.TDM[:min(len(response.TDM), MaxSize)]
	}
	switch {
	case status >= 200 && status < 300:
		body := response.Body[:min(len(response.Body), MaxSize)]
		return Entry{Status: status, Body: body, FetchedAt: now, ExpiresAt: now.Add(maxAge), TDM: e.TDM}
	case status >= 300 && status < 500 && status != 429:
		// "Unavailable" (§2.3.1.3) allows everything. So does a redirect
		// without a target (§2.3.1.2).
		return Entry{Status: status, FetchedAt: now, ExpiresAt: now.Add(maxAge), TDM: e.TDM}
	}
	// "Unreachable" (§2.3.1.4). 429 does not mean that there are no rules.
	e.Status = status
	if e.UnreachableSince.IsZero() {
		e.UnreachableSince = now
	}
	e.ExpiresAt = now.Add(max(retryInterval, min(response.RetryAfter, maxAge)))
	return e
}

// Policy applies the entry to a crawler.
func (e Entry) Policy(product string, now time.Time) Policy {
	p := Policy{Reachable: e.UnreachableSince.IsZero(), Status: e.Status, ExpiresAt: e.ExpiresAt, TDM: ParseTDM(e.TDM)}
	switch {
	case p.Reachable || !e.FetchedAt.IsZero():
		// While robots.txt is unreachable, the previous rules apply (§2.4).
		file := Parse(e.Body)
		p.Group, p.Sitemaps = file.For(product), file.Sitemaps
	case now.Sub(e.UnreachableSince) >= unreachableGrace:
	default:
		p.disallowAll = true
	}
	return p
}
