package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// trending measures reading the top 50 of 100,000 posts.
func trending(ctx context.Context, out io.Writer, o options, r *report) error {
	e, err := startEngine(ctx, o.redis)
	if err != nil {
		return err
	}
	defer e.stop()
	site, err := newSite()
	if err != nil {
		return err
	}
	viewCounter := counter.New(e.Client, counter.Options{})
	readers := newReaders(site, newPages(100_000), o.visitors, 1)
	var hits []counter.Hit
	for _, page := range readers.pages {
		hits = append(hits, readers.of(page))
	}
	for range 200_000 {
		hits = append(hits, readers.hit())
	}
	for part := range slices.Chunk(hits, 1000) {
		if _, err := viewCounter.Count(ctx, part); err != nil {
			return err
		}
	}
	if err := viewCounter.Aggregate(ctx); err != nil {
		return err
	}
	for _, ranking := range []counter.Ranking{
		counter.TrendingDay, counter.TrendingHour, counter.Rising,
		counter.TrendingNow,
	} {
		var took []time.Duration
		for range 1000 {
			start := time.Now()
			ranked, err := viewCounter.Trending(ctx, site.ID, ranking, 50)
			if err != nil {
				return err
			}
			if len(ranked) != 50 {
				return fmt.Errorf("%d posts trend by %s, want 50", len(ranked), ranking)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		r.TrendingMS, r.TrendingP99MS = ms(took[500]), ms(took[990])
		fmt.Fprintf(out, "the 50 first of 100,000 by %-7s p50 %.3f ms  p99 %.3f ms\n", ranking, r.TrendingMS,
			r.TrendingP99MS)
	}
	return nil
}

// memory measures the memory for many posts with Zipf-distributed readers over
// a day, with all features enabled and a flush every minute.
func memory(ctx context.Context, out io.Writer, o options, r *report) error {
	e, err := startEngine(ctx, o.redis)
	if err != nil {
		return err
	}
	defer e.stop()
	site, err := newSite()
	if err != nil {
		return err
	}
	empty, err := e.info(ctx, "memory", "used_memory")
	if err != nil {
		return err
	}
	pages := newPages(o.stored)
	// Every post has one reader, and the n-th post 300,000/n more.
	var order []int32
	for i := range pages {
		for range 1 + len(pages)*3/10/(i+1) {
			order = append(order, int32(i))
		}
	}
	readers := newReaders(site, pages, o.visitors, 1)
	readers.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	// From noon to noon, so that each run has views of two days: a page has a HyperLogLog
	// for each day.
	year, month, day := time.Now().In(site.Zone).Date()
	start := time.Date(year, month, day-2, 12, 0, 0, 0, site.Zone)
	now := start
	viewCounter := counter.New(e.Client, counter.Options{Now: func() time.Time { return now }})
	for shard := range viewCounter.Shards() {
		if err := viewCounter.MarkSeeded(ctx, shard); err != nil {
			return err
		}
	}
	hits := make([]counter.Hit, 0, 1000)
	for i, page := range order {
		h := readers.of(pages[page])
		h.At = start.Add(time.Duration(float64(i) / float64(len(order)) * float64(24*time.Hour)))
		now = h.At
		hits = append(hits, h)
		if len(hits) < cap(hits) && i < len(order)-1 {
			continue
		}
		if _, err := viewCounter.Count(ctx, hits); err != nil {
			return err
		}
		hits = hits[:0]
		if i%20_000 > 20_000-cap(hits) || i == len(order)-1 {
			if err := flush(ctx, viewCounter); err != nil {
				return err
			}
		}
	}
	if err := e.expire(ctx, now); err != nil {
		return err
	}
	used, err := e.info(ctx, "memory", "used_memory")
	if err != nil {
		return err
	}
	keys, err := e.DBSize(ctx).Result()
	if err != nil {
		return err
	}
	r.MBPerMillionPosts = (used - empty) / 1e6 / float64(o.stored) * 1e6
	if r.Redis, err = e.version(ctx); err != nil {
		return err
	}
	if err := e.breakdown(ctx, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d posts with %d views in a day take %.0f MB in %d keys: %.0f MB per million posts\n",
		r.Redis, o.stored, len(order), (used-empty)/1e6, keys, r.MBPerMillionPosts)
	return nil
}

// breakdown estimates the memory by kind of key from a sample of one key in
// fifty.
func (e *engine) breakdown(ctx context.Context, out io.Writer) error {
	bytes, count := map[string]int64{}, map[string]int64{}
	n := 0
	for it := e.Scan(ctx, 0, "*", 1000).Iterator(); it.Next(ctx); n++ {
		key := it.Val()
		kind := key[strings.LastIndexAny(key, ":;}")+1:]
		ranking := strings.Contains(key, ";")
		switch {
		case ranking && kind[0] == 'm' && kind != "meta":
			kind = "a minute"
		case ranking:
			kind = "ranking " + kind
		case strings.Contains(key, "}d3600"):
			kind = "dedup"
		case strings.Contains(key, "}dropped:"):
			kind = "dropped batch"
		case strings.Contains(key, "}reply:"):
			kind = "reply"
		case strings.HasSuffix(kind, "dH"):
			kind = "day's HyperLogLog"
		}
		if n%50 != 0 && !ranking {
			continue
		}
		size, err := e.MemoryUsage(ctx, key, 0).Result()
		if err != nil {
			continue // it has expired
		}
		times := int64(50)
		if ranking {
			times = 1
		}
		bytes[kind] += size * times
		count[kind] += times
	}
	for _, kind := range slices.Sorted(maps.Keys(bytes)) {
		fmt.Fprintf(out, "  %-20s %9d keys  %6.1f MB\n", kind, count[kind], float64(bytes[kind])/1e6)
	}
	return nil
}

// expire deletes the dedup epochs that would have expired during the simulated
// day.
func (e *engine) expire(ctx context.Context, now time.Time) error {
	for it := e.Scan(ctx, 0, "{v00}d3600:*", 1000).Iterator(); it.Next(ctx); {
		epoch, err := strconv.ParseInt(strings.Split(it.Val(), ":")[1], 10, 64)
		if err != nil {
			return err
		}
		if epoch < now.Unix()/3600-2 {
			if err := e.Unlink(ctx, it.Val()).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush aggregates, and takes and drops batches as a flush does.
func flush(ctx context.Context, c *counter.Counter) error {
	if err := c.Aggregate(ctx); err != nil {
		return err
	}
	for shard := range c.Shards() {
		batch := uuid.New()
		taken, err := c.TakeBatch(ctx, shard, batch)
		if err != nil {
			return err
		}
		if taken {
			if err := c.DropBatch(ctx, shard, batch); err != nil {
				return err
			}
		}
	}
	return nil
}
