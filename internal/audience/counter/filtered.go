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

// PendingFiltered is how many hits on a page were filtered, by reason, as far as
// a flush has not brought them to Postgres.
type PendingFiltered struct {
	TakeCount string // changes whenever a batch is taken
	Current   map[string]int64
	Batches   map[uuid.UUID]map[string]int64 // taken and not dropped
}

// BatchIDs names the batches.
func (p PendingFiltered) BatchIDs() []uuid.UUID { return slices.Collect(maps.Keys(p.Batches)) }

// AddTo adds everything but what is of the batches given.
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

// PendingFiltered reads what was filtered on a page, all at one moment.
func (c *Counter) PendingFiltered(ctx context.Context, id PageID) (PendingFiltered, error) {
	shard := c.Shard(id.Site, id.Page)
	cmds, err := c.runScripts(ctx, c.shardScript, []scriptCall{{tag(shard) + listDeltas, []any{"refused", pageKey(shard, id.Site, id.Page)}}})
	if err != nil {
		return PendingFiltered{}, fmt.Errorf("read filtered views: %w", err)
	}
	said, err := cmds[0].StringSlice()
	if err != nil || len(said) < 2 || len(said)%2 != 0 {
		return PendingFiltered{}, fmt.Errorf("read filtered views: %w", errors.Join(errBadReply, err))
	}
	p := PendingFiltered{TakeCount: said[0], Batches: map[uuid.UUID]map[string]int64{}}
	if p.Current, err = parseReasons(said[1]); err != nil {
		return p, fmt.Errorf("read filtered views: %w", err)
	}
	for i := 2; i < len(said); i += 2 {
		batch, err := uuid.Parse(said[i])
		if err != nil {
			continue // its name goes to the quarantine
		}
		if p.Batches[batch], err = parseReasons(said[i+1]); err != nil {
			return p, fmt.Errorf("read filtered views: %w", err)
		}
	}
	return p, nil
}

// parseReasons reads what fold.lua wrote: its numbers may have an exponent.
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
