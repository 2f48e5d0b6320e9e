package counter

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Meter is told of every round trip that counts.
type Meter interface {
	// Batch notes hits that were counted together. counted and repeated are by
	// kind, filtered is by reason.
	Batch(ctx context.Context, hits int, took time.Duration, counted, repeated, filtered map[string]int)
	// BatchFailed notes hits that Redis did not take.
	BatchFailed(ctx context.Context, took time.Duration)
	// Quarantined notes records that could not be read and were put aside;
	// QuarantineDiscarded those that were discarded, by a person or because there
	// were too many or they were too old.
	Quarantined(ctx context.Context, records int64)
	QuarantineDiscarded(ctx context.Context, records int64)
}

// run counts the batch and tells the meter.
func (b *hitBatch) run(ctx context.Context) ([]Outcome, error) {
	if b.hits == 0 {
		return nil, nil
	}
	start := time.Now()
	outcomes, err := b.send(ctx)
	meter := b.counter.options.Meter
	switch {
	case meter == nil:
	case err != nil:
		meter.BatchFailed(ctx, time.Since(start))
	default:
		counted, repeated := b.countByKind(outcomes)
		meter.Batch(ctx, b.hits, time.Since(start), counted, repeated, b.reasons)
	}
	return outcomes, err
}

// countByKind adds up what became of the hits that were not refused.
func (b *hitBatch) countByKind(outcomes []Outcome) (counted, repeated map[string]int) {
	counted, repeated = map[string]int{}, map[string]int{}
	for _, call := range b.calls {
		for _, g := range call.groups {
			if g.key.kind == filtered {
				continue
			}
			kind := string(kindFor(g.key.kind))
			for _, hit := range g.hits {
				if outcomes[hit].Counted {
					counted[kind]++
				} else {
					repeated[kind]++
				}
			}
		}
	}
	return counted, repeated
}

// PendingEntries is how many entries Redis has for the next flush, those of flushes
// that did not end with them.
func (c *Counter) PendingEntries(ctx context.Context) (entries int64, err error) {
	var lengths []*redis.IntCmd
	_, err = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for shard := range c.Shards() {
			for _, list := range []string{"log", "away", "sums", "deltas", "batches"} {
				lengths = append(lengths, p.LLen(ctx, tag(shard)+list))
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count what waits for a flush: %w", err)
	}
	for _, length := range lengths {
		entries += length.Val()
	}
	return entries, nil
}
