package flush_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/testing/enginetest"
)

var errAway = errors.New("the engine is away")

// failingStore fails one kind of call.
type failingStore struct {
	flush.Store
	call string
}

func (s failingStore) fails(call string) error {
	if s.call == call {
		return errAway
	}
	return nil
}

func (s failingStore) ApplyViews(ctx context.Context, shard int, id uuid.UUID, batch counter.Batch) (bool, error) {
	if err := s.fails("ApplyViews"); err != nil {
		return false, err
	}
	return s.Store.ApplyViews(ctx, shard, id, batch)
}

func (s failingStore) ViewSeeds(ctx context.Context, after counter.PageID, limit int) ([]counter.Total, error) {
	if err := s.fails("ViewSeeds"); err != nil {
		return nil, err
	}
	return s.Store.ViewSeeds(ctx, after, limit)
}

func (s failingStore) OpenViewErasures(ctx context.Context, limit int) ([]flush.Erasure, error) {
	if err := s.fails("OpenViewErasures"); err != nil {
		return nil, err
	}
	return s.Store.OpenViewErasures(ctx, limit)
}

func (s failingStore) NoteViewLoss(ctx context.Context, shard int, pages int64) error {
	if err := s.fails("NoteViewLoss"); err != nil {
		return err
	}
	return s.Store.NoteViewLoss(ctx, shard, pages)
}

func (s failingStore) ViewTotalsOf(ctx context.Context, pages []counter.PageID) (map[counter.PageID]flush.Totals, error) {
	if err := s.fails("ViewTotalsOf"); err != nil {
		return nil, err
	}
	return s.Store.ViewTotalsOf(ctx, pages)
}

func (s failingStore) ViewPageNames(ctx context.Context, after counter.PageID, limit int) ([]counter.PageID, error) {
	if err := s.fails("ViewPageNames"); err != nil {
		return nil, err
	}
	return s.Store.ViewPageNames(ctx, after, limit)
}

func (s failingStore) ViewBatchLeftOut(ctx context.Context, id uuid.UUID) ([]uuid.UUID, bool, error) {
	if err := s.fails("ViewBatchLeftOut"); err != nil {
		return nil, false, err
	}
	return s.Store.ViewBatchLeftOut(ctx, id)
}

// failingCounter likewise.
type failingCounter struct {
	flush.Counter
	call string
}

func (c failingCounter) fails(call string) error { return failingStore{call: c.call}.fails(call) }

func (c failingCounter) TakeBatch(ctx context.Context, shard int, batch uuid.UUID) (bool, error) {
	if err := c.fails("TakeBatch"); err != nil {
		return false, err
	}
	return c.Counter.TakeBatch(ctx, shard, batch)
}

func (c failingCounter) Batches(ctx context.Context, shard int) ([]uuid.UUID, error) {
	if err := c.fails("Batches"); err != nil {
		return nil, err
	}
	return c.Counter.Batches(ctx, shard)
}

func (c failingCounter) ReadBatch(ctx context.Context, shard int, batch uuid.UUID) (counter.Batch, error) {
	if err := c.fails("ReadBatch"); err != nil {
		return counter.Batch{}, err
	}
	return c.Counter.ReadBatch(ctx, shard, batch)
}

func (c failingCounter) DropBatch(ctx context.Context, shard int, batch uuid.UUID) error {
	if err := c.fails("DropBatch"); err != nil {
		return err
	}
	return c.Counter.DropBatch(ctx, shard, batch)
}

func (c failingCounter) Lost(ctx context.Context) ([]int, error) {
	if err := c.fails("Lost"); err != nil {
		return nil, err
	}
	return c.Counter.Lost(ctx)
}

func (c failingCounter) Seed(ctx context.Context, totals []counter.Total) error {
	if err := c.fails("Seed"); err != nil {
		return err
	}
	return c.Counter.Seed(ctx, totals)
}

func (c failingCounter) Seeded(ctx context.Context, shard int) error {
	if err := c.fails("Seeded"); err != nil {
		return err
	}
	return c.Counter.Seeded(ctx, shard)
}

func (c failingCounter) StatsOf(ctx context.Context, site counter.Site, pages []string) ([]counter.Stats, error) {
	if err := c.fails("StatsOf"); err != nil {
		return nil, err
	}
	return c.Counter.StatsOf(ctx, site, pages)
}

// A flush in which one engine fails says so, and the next one brings every
// count, once.
func TestFlush_FailuresLoseNothing(t *testing.T) {
	for _, call := range []string{"ApplyViews", "ViewSeeds", "NoteViewLoss", "OpenViewErasures", "TakeBatch", "Batches", "ReadBatch", "DropBatch", "Lost", "Seed", "Seeded"} {
		t.Run(call, func(t *testing.T) {
			r := open(t, enginetest.Redis(t))
			r.readAll(6, 2)
			r.flush()
			if slices.Contains([]string{"ViewSeeds", "NoteViewLoss", "Seed", "Seeded"}, call) {
				r.must(r.redis.FlushAll(t.Context()).Err())
			}
			r.readAll(4, 3)
			k := *r.Keeper
			k.Store, k.Counter = failingStore{r.store, call}, failingCounter{r.counter, call}
			if done, err := k.Flush(t.Context(), func() {}); !errors.Is(err, errAway) || done.Busy {
				t.Fatalf("got %+v, %v, want the error of %s", done, err, call)
			}
			r.agree("after the failure")
			if done := r.flush(); done.Batches != 0 || done.Again != 0 || done.Seeded != 0 {
				t.Errorf("a flush with nothing new: got %+v, want none", done)
			}
		})
	}
}

// A comparison that could not read everything must not report agreement.
func TestCheck_FailuresAreReported(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.readAll(3, 2)
	r.flush()
	for _, call := range []string{"ViewPageNames", "StatsOf", "ViewTotalsOf", "TakeBatch"} {
		k := *r.Keeper
		k.Store, k.Counter = failingStore{r.store, call}, failingCounter{r.counter, call}
		r.readAll(3, 1)
		if c, _, err := k.Check(t.Context(), func() {}); !errors.Is(err, errAway) {
			t.Errorf("%s fails: got %+v, %v, want its error", call, c, err)
		}
	}
	if n := r.number("select count(*) from view_checks"); n != 0 {
		t.Errorf("recorded comparisons: got %d, want 0", n)
	}
}
