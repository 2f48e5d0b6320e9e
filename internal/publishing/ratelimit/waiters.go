package ratelimit

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/platforms/network"
)

// waitersKey is the suffix of the key of a bucket's waiters, see update.lua.
const waitersKey = ":waiters"

// Wait is the bucket that a post waits for, and the time until when.
type Wait struct {
	Scope  network.Scope
	Bucket string // empty: all of the call's buckets in the scope
	Until  time.Time
}

type waiter struct {
	caller Caller
	kind   network.CallKind
	Wait
	post uuid.UUID
}

// AddWaiter registers a post that tries again at a later time, so that Observe can
// return it when it may try sooner. Without Redis it is not registered, and waits for
// its time.
func (l *Limiter) AddWaiter(ctx context.Context, c Caller, kind network.CallKind, r Wait, post uuid.UUID) {
	if l.isBackingOff() || !r.Until.After(time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.timeout)
	defer cancel()
	if _, err := l.waiters.Do(ctx, waiter{c, kind, r, post}); err != nil {
		l.recordFailure(err)
	}
}

func (l *Limiter) addWaiters(ctx context.Context, all []waiter) ([]struct{}, error) {
	last := map[string]time.Time{}
	members := map[string][]redis.Z{}
	for _, w := range all {
		for _, b := range w.caller.buckets(w.kind) {
			if b.Scope != w.Scope || w.Bucket != "" && b.Bucket != w.Bucket {
				continue
			}
			key := b.key + waitersKey
			members[key] = append(members[key], redis.Z{Score: float64(w.Until.UnixMilli()), Member: w.post.String()})
			if w.Until.After(last[key]) {
				last[key] = w.Until
			}
		}
	}
	_, err := l.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for key, posts := range members {
			// Waiters whose time has passed have tried again, or will.
			p.ZRemRangeByScore(ctx, key, "-inf", formatMillis(time.Now()))
			p.ZAdd(ctx, key, posts...)
			p.ExpireGT(ctx, key, time.Until(last[key])+time.Minute)
			p.ExpireNX(ctx, key, time.Until(last[key])+time.Minute)
		}
		return nil
	})
	return make([]struct{}, len(all)), err
}

func formatMillis(t time.Time) string { return "(" + strconv.FormatInt(t.UnixMilli(), 10) }
