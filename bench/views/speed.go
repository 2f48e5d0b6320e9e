package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
)

// result is the result of one run.
type result struct {
	count    int
	perS     float64
	p50, p99 time.Duration
	redis    float64 // µs of Redis' CPU per view
}

// speed runs the methods alternately, so that noise of the machine affects all
// of them.
func speed(ctx context.Context, out io.Writer, o options, r *report) error {
	e, err := startEngine(ctx, o.redis)
	if err != nil {
		return err
	}
	defer e.stop()
	site, err := newSite()
	if err != nil {
		return err
	}
	pages := newPages(o.posts)
	methods := []struct {
		name string
		run  func(context.Context) (result, error)
	}{
		{"naive, up to 9 round trips", func(ctx context.Context) (result, error) {
			return e.measureThroughput(ctx, o, site, pages, e.countNaively)
		}},
		{"naive, 2 round trips", func(ctx context.Context) (result, error) {
			return e.measureThroughput(ctx, o, site, pages, e.countInTwoRoundTrips)
		}},
		{"INCR", func(ctx context.Context) (result, error) {
			return e.measureThroughput(ctx, o, site, pages, func(ctx context.Context, h counter.Hit) error {
				return e.Incr(ctx, "i:"+h.Page).Err()
			})
		}},
		{"INCR, pipelined", func(ctx context.Context) (result, error) { return e.incrPipelined(ctx, o, site, pages) }},
		{"batcher", func(ctx context.Context) (result, error) { return e.batcher(ctx, o, site, pages) }},
	}
	results := make([][]result, len(methods))
	for range o.runs {
		for i, method := range methods {
			if err := e.FlushAll(ctx).Err(); err != nil {
				return err
			}
			t, err := method.run(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", method.name, err)
			}
			results[i] = append(results[i], t)
			fmt.Fprintf(out, "%-28s %8.0f/s  p50 %6.2f ms  p99 %6.2f ms  Redis %5.1f µs, busy %3.0f %%\n", method.name,
				t.perS, ms(t.p50), ms(t.p99), t.redis, t.redis*t.perS/1e4)
		}
	}
	median := func(i int) result {
		slices.SortFunc(results[i], func(a, b result) int { return int(a.perS - b.perS) })
		return results[i][len(results[i])/2]
	}
	naive, pipelined, incr, incrPipelined, batcher := median(0), median(1), median(2), median(3), median(4)
	r.NaivePerS, r.IncrPerS, r.ViewsPerS, r.P99ms = naive.perS, incr.perS, batcher.perS, ms(batcher.p99)
	r.NaivePipelinedPerS, r.IncrPipelinedPerS = pipelined.perS, incrPipelined.perS
	r.TimesNaive, r.TimesNaivePipelined, r.OfIncr = batcher.perS/naive.perS, batcher.perS/pipelined.perS,
		batcher.perS/incr.perS
	r.OfPipelinedIncrCPU = incrPipelined.redis / batcher.redis
	fmt.Fprintf(out, "the batcher has %.1f × the throughput of the naive method, %.1f × that of the naive method in "+
		"two round trips and %.2f of a bare INCR; per second of Redis' CPU time, %.2f of pipelined INCRs\n",
		r.TimesNaive, r.TimesNaivePipelined, r.OfIncr, r.OfPipelinedIncrCPU)
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measureThroughput counts with many concurrent callers for the duration of a
// run.
func (e *engine) measureThroughput(
	ctx context.Context, o options, site counter.Site, pages []string, count func(context.Context, counter.Hit) error,
) (result, error) {
	before, err := e.cpu(ctx)
	if err != nil {
		return result{}, err
	}
	var wait sync.WaitGroup
	took := make([][]time.Duration, o.callers)
	failed := make([]error, o.callers)
	start := time.Now()
	end := start.Add(o.duration)
	for i := range o.callers {
		readers := newReaders(site, pages, o.visitors, uint64(i)+uint64(start.UnixNano()))
		wait.Go(func() {
			for last := time.Now(); last.Before(end); {
				if failed[i] = count(ctx, readers.hit()); failed[i] != nil {
					return
				}
				now := time.Now()
				took[i] = append(took[i], now.Sub(last))
				last = now
			}
		})
	}
	wait.Wait()
	elapsed := time.Since(start)
	after, err := e.cpu(ctx)
	if err != nil {
		return result{}, err
	}
	for _, err := range failed {
		if err != nil {
			return result{}, err
		}
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	n := len(all)
	return result{
		count: n, perS: float64(n) / elapsed.Seconds(), p50: all[n/2], p99: all[n*99/100],
		redis: (after - before) * 1e6 / float64(n),
	}, nil
}

// cpu returns the CPU time of Redis in seconds.
func (e *engine) cpu(ctx context.Context) (float64, error) {
	user, err := e.info(ctx, "cpu", "used_cpu_user")
	if err != nil {
		return 0, err
	}
	system, err := e.info(ctx, "cpu", "used_cpu_sys")
	return user + system, err
}

func (e *engine) batcher(ctx context.Context, o options, site counter.Site, pages []string) (result, error) {
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return result{}, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return result{}, err
		}
		defer pprof.StopCPUProfile()
	}
	viewCounter := counter.New(e.Client, counter.Options{})
	batcher := counter.NewBatcher(viewCounter)
	defer batcher.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var aggregating sync.WaitGroup
	aggregating.Go(func() { viewCounter.Run(ctx, func(err error) { cancel(err) }) })
	t, err := e.measureThroughput(ctx, o, site, pages, func(ctx context.Context, h counter.Hit) error {
		_, err := batcher.Count(ctx, h)
		return err
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	cancel(nil)
	aggregating.Wait()
	if err != nil {
		return t, err
	}
	// Include the cost of aggregating the remaining log.
	var rest used
	start := time.Now()
	err = e.measure(context.WithoutCancel(ctx), &rest, func() error {
		return viewCounter.Aggregate(context.WithoutCancel(ctx))
	})
	counted := float64(t.count)
	t.perS = counted / (counted/t.perS + time.Since(start).Seconds())
	t.redis += rest.redis * 1e6 / counted
	return t, err
}

// countNaively counts one view with one command after the other, as in tutorials,
// and without dimensions.
func (e *engine) countNaively(ctx context.Context, h counter.Hit) error {
	const window, day = 30 * time.Minute, 24 * time.Hour
	seen := fmt.Sprintf("viewed:%x:%s", h.Visitor.Hash, h.Page)
	n, err := e.Exists(ctx, seen).Result()
	if err != nil || n == 1 {
		return err
	}
	hour, minute := h.At.Format("2006010215"), h.At.Format("200601021504")
	for _, step := range []func() redis.Cmder{
		func() redis.Cmder { return e.Set(ctx, seen, 1, window) },
		func() redis.Cmder { return e.Incr(ctx, "views:"+h.Page) },
		func() redis.Cmder { return e.Incr(ctx, "views:"+h.Page+":"+hour) },
		func() redis.Cmder { return e.Expire(ctx, "views:"+h.Page+":"+hour, 2*day) },
		func() redis.Cmder { return e.PFAdd(ctx, "uniques:"+h.Page, h.Visitor.Hash) },
		func() redis.Cmder { return e.HIncrBy(ctx, "minute:"+minute, h.Page, 1) },
		func() redis.Cmder { return e.Expire(ctx, "minute:"+minute, 2*time.Hour) },
		func() redis.Cmder { return e.SAdd(ctx, "dirty", h.Page) },
	} {
		if err := step().Err(); err != nil {
			return err
		}
	}
	return nil
}
