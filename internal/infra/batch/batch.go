// Package batch merges many small concurrent calls into few large ones.
//
// Calls queue; a flusher takes whatever is queued and runs it as one batch. A
// single call runs immediately, unless the batcher lingers, and the next batch
// accumulates while it runs, or for an interval.
//
// Package audience/counter has a batcher of its own: counting hits must not be
// repeated call by call after a failure.
package batch

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Batcher merges calls. It is safe for concurrent use.
type Batcher[In, Out any] struct {
	run      func(ctx context.Context, in []In) ([]Out, error)
	maxBatch int
	linger   time.Duration // how long a batch waits for more calls
	interval time.Duration // from one batch of a flusher to its next
	queue    chan call[In, Out]
	stopped  <-chan struct{}
}

type call[In, Out any] struct {
	in   In
	done chan result[Out]
}

type result[Out any] struct {
	out Out
	err error
}

// ErrStopped is the error of calls after the batcher has stopped.
var ErrStopped = errors.New("the batcher has stopped")

// New starts a batcher with the given number of flushers, which stop with ctx.
// run gets at most maxBatch inputs and returns an output for each, in order. If
// it fails for several inputs, each is run again alone, so that one bad input
// doesn't fail the other calls; therefore run must have no effect when it
// fails. A run that hits a time limit of its own is not repeated: all of its calls
// fail with context.DeadlineExceeded, and later ones are not kept waiting.
func New[In, Out any](
	ctx context.Context, maxBatch, flushers int, run func(context.Context, []In) ([]Out, error),
) *Batcher[In, Out] {
	return NewWithDelay(ctx, 0, maxBatch, flushers, run)
}

// NewWithDelay is New for calls that are not urgent: a batch runs some time
// after its first call.
func NewWithDelay[In, Out any](
	ctx context.Context, linger time.Duration, maxBatch, flushers int, run func(context.Context, []In) ([]Out, error),
) *Batcher[In, Out] {
	b := &Batcher[In, Out]{run: run, maxBatch: maxBatch, linger: linger}
	b.start(ctx, flushers)
	return b
}

// NewWithInterval is New for a stream of calls: after a batch, the next one waits until
// the interval is over, so that a single call is not delayed and those of a stream share
// batches.
func NewWithInterval[In, Out any](
	ctx context.Context, interval time.Duration, maxBatch int, run func(context.Context, []In) ([]Out, error),
) *Batcher[In, Out] {
	b := &Batcher[In, Out]{run: run, maxBatch: maxBatch, interval: interval}
	b.start(ctx, 1)
	return b
}

func (b *Batcher[In, Out]) start(ctx context.Context, flushers int) {
	b.queue, b.stopped = make(chan call[In, Out]), ctx.Done()
	for range flushers {
		go b.runFlusher(ctx)
	}
}

// Do runs in together with other queued calls. The call may still run if ctx
// ends first.
func (b *Batcher[In, Out]) Do(ctx context.Context, in In) (Out, error) {
	c := call[In, Out]{in: in, done: make(chan result[Out], 1)}
	var none Out
	select {
	case b.queue <- c:
	case <-ctx.Done():
		return none, ctx.Err()
	case <-b.stopped:
		return none, ErrStopped
	}
	select {
	case r := <-c.done:
		return r.out, r.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (b *Batcher[In, Out]) runFlusher(ctx context.Context) {
	var last time.Time
	for {
		var calls []call[In, Out]
		select {
		case <-ctx.Done():
			return
		case c := <-b.queue:
			calls = append(calls, c)
		}
		calls = b.collect(ctx, calls, max(b.linger, b.interval-time.Since(last)))
		last = time.Now()
		b.runBatch(ctx, calls)
	}
}

// collect adds calls that are queued, or arrive while it waits.
func (b *Batcher[In, Out]) collect(
	ctx context.Context, calls []call[In, Out], wait time.Duration,
) []call[In, Out] {
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		for len(calls) < b.maxBatch {
			select {
			case c := <-b.queue:
				calls = append(calls, c)
				continue
			case <-timer.C:
			case <-ctx.Done():
			}
			break
		}
	}
	for len(calls) < b.maxBatch {
		select {
		case c := <-b.queue:
			calls = append(calls, c)
			continue
		default:
		}
		break
	}
	return calls
}

func (b *Batcher[In, Out]) runBatch(ctx context.Context, calls []call[In, Out]) {
	ins := make([]In, len(calls))
	for i, c := range calls {
		ins[i] = c.in
	}
	outs, err := b.run(ctx, ins)
	if err == nil && len(outs) != len(ins) {
		err = fmt.Errorf("got %d results for a batch of %d", len(outs), len(ins))
	}
	switch {
	case err == nil:
		for i, c := range calls {
			c.done <- result[Out]{out: outs[i]}
		}
	case len(calls) == 1 || errors.Is(err, context.DeadlineExceeded):
		for _, c := range calls {
			c.done <- result[Out]{err: err}
		}
	default:
		for _, c := range calls {
			b.runBatch(ctx, []call[In, Out]{c})
		}
	}
}
