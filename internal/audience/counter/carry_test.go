package counter_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

// killedRemoving simulates a process that dies right before it removes an entry from a
// list, once.
type killedRemoving struct{ killed atomic.Bool }

func (k *killedRemoving) DialHook(next redis.DialHook) redis.DialHook { return next }

func (k *killedRemoving) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "lrem" && k.killed.CompareAndSwap(false, true) {
			cmd.SetErr(errors.New("killed"))
			return cmd.Err()
		}
		return next(ctx, cmd)
	}
}

func (k *killedRemoving) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// Hits that a single Redis had counted but not aggregated when its keys were migrated
// to a cluster are aggregated there once, even if the process dies.
func TestAggregate_TransfersSummariesToCluster(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	one, cluster := enginetest.RedisClient(t, enginetest.Redis(t)), enginetest.RedisCluster(t)
	before, after := counter.New(one, counter.Options{}), counter.New(cluster, counter.Options{})
	markSeeded(t, before)
	site := newSite(t, counter.Set)
	const pages, each = 100, 20
	read := func(c *counter.Counter, from, to int) {
		t.Helper()
		var hits []counter.Hit
		for page := range pages {
			for n := from; n < to; n++ {
				hits = append(hits, view(site, fmt.Sprint(page), uint64(n), time.Now()))
			}
		}
		count(t, c, hits...)
	}
	read(before, 0, each)
	for _, key := range must[[]string](t)(one.Keys(ctx, "*").Result()) {
		left := max(must[time.Duration](t)(one.PTTL(ctx, key).Result()), 0)
		if err := cluster.Restore(ctx, key, left, must[string](t)(one.Dump(ctx, key).Result())).Err(); err != nil {
			t.Fatal(err)
		}
	}
	read(after, each, 2*each)
	var death killedRemoving
	cluster.AddHook(&death)
	if err := after.Aggregate(ctx); err == nil || !death.killed.Load() {
		t.Fatalf("aggregate with a killed process: got %v, want its error", err)
	}
	aggregate(t, after) // by another process
	for page := range pages {
		s := must[counter.Stats](t)(after.Stats(ctx, site, fmt.Sprint(page)))
		var hours int64
		for _, hour := range must[[]counter.Bucket](t)(after.Series(ctx, site, fmt.Sprint(page), counter.View,
			counter.ByHour, 2)) {
			hours += hour.Count
		}
		if s.Views != 2*each || hours != 2*each || s.Uniques.AllTime != 2*each {
			t.Errorf("page %d has %d views, %d by the hour, of %d visitors; want %d", page, s.Views, hours,
				s.Uniques.AllTime, 2*each)
		}
	}
	var flushed int64
	for _, d := range takeAll(t, after) {
		for _, h := range d.Hours {
			flushed += h.Count
		}
	}
	if flushed != 2*each*pages {
		t.Errorf("the flush gets %d views, want %d", flushed, 2*each*pages)
	}
}
