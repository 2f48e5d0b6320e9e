package activities

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	dispatchRate = 40              // activities per second that one machine's Temporal hands out
	shortestLead = 2 * time.Second // also of a lone post
	longestLead  = 10 * time.Minute
)

// leadOf says how long before its time a post is armed: the more posts share
// its stretch, the longer it takes to hand them all out, so they are spread, by
// a hash of their ids, over the time that it takes.
func leadOf(id uuid.UUID, crowd int) time.Duration {
	spread := min(time.Duration(crowd)*time.Second/dispatchRate, longestLead-shortestLead)
	h := fnv.New64a()
	_, _ = h.Write(id[:])
	return shortestLead + time.Duration(float64(spread)*float64(h.Sum64()%10_000)/10_000)
}

// crowds remembers for a moment how many posts are due when, so that a crowd
// is not counted once by each of its posts.
type crowds struct {
	mu    sync.Mutex
	known map[int64]crowdCount
}

type crowdCount struct {
	n  int
	at time.Time
}

const (
	crowdStretch = 10 * time.Second
	crowdMemory  = 3 * time.Second
)

func (c *crowds) around(ctx context.Context, at time.Time, count func(ctx context.Context, from, to time.Time) (int, error)) (int, error) {
	from := at.Truncate(crowdStretch)
	c.mu.Lock()
	got, ok := c.known[from.Unix()]
	c.mu.Unlock()
	if ok && time.Since(got.at) < crowdMemory {
		return got.n, nil
	}
	n, err := count(ctx, from, from.Add(crowdStretch))
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) > 1000 {
		c.known = map[int64]crowdCount{}
	}
	c.known[from.Unix()] = crowdCount{n, time.Now()}
	return n, nil
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

// claimLead is how long before its time a post is claimed: as long as the
// database needs for the claims of the whole crowd.
func claimLead(crowd int) time.Duration {
	return min(5*time.Millisecond+time.Duration(crowd)*200*time.Microsecond, 2*time.Second)
}

// holdBack spreads the completions of a crowd: reporting them costs Temporal as
// much as handing them out, and would delay posts that are due.
func holdBack(ctx context.Context, crowd int) {
	if crowd < dispatchRate {
		return
	}
	spread := time.Second + time.Duration(rand.Int64N(int64(crowd)))*time.Second/dispatchRate //nolint:gosec // not a secret
	_ = sleepUntil(ctx, time.Now().Add(spread))
}
