package counter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
)

// PendingFiltered holds a page's filtered hits by reason that are not in
// Postgres yet.
type PendingFiltered struct {
	TakeCount string // changes when a batch is taken
	Current   map[string]int64
	Batches   map[uuid.UUID]map[string]int64 // pending batches
}

// BatchIDs returns the ids of the pending batches.
func (p PendingFiltered) BatchIDs() []uuid.UUID { return slices.Collect(maps.Keys(p.Batches)) }

// AddTo adds all counts except those of the given batches.
func (p PendingFiltered) AddTo(counts map[string]int64, except []uuid.UUID) {
	for reason, n := range p.Current {
		counts[reason] += n
	}
	for batch, reasons := range p.Batches {
		if slices.Contains(except, batch) {
			continue
		}
		for reason, n := range reasons {
			counts[reason] += n
		}
	}
}

// PendingFiltered reads a page's filtered hits that are not in Postgres yet,
// atomically.
func (c *Counter) PendingFiltered(ctx context.Context, id PageID) (PendingFiltered, error) {
	shard := c.Shard(id.Site, id.Page)
	cmds, err := c.runScripts(ctx, c.shardScript, []scriptCall{
		{tag(shard) + listDeltas, []any{"filtered", pageKey(shard, id.Site, id.Page)}},
	})
	if err != nil {
		return PendingFiltered{}, fmt.Errorf("read filtered views: %w", err)
	}
	reply, err := cmds[0].StringSlice()
	if err != nil || len(reply) < 2 || len(reply)%2 != 0 {
		return PendingFiltered{}, fmt.Errorf("read filtered views: %w", errors.Join(errBadReply, err))
	}
	p := PendingFiltered{TakeCount: reply[0], Batches: map[uuid.UUID]map[string]int64{}}
	if p.Current, err = parseReasons(reply[1]); err != nil {
		return p, fmt.Errorf("read filtered views: %w", err)
	}
	for i := 2; i < len(reply); i += 2 {
		batch, err := uuid.Parse(reply[i])
		if err != nil {
			continue // Batches moves the name to the quarantine
		}
		if p.Batches[batch], err = parseReasons(reply[i+1]); err != nil {
			return p, fmt.Errorf("read filtered views: %w", err)
		}
	}
	return p, nil
}

// parseReasons parses what aggregate.lua stored. Its numbers may have an
// exponent.
func parseReasons(text string) (map[string]int64, error) {
	var numbers map[string]float64
	if err := json.Unmarshal([]byte(text), &numbers); err != nil {
		return nil, err
	}
	reasons := make(map[string]int64, len(numbers))
	for reason, n := range numbers {
		reasons[reason] = int64(n)
	}
	return reasons, nil
}
