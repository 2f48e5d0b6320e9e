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
	dispatchRate = 50              // activities per second that one machine's Temporal hands out
	shortestLead = 2 * time.Second // also of a lone post
	longestLead  = 10 * time.Minute

	// longestClaimLead is what 11,000 posts of one second need. Changes of them
	// are refused from then on, so it is not longer.
	longestClaimLead = 4 * time.Second

	// Horizon is how far ahead of its time a post may be in a worker's hands.
	Horizon = longestLead + time.Minute
)

// leadOf says how long before its time a post is armed: the more posts share
// its stretch, the longer it takes to hand them all out, so they are spread over
// the time that it takes, each by a hash of its id over the part of the crowd
// that it came with.
func leadOf(id uuid.UUID, c crowdPart) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write(id[:])
	place := float64(c.from) + float64(c.n-c.from)*float64(h.Sum64()%10_000)/10_000
	most := (longestLead - shortestLead).Seconds()
	if all := float64(c.n) / dispatchRate; all > most {
		place *= most / all
	}
	return shortestLead + time.Duration(place/dispatchRate*float64(time.Second))
}

// crowdPart is a crowd of n posts, of which those from from to n came with the
// one that asks.
type crowdPart struct{ n, from int }

// crowds remembers how many posts are due when, so that a crowd is not counted
// once by each of its posts, and so that posts which come while it grows share
// out its growth: were each spread over the whole crowd as it found it, those
// that came first would all be armed in the last seconds.
type crowds struct {
	mu    sync.Mutex
	known map[int64]*crowdCount
}

type crowdCount struct {
	crowdPart
	at    time.Time
	asked int // posts that asked since the crowd was counted
}

const (
	crowdStretch = 10 * time.Second
	crowdMemory  = 3 * time.Second
)

func (c *crowds) around(ctx context.Context, at time.Time, count func(ctx context.Context, from, to time.Time) (int, error)) (crowdPart, error) {
	stretch := at.Truncate(crowdStretch)
	if part, ok := c.recent(stretch); ok {
		return part, nil
	}
	n, err := count(ctx, stretch, stretch.Add(crowdStretch))
	if err != nil {
		return crowdPart{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) > 1000 {
		c.known = map[int64]*crowdCount{}
	}
	now := &crowdCount{crowdPart: crowdPart{n: n}, at: time.Now()}
	if before := c.known[stretch.Unix()]; before != nil {
		now.from = min(before.n, n)
	}
	c.known[stretch.Unix()] = now
	return now.take(), nil
}

func (c *crowds) recent(stretch time.Time) (crowdPart, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.known[stretch.Unix()]
	if got == nil || time.Since(got.at) >= crowdMemory {
		return crowdPart{}, false
	}
	return got.take(), true
}

// take gives the growth to as many posts as it consists of. Others have come
// earlier, and are spread over all.
func (c *crowdCount) take() crowdPart {
	c.asked++
	if c.asked > c.n-c.from {
		return crowdPart{n: c.n}
	}
	return c.crowdPart
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

// soon says whether a crowd is about to be sent, or has just been.
func (a *armed) soon(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for second, n := range a.at {
		if n >= dispatchRate && time.Unix(second, 0).Sub(now).Abs() < mostQuiet {
			return true
		}
	}
	return false
}

// claimLead is how long before its time a post is claimed: as long as the
// database needs for the claims of the whole crowd.
func claimLead(crowd int) time.Duration {
	return min(5*time.Millisecond+time.Duration(crowd)*350*time.Microsecond, longestClaimLead)
}

// admitLead is how long before its time a post gets its place at the host: not
// after others of its crowd are claimed.
func admitLead(crowd int) time.Duration { return max(shortestLead, claimLead(crowd)) }

// await waits for the moment that lies before at by as much as the crowd needs.
// The crowd grows until shortly before its time, so it is looked at late.
func (p *Publisher) await(ctx context.Context, at time.Time, lead func(crowd int) time.Duration) error {
	if err := p.sleepUntil(ctx, at.Add(-longestClaimLead)); err != nil {
		return err
	}
	return p.sleepUntil(ctx, at.Add(-lead(p.inFlight().armed.count(at))))
}

// holdBack spreads the completions of a crowd: reporting them costs Temporal as
// much as handing them out, and would delay posts that are due.
func holdBack(ctx context.Context, crowd int) {
	if crowd < dispatchRate {
		return
	}
	spread := time.Second + time.Duration(rand.Int64N(int64(crowd)))*time.Second/dispatchRate //nolint:gosec // not a secret
	_ = retry.Sleep(ctx, spread)
}

// noticeable is the shortest time that a person would notice.
const noticeable = 50 * time.Millisecond

// tellClaimed tells open streams of a claim. Of one that was made ahead for a
// crowd they hear together with its outcome, a moment later: the notices of
// thousands of claims would make the sends late.
func (p *Publisher) tellClaimed(ctx context.Context, j *job) {
	if time.Until(j.post.ScheduledTime) < noticeable {
		p.Live.Changed(ctx, j.post.ID)
	}
}

// epochAhead is the last epoch of a segment, read before its time.
type epochAhead struct{ segment, epoch int }

// readAhead reads what the next claim needs, so that a crowd reads nothing when
// its time has come. Should another attempt send meanwhile, the claim fails or
// has a fence that tells.
func (p *Publisher) readAhead(ctx context.Context, j *job) error {
	epoch, err := p.Store.LastEpoch(ctx, j.target.ID, j.next(), j.post.Revision)
	j.ahead = &epochAhead{j.next(), epoch}
	return err
}

func (p *Publisher) lastEpoch(ctx context.Context, j *job, segment int) (int, error) {
	if ahead := j.ahead; ahead != nil && ahead.segment == segment {
		j.ahead = nil
		return ahead.epoch, nil
	}
	return p.Store.LastEpoch(ctx, j.target.ID, segment, j.post.Revision)
}
