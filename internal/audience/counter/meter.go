package counter

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Meter records metrics of counting.
type Meter interface {
	// Batch records hits that were counted in one round trip: counted hits and
	// duplicates by kind, filtered hits by reason.
	Batch(ctx context.Context, hits int, took time.Duration, counted, duplicates, filtered map[string]int)
	// BatchFailed records a failed round trip.
	BatchFailed(ctx context.Context, took time.Duration)
	// Quarantined records entries that could not be read.
	Quarantined(ctx context.Context, records int64)
	// QuarantineDiscarded records entries that were deleted from the quarantine by
	// a user or because of its limits.
	QuarantineDiscarded(ctx context.Context, records int64)
}

// run counts the batch and records it.
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
		counted, duplicates := b.countByKind(outcomes)
		meter.Batch(ctx, b.hits, time.Since(start), counted, duplicates, b.reasons)
	}
	return outcomes, err
}

// countByKind returns the numbers of counted hits and duplicates by kind.
func (b *hitBatch) countByKind(outcomes []Outcome) (counted, duplicates map[string]int) {
	counted, duplicates = map[string]int{}, map[string]int{}
	for _, call := range b.calls {
		for _, g := range call.groups {
			kind := string(kindFor(g.key.kind))
			switch {
			case g.key.kind == filtered, g.key.isOfVisits():
				continue
			case g.key.kind == heartbeat: // a duplicate has no known view
				kind = "heartbeat"
			case g.key.isView():
				kind = string(View)
			}
			for _, hit := range g.hits {
				if outcomes[hit].Counted {
					counted[kind]++
				} else {
					duplicates[kind]++
				}
			}
		}
	}
	if b.events > 0 {
		counted["event"] = b.events
	}
	return counted, duplicates
}

// PendingEntries returns the number of entries in Redis that wait for a flush,
// including those of unfinished flushes.
func (c *Counter) PendingEntries(ctx context.Context) (entries int64, err error) {
	var lengths []*redis.IntCmd
	_, err = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for shard := range c.Shards() {
			for _, list := range []string{"log", "transfers", "summaries", "deltas", "batches"} {
				lengths = append(lengths, p.LLen(ctx, tag(shard)+list))
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count pending entries: %w", err)
	}
	for _, length := range lengths {
		entries += length.Val()
	}
	return entries, nil
}
