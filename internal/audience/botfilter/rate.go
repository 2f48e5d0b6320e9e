package botfilter

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/infra/batch"
	"dateline/internal/infra/redisclient"
)

//go:embed rate.lua
var rateScript string

const (
	// maxRateBatch is the maximum number of hits per script call.
	maxRateBatch = 100
	// clusterSlots is the number of hash slots that visitors are distributed over in
	// a cluster, because the keys of a script call must share a slot.
	clusterSlots = 16
)

// Limit is the maximum number of hits of one kind per visitor and window.
type Limit struct {
	Max    int
	Window time.Duration
}

// Source is the source of hits: a visitor of a site, and the kind of the hits.
type Source struct {
	Site    uuid.UUID
	Visitor uint64
	Kind    byte
}

// RateLimiter counts the hits of each visitor in Redis, those of concurrent
// requests in one call. A process reports a visitor's first hit in a window to
// Redis only together with the second, so with several processes a visitor may
// exceed the limit by one hit per process. It is safe for concurrent use.
type RateLimiter struct {
	redis   redis.Cmdable
	script  *redis.Script
	batcher *batch.Batcher[rateRequest, rateReply]
	recent  *recentSources
	cluster bool
}

type rateRequest struct {
	source Source
	window time.Duration
	hits   int
}

type rateReply struct {
	count int64
	err   error
}

// NewRateLimiter returns a rate limiter that stops when ctx ends. The caller
// closes the client.
func NewRateLimiter(ctx context.Context, client redis.Cmdable) *RateLimiter {
	r := &RateLimiter{redis: client, script: redis.NewScript(rateScript), recent: newRecentSources()}
	r.cluster = redisclient.IsCluster(client)
	r.batcher = batch.New(ctx, maxRateBatch, 2, r.countAll)
	return r
}

// Allow counts a hit and reports whether it is within the limit. A window
// starts with the source's first hit.
func (r *RateLimiter) Allow(ctx context.Context, s Source, l Limit) (bool, error) {
	hits := r.recent.record(s, l.Window, time.Now())
	if hits == 0 {
		return true, nil
	}
	got, err := r.batcher.Do(ctx, rateRequest{s, l.Window, hits})
	if err == nil {
		err = got.err
	}
	if err != nil {
		return false, fmt.Errorf("rate limit: %w", err)
	}
	return got.count <= int64(l.Max), nil
}

// countAll returns errors per request and never fails as a whole: hits that
// were counted must not be counted again because another slot failed.
func (r *RateLimiter) countAll(ctx context.Context, requests []rateRequest) ([]rateReply, error) {
	out := make([]rateReply, len(requests))
	if !r.cluster {
		all := make([]int, len(requests))
		for i := range all {
			all[i] = i
		}
		r.count(ctx, requests, all, out)
		return out, nil
	}
	var bySlot [clusterSlots][]int
	for i, a := range requests {
		slot := a.source.Visitor % clusterSlots
		bySlot[slot] = append(bySlot[slot], i)
	}
	var wait sync.WaitGroup
	for _, indexes := range bySlot {
		if len(indexes) > 0 {
			wait.Go(func() { r.count(ctx, requests, indexes, out) })
		}
	}
	wait.Wait()
	return out, nil
}

// count counts the requests with the given indexes.
func (r *RateLimiter) count(ctx context.Context, requests []rateRequest, indexes []int, out []rateReply) {
	keys, args := make([]string, len(indexes)), make([]any, 0, 2*len(indexes))
	for i, at := range indexes {
		keys[i] = r.key(requests[at].source)
		args = append(args, requests[at].window.Milliseconds(), requests[at].hits)
	}
	counts, err := r.script.Run(ctx, r.redis, keys, args...).Int64Slice()
	if err == nil && len(counts) != len(indexes) {
		err = fmt.Errorf("%d counts for %d keys", len(counts), len(indexes))
	}
	for i, at := range indexes {
		if err != nil {
			out[at].err = err
		} else {
			out[at].count = counts[i]
		}
	}
}

func (r *RateLimiter) key(s Source) string {
	var raw [25]byte
	copy(raw[:16], s.Site[:])
	binary.BigEndian.PutUint64(raw[16:24], s.Visitor)
	raw[24] = s.Kind
	text := base64.RawURLEncoding.EncodeToString(raw[:])
	if r.cluster {
		return fmt.Sprintf("views:rate:{r%02d}:%s", s.Visitor%clusterSlots, text)
	}
	return "views:rate:" + text
}

// recentSize is the number of entries: 12 MB in total. A source that replaces
// another's entry starts a new window for it.
const recentSize = 1 << 19

// recentSources remembers sources with a hit in the current window in this
// process, so that the first hit needs no call: nearly all readers make only
// one.
type recentSources struct {
	seed maphash.Seed

	mu      sync.Mutex
	entries []recentEntry
}

type recentEntry struct {
	source   uint64
	since    int64 // milliseconds of the clock
	reported bool  // earlier hits are counted in Redis
}

func newRecentSources() *recentSources {
	return &recentSources{seed: maphash.MakeSeed(), entries: make([]recentEntry, recentSize)}
}

// record records a hit and returns the number of hits to report to Redis: none
// for the first in a window, two with the second, then one each.
func (r *recentSources) record(s Source, within time.Duration, now time.Time) int {
	source := maphash.Comparable(r.seed, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.entries[source%recentSize]
	since := now.UnixMilli() - p.since
	switch {
	case p.source != source || since < 0 || since >= within.Milliseconds():
		*p = recentEntry{source: source, since: now.UnixMilli()}
		return 0
	case !p.reported:
		p.reported = true
		return 2
	default:
		return 1
	}
}
