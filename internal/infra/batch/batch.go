// Package batch combines concurrent calls into batches.
//
// Calls are queued; a flusher runs all queued calls as one batch. A single call runs
// immediately, unless the batcher has a delay, and further calls are queued meanwhile.
package batch

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Batcher collects calls. It is safe for concurrent use.
type Batcher[In, Out any] struct {
	run     func(ctx context.Context, in []In) ([]Out, error)
	maxSize int
	delay   time.Duration // before a batch runs
	queue   chan call[In, Out]
	ended   <-chan struct{}
}

type call[In, Out any] struct {
	in   In
	done chan result[Out]
}

type result[Out any] struct {
	out Out
	err error
}

// ErrStopped is returned for calls after the batcher has stopped.
var ErrStopped = errors.New("the batcher has stopped")

// New starts a batcher with a number of flushers, until ctx ends. run gets up to maxSize
// inputs and returns one output for each, in order. If a batch fails, each input is run
// again separately, so that an invalid input does not affect others: a failed run must
// have no effects.
func New[In, Out any](ctx context.Context, maxSize, flushers int, run func(context.Context, []In) ([]Out, error)) *Batcher[In, Out] {
	return NewWithDelay(ctx, 0, maxSize, flushers, run)
}

// NewWithDelay is like New, but runs a batch some time after its first call, to make
// batches larger.
func NewWithDelay[In, Out any](ctx context.Context, delay time.Duration, maxSize, flushers int, run func(context.Context, []In) ([]Out, error)) *Batcher[In, Out] {
	b := &Batcher[In, Out]{run: run, maxSize: maxSize, delay: delay, queue: make(chan call[In, Out]), ended: ctx.Done()}
	for range flushers {
		go b.flush(ctx)
	}
	return b
}

// Do runs a call in a batch. If ctx ends first, the call may still be executed.
func (b *Batcher[In, Out]) Do(ctx context.Context, in In) (Out, error) {
	c := call[In, Out]{in: in, done: make(chan result[Out], 1)}
	var none Out
	select {
	case b.queue <- c:
	case <-ctx.Done():
		return none, ctx.Err()
	case <-b.ended:
		return none, ErrStopped
	}
	select {
	case r := <-c.done:
		return r.out, r.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (b *Batcher[In, Out]) flush(ctx context.Context) {
	for {
		var calls []call[In, Out]
		select {
		case <-ctx.Done():
			return
		case c := <-b.queue:
			calls = append(calls, c)
		}
		b.execute(ctx, b.collect(ctx, calls))
	}
}

// collect adds queued calls, and those that arrive within the delay.
func (b *Batcher[In, Out]) collect(ctx context.Context, calls []call[In, Out]) []call[In, Out] {
	if b.delay > 0 {
		timer := time.NewTimer(b.delay)
		defer timer.Stop()
		for len(calls) < b.maxSize {
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
	for len(calls) < b.maxSize {
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

func (b *Batcher[In, Out]) execute(ctx context.Context, calls []call[In, Out]) {
	ins := make([]In, len(calls))
	for i, c := range calls {
		ins[i] = c.in
	}
	outs, err := b.run(ctx, ins)
	if err == nil && len(outs) != len(ins) {
		err = fmt.Errorf("a batch of %d calls returned %d results", len(ins), len(outs))
	}
	switch {
	case err == nil:
		for i, c := range calls {
			c.done <- result[Out]{out: outs[i]}
		}
	case len(calls) == 1:
		calls[0].done <- result[Out]{err: err}
	default:
		for _, c := range calls {
			b.execute(ctx, []call[In, Out]{c})
		}
	}
}
