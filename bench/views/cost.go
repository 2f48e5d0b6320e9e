package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
)

// cost measures the CPU time of Redis and of this process per view, for
// counting and for aggregating a second's views, next to INCRs of the same views in
// pipelines of the same size, and to the least that a script must do. Other load on the machine
// affects it less than elapsed time.
func cost(ctx context.Context, out io.Writer, o options, r *report) error {
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
	readers := newReaders(site, newPages(o.posts), o.visitors, 1)
	const batch, perSecond, seconds = 64, 60_000, 11
	hits := make([][]counter.Hit, perSecond/batch)
	var counting, aggregating, incr, minimal used
	script := redis.NewScript(minimalScript)
	for second := range seconds {
		for i := range hits {
			hits[i] = hits[i][:0]
			for range batch {
				hits[i] = append(hits[i], readers.hit())
			}
		}
		err := e.measure(ctx, &counting, func() error {
			for _, part := range hits {
				if _, err := viewCounter.Count(ctx, part); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := e.measure(ctx, &aggregating, func() error { return viewCounter.Aggregate(ctx) }); err != nil {
			return err
		}
		if err := e.measure(ctx, &incr, func() error { return e.incrAll(ctx, hits) }); err != nil {
			return err
		}
		if err := e.measure(ctx, &minimal, func() error { return e.countMinimally(ctx, script, hits) }); err != nil {
			return err
		}
		if second == 0 { // all keys are new
			counting, aggregating, incr, minimal = used{}, used{}, used{}, used{}
			if err := e.ConfigResetStat(ctx).Err(); err != nil {
				return err
			}
		}
	}
	n := float64((seconds - 1) * len(hits) * batch)
	if r.Redis, err = e.version(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "counting: Redis %.1f µs, this process %.1f µs a view; aggregating a second's 60,000: %.1f and "+
		"%.1f µs a view\n",
		counting.redis*1e6/n, counting.own*1e6/n, aggregating.redis*1e6/n, aggregating.own*1e6/n)
	fmt.Fprintf(out, "pipelined INCR: %.1f and %.1f µs; Redis needs %.2f of the time of a view for it\n",
		incr.redis*1e6/n, incr.own*1e6/n, incr.redis/(counting.redis+aggregating.redis))
	fmt.Fprintf(out, "a script that only looks up visitors, adds to totals and appends to a log: Redis %.1f "+
		"µs a view\n", minimal.redis*1e6/n)
	r.IncrOfCountingCPU, r.IncrOfMinimalCPU = incr.redis/(counting.redis+aggregating.redis), incr.redis/minimal.redis
	if err := e.commands(ctx, out, n); err != nil {
		return err
	}
	r.CountingUS = (counting.redis + counting.own + aggregating.redis + aggregating.own) * 1e6 / n
	return nil
}

// incrAll counts views with an INCR each, in one pipeline per batch.
func (e *engine) incrAll(ctx context.Context, batches [][]counter.Hit) error {
	for _, batch := range batches {
		_, err := e.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, h := range batch {
				p.Incr(ctx, "i:"+h.Page)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// used is processor time in seconds.
type used struct{ redis, own float64 }

func (e *engine) measure(ctx context.Context, u *used, do func() error) error {
	before, err := e.cpu(ctx)
	if err != nil {
		return err
	}
	own := ownCPU()
	if err := do(); err != nil {
		return err
	}
	u.own += (ownCPU() - own).Seconds()
	after, err := e.cpu(ctx)
	u.redis += after - before
	return err
}

// ownCPU returns the CPU time of this process.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// commands returns which commands took how much of Redis' time per view.
func (e *engine) commands(ctx context.Context, out io.Writer, views float64) error {
	text, err := e.Info(ctx, "commandstats").Result()
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "cmdstat_"), ":")
		var calls, usec float64
		if !ok {
			continue
		}
		if _, err := fmt.Sscanf(rest, "calls=%f,usec=%f", &calls, &usec); err != nil {
			continue
		}
		fmt.Fprintf(out, "  %-14s %7.3f calls  %7.3f µs a view\n", name, calls/views, usec/views)
	}
	return nil
}
