package delivery

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/retry"
)

const (
	dispatchRate = 50              // activities per second that one machine's Temporal dispatches
	minLead      = 2 * time.Second // also of a single post
	maxLead      = 10 * time.Minute

	// maxClaimLead is what 11,000 posts of one second need. Changes of them are
	// refused from then on, so it is not longer.
	maxClaimLead = 4 * time.Second

	// Horizon is how far ahead of its time a worker may hold a post.
	Horizon = maxLead + time.Minute
)

// leadOf returns how long before its time a post is armed: the more posts share its
// time bucket, the longer it takes to dispatch them all, so they are spread over that
// time, each by a hash of its id over its share of the burst.
func leadOf(id uuid.UUID, b burstShare) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write(id[:])
	position := float64(b.from) + float64(b.n-b.from)*float64(h.Sum64()%10_000)/10_000
	limit := (maxLead - minLead).Seconds()
	if all := float64(b.n) / dispatchRate; all > limit {
		position *= limit / all
	}
	return minLead + time.Duration(position/dispatchRate*float64(time.Second))
}

// burstShare is a burst of n posts, of which those from from to n were added
// around the same time.
type burstShare struct{ n, from int }

// burstCounter caches the number of posts that are due at a time, so that a burst is
// not counted once by each of its posts, and so that posts which are added while it
// grows share its growth: if each were spread over the whole burst as it found it, the
// first ones would all be armed in the last seconds.
type burstCounter struct {
	mu    sync.Mutex
	known map[int64]*burstCount
}

type burstCount struct {
	burstShare
	at        time.Time
	requested int // shares that were given out since the burst was counted
}

const (
	burstBucket = 10 * time.Second
	burstTTL    = 3 * time.Second
	maxBursts   = 1000
)

func (c *burstCounter) around(
	ctx context.Context, at time.Time, count func(ctx context.Context, from, to time.Time) (int, error),
) (burstShare, error) {
	bucket := at.Truncate(burstBucket)
	if share, ok := c.recent(bucket); ok {
		return share, nil
	}
	n, err := count(ctx, bucket, bucket.Add(burstBucket))
	if err != nil {
		return burstShare{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) > maxBursts {
		c.known = map[int64]*burstCount{}
	}
	now := &burstCount{burstShare: burstShare{n: n}, at: time.Now()}
	if before := c.known[bucket.Unix()]; before != nil {
		now.from = min(before.n, n)
	}
	c.known[bucket.Unix()] = now
	return now.share(), nil
}

func (c *burstCounter) recent(bucket time.Time) (burstShare, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.known[bucket.Unix()]
	if got == nil || time.Since(got.at) >= burstTTL {
		return burstShare{}, false
	}
	return got.share(), true
}

// share assigns the growth to as many posts as it consists of. Others came earlier, and
// are spread over the whole burst.
func (c *burstCount) share() burstShare {
	c.requested++
	if c.requested > c.n-c.from {
		return burstShare{n: c.n}
	}
	return c.burstShare
}

// armed counts the posts that wait in this process, by their second.
type armed struct {
	mu sync.Mutex
	at map[int64]int
}

func (a *armed) add(at time.Time) (leave func()) {
	key := at.Unix()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at == nil {
		a.at = map[int64]int{}
	}
	a.at[key]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.at[key]--; a.at[key] <= 0 {
			delete(a.at, key)
		}
	}
}

func (a *armed) count(at time.Time) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at[at.Unix()]
}

func (a *armed) all() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, posts := range a.at {
		n += posts
	}
	return n
}

// hasBurstNear reports whether a burst is about to be sent, or has just been.
func (a *armed) hasBurstNear(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for second, n := range a.at {
		if n >= dispatchRate && time.Unix(second, 0).Sub(now).Abs() < maxQuiet {
			return true
		}
	}
	return false
}

// claimLead is how long before its time a post is claimed: as long as the database
// needs for the claims of the whole burst, and long enough for the claims of a busy
// second to share few statements.
func claimLead(burst int) time.Duration {
	lead := min(5*time.Millisecond+time.Duration(burst)*350*time.Microsecond, maxClaimLead)
	if burst >= minBurst {
		return max(lead, busyClaimLead)
	}
	return lead
}

// busyClaimLead leaves time for claimDelay.
const busyClaimLead = 3 * claimDelay

// admitLead is how long before its time a post acquires its host slot: not after
// others of its burst are claimed.
func admitLead(burst int) time.Duration { return max(minLead, claimLead(burst)) }

// delayCompletion spreads the completions of a burst: reporting them costs
// Temporal as much as dispatching them, and would delay posts that are due.
func delayCompletion(ctx context.Context, burst int) {
	if burst < dispatchRate {
		return
	}
	spread := time.Second + time.Duration(rand.Int64N(int64(burst)))*time.Second/dispatchRate //nolint:gosec // not a secret
	_ = retry.Sleep(ctx, spread)
}
