// Package batch turns many small calls at the same moment into few large ones.
//
// Calls queue; a flusher takes whatever is queued and runs it as one. A lone call
// runs at once, unless the batcher lingers, and while it runs the next batch
// gathers by itself.
package batch

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Batcher collects calls. It is safe for concurrent use.
type Batcher[In, Out any] struct {
	run   func(ctx context.Context, in []In) ([]Out, error)
	most  int
	pause time.Duration // before a batch is taken
	queue chan call[In, Out]
	ended <-chan struct{}
}

type call[In, Out any] struct {
	in   In
	done chan result[Out]
}

type result[Out any] struct {
	out Out
	err error
}

// ErrStopped is the answer to calls after the batcher's end.
var ErrStopped = errors.New("the batcher has stopped")

// New starts a batcher with that many flushers; it ends with ctx. run gets at
// most most inputs and answers with an output for each, in order. When it
// fails for several, each is run again alone, so that one bad input spoils
// nobody else's call: run must do nothing at all when it fails.
func New[In, Out any](ctx context.Context, most, flushers int, run func(context.Context, []In) ([]Out, error)) *Batcher[In, Out] {
	return Lingering(ctx, 0, most, flushers, run)
}

// Lingering is New for calls of which none is in a hurry: a batch is taken some
// time after its first call came.
func Lingering[In, Out any](ctx context.Context, pause time.Duration, most, flushers int, run func(context.Context, []In) ([]Out, error)) *Batcher[In, Out] {
	b := &Batcher[In, Out]{run: run, most: most, pause: pause, queue: make(chan call[In, Out]), ended: ctx.Done()}
	for range flushers {
		go b.flush(ctx)
	}
	return b
}

// Do runs in together with whatever else is queued. When ctx ends first, the
// call may still be carried out.
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
		b.answer(ctx, b.gather(ctx, calls))
	}
}

// gather adds what is queued, or comes while the batcher lingers.
func (b *Batcher[In, Out]) gather(ctx context.Context, calls []call[In, Out]) []call[In, Out] {
	if b.pause > 0 {
		timer := time.NewTimer(b.pause)
		defer timer.Stop()
		for len(calls) < b.most {
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
	for len(calls) < b.most {
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

func (b *Batcher[In, Out]) answer(ctx context.Context, calls []call[In, Out]) {
	ins := make([]In, len(calls))
	for i, c := range calls {
		ins[i] = c.in
	}
	outs, err := b.run(ctx, ins)
	if err == nil && len(outs) != len(ins) {
		err = fmt.Errorf("a batch of %d was answered with %d results", len(ins), len(outs))
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
			b.answer(ctx, []call[In, Out]{c})
		}
	}
}
