package botfilter

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/infra/batch"
)

//go:embed rate.lua
var rateScript string

const (
	// maxRateBatch is how many hits are asked for together.
	maxRateBatch = 100
	// clusterSlots of a cluster, over which the visitors are spread: the keys of one
	// script call must share one.
	clusterSlots = 16
)

// Limit is how many hits of one kind a visitor may make within a time.
type Limit struct {
	Max    int
	Window time.Duration
}

// Source is who makes hits: a visitor of a site, and what they do.
type Source struct {
	Site    uuid.UUID
	Visitor uint64
	Kind    byte
}

// RateLimiter counts the hits of each visitor in Redis, those of concurrent requests
// in one call. A visitor's first hit of a while in a process is not told to
// Redis before the second: each process may let one hit more pass.
// It is safe for concurrent use.
type RateLimiter struct {
	redis   redis.UniversalClient
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

// NewRateLimiter uses a Redis client that the caller closes; it ends with ctx.
func NewRateLimiter(ctx context.Context, client redis.UniversalClient) *RateLimiter {
	r := &RateLimiter{redis: client, script: redis.NewScript(rateScript), recent: newRecentSources()}
	_, r.cluster = client.(*redis.ClusterClient)
	r.batcher = batch.New(ctx, maxRateBatch, 2, r.countAll)
	return r
}

// Allow counts a hit, and says whether it is within the limit. The window begins
// with a source's first hit.
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
		return false, fmt.Errorf("the rate of a visitor: %w", err)
	}
	return got.count <= int64(l.Max), nil
}

// countAll never fails as a whole: what is counted must not be counted again
// because another slot does not answer.
func (r *RateLimiter) countAll(ctx context.Context, asks []rateRequest) ([]rateReply, error) {
	out := make([]rateReply, len(asks))
	if !r.cluster {
		all := make([]int, len(asks))
		for i := range all {
			all[i] = i
		}
		r.count(ctx, asks, all, out)
		return out, nil
	}
	var bySlot [clusterSlots][]int
	for i, a := range asks {
		slot := a.source.Visitor % clusterSlots
		bySlot[slot] = append(bySlot[slot], i)
	}
	var wait sync.WaitGroup
	for _, these := range bySlot {
		if len(these) > 0 {
			wait.Go(func() { r.count(ctx, asks, these, out) })
		}
	}
	wait.Wait()
	return out, nil
}

// count counts the asks with these indexes.
func (r *RateLimiter) count(ctx context.Context, asks []rateRequest, these []int, out []rateReply) {
	keys, args := make([]string, len(these)), make([]any, 0, 2*len(these))
	for i, at := range these {
		keys[i] = r.key(asks[at].source)
		args = append(args, asks[at].window.Milliseconds(), asks[at].hits)
	}
	counts, err := r.script.Run(ctx, r.redis, keys, args...).Int64Slice()
	if err == nil && len(counts) != len(these) {
		err = fmt.Errorf("%d counts for %d keys", len(counts), len(these))
	}
	for i, at := range these {
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
