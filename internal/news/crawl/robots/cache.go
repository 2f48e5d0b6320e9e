package robots

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// How long what is known of a robots.txt holds.
const (
	// maxAge is from RFC 9309 §2.4: no longer than 24 hours.
	maxAge = 24 * time.Hour
	// retryInterval is when a server that could not be reached is asked again.
	retryInterval = 10 * time.Minute
	// unreachableGrace is from RFC 9309 §2.3.1.4: after 30 days a robots.txt that cannot
	// be reached may be taken for one that does not exist.
	unreachableGrace = 30 * 24 * time.Hour
)

// Entry is a robots.txt as a cache keeps it.
type Entry struct {
	Status           int       // of the last answer; 0: none came
	Body             []byte    // of the last success
	FetchedAt        time.Time // when Body came, or its absence was told; zero: never
	ExpiresAt        time.Time // when it is asked for again
	UnreachableSince time.Time // zero: the last attempt got an answer
}

// Store keeps entries beyond the memory of one process. Its methods may be
// called at the same time.
type Store interface {
	// LoadRobots returns the entry of an origin such as https://example.org,
	// and whether there is one.
	LoadRobots(ctx context.Context, origin string) (Entry, bool, error)
	SaveRobots(ctx context.Context, origin string, entry Entry) error
}

// Response is what came of fetching a robots.txt. Redirects have been followed.
type Response struct {
	Status     int // 0: no answer
	Body       []byte
	RetryAfter time.Duration // that the server asked for
}

// Source fetches the robots.txt of an origin. An error means that nothing was
// learned, such as when ctx ended; a server that cannot be reached is an Answer
// of status 0.
type Source func(ctx context.Context, origin string) (Response, error)

// Options for a Cache.
type Options struct {
	Product  string // our product token
	Source   Source
	Store    Store            // nil: in memory only
	Now      func() time.Time // nil: time.Now
	Capacity int              // how many origins are kept in memory; 10,000
}

// Cache knows what sites allow us. It is safe for concurrent use.
type Cache struct {
	options Options
	flight  singleflight.Group

	mu       sync.Mutex
	policies map[string]Policy
}

// Policy is what a site allows us at the moment.
type Policy struct {
	Group
	Sitemaps []string
	// Reachable is false when robots.txt could not be fetched: then what was
	// known before holds, or nothing is allowed.
	Reachable bool
	// ExpiresAt is when it is asked for again.
	ExpiresAt time.Time
}

// NewCache makes a cache.
func NewCache(options Options) *Cache {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Capacity <= 0 {
		options.Capacity = 10_000
	}
	return &Cache{options: options, policies: map[string]Policy{}}
}

// Get says what an origin such as https://example.org allows. It fetches
// robots.txt when that is not known; an error means that it could not tell.
func (c *Cache) Get(ctx context.Context, origin string) (Policy, error) {
	if policy, ok := c.current(origin); ok {
		return policy, nil
	}
	// One request for all who ask at once. It is made in the name of the first;
	// when that one gives up, another tries.
	for {
		answer := c.flight.DoChan(origin, func() (any, error) { return c.refresh(ctx, origin) })
		select {
		case <-ctx.Done():
			return Policy{}, ctx.Err()
		case result := <-answer:
			if ctx.Err() == nil && result.Shared &&
				(errors.Is(result.Err, context.Canceled) || errors.Is(result.Err, context.DeadlineExceeded)) {
				continue
			}
			policy, _ := result.Val.(Policy)
			return policy, result.Err
		}
	}
}

// current is what memory has of an origin, if it still holds.
func (c *Cache) current(origin string) (Policy, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	policy, ok := c.policies[origin]
	return policy, ok && c.options.Now().Before(policy.ExpiresAt)
}

// Forget drops what is known of an origin from memory.
func (c *Cache) Forget(origin string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.policies, origin)
}

func (c *Cache) refresh(ctx context.Context, origin string) (Policy, error) {
	// Who looked just before another's answer came finds it here.
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
		answer, err := c.options.Source(ctx, origin)
		if err != nil {
			return Policy{}, fmt.Errorf("fetch the robots.txt of %s: %w", origin, err)
		}
		entry = entry.Update(answer, c.options.Now())
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

// Update is the entry once an answer came.
func (e Entry) Update(answer Response, now time.Time) Entry {
	status := answer.Status
	switch {
	case status >= 200 && status < 300:
		body := answer.Body[:min(len(answer.Body), MaxSize)]
		return Entry{Status: status, Body: body, FetchedAt: now, ExpiresAt: now.Add(maxAge)}
	case status >= 300 && status < 500 && status != 429:
		// "Unavailable" (§2.3.1.3): everything is allowed. A redirect that leads
		// nowhere counts as such (§2.3.1.2).
		return Entry{Status: status, FetchedAt: now, ExpiresAt: now.Add(maxAge)}
	}
	// "Unreachable" (§2.3.1.4). 429 asks for patience; it does not tell that
	// there are no rules.
	e.Status = status
	if e.UnreachableSince.IsZero() {
		e.UnreachableSince = now
	}
	e.ExpiresAt = now.Add(max(retryInterval, min(answer.RetryAfter, maxAge)))
	return e
}

// Policy is what the entry means for a crawler.
func (e Entry) Policy(product string, now time.Time) Policy {
	p := Policy{Reachable: e.UnreachableSince.IsZero(), ExpiresAt: e.ExpiresAt}
	switch {
	case p.Reachable || !e.FetchedAt.IsZero():
		// Also when it cannot be reached: then what was known holds on (§2.4).
		file := Parse(e.Body)
		p.Group, p.Sitemaps = file.For(product), file.Sitemaps
	case now.Sub(e.UnreachableSince) >= unreachableGrace:
	default:
		p.disallowAll = true
	}
	return p
}
