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

var errAway = errors.New("the engine is down")

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

func (s failingStore) ApplyViewBatch(ctx context.Context, shard int, id uuid.UUID, batch counter.Batch) (bool, error) {
	if err := s.fails("ApplyViews"); err != nil {
		return false, err
	}
	return s.Store.ApplyViewBatch(ctx, shard, id, batch)
}

func (s failingStore) ViewPageTotals(
	ctx context.Context, after counter.PageID, limit int,
) ([]counter.PageTotals, error) {
	if err := s.fails("ViewSeeds"); err != nil {
		return nil, err
	}
	return s.Store.ViewPageTotals(ctx, after, limit)
}

func (s failingStore) PendingViewErasures(ctx context.Context, limit int) ([]flush.Erasure, error) {
	if err := s.fails("OpenViewErasures"); err != nil {
		return nil, err
	}
	return s.Store.PendingViewErasures(ctx, limit)
}

func (s failingStore) RecordViewLoss(ctx context.Context, shard int, pages int64) error {
	if err := s.fails("NoteViewLoss"); err != nil {
		return err
	}
	return s.Store.RecordViewLoss(ctx, shard, pages)
}

func (s failingStore) ViewTotals(ctx context.Context, pages []counter.PageID) (map[counter.PageID]flush.Totals, error) {
	if err := s.fails("ViewTotalsOf"); err != nil {
		return nil, err
	}
	return s.Store.ViewTotals(ctx, pages)
}

func (s failingStore) ViewPageIDs(ctx context.Context, after counter.PageID, limit int) ([]counter.PageID, error) {
	if err := s.fails("ViewPageNames"); err != nil {
		return nil, err
	}
	return s.Store.ViewPageIDs(ctx, after, limit)
}

func (s failingStore) SkippedViewRecords(ctx context.Context, id uuid.UUID) ([]uuid.UUID, bool, error) {
	if err := s.fails("ViewBatchLeftOut"); err != nil {
		return nil, false, err
	}
	return s.Store.SkippedViewRecords(ctx, id)
}

// failingCounter fails one kind of call.
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

func (c failingCounter) LostShards(ctx context.Context) ([]int, error) {
	if err := c.fails("Lost"); err != nil {
		return nil, err
	}
	return c.Counter.LostShards(ctx)
}

func (c failingCounter) Seed(ctx context.Context, totals []counter.PageTotals) error {
	if err := c.fails("Seed"); err != nil {
		return err
	}
	return c.Counter.Seed(ctx, totals)
}

func (c failingCounter) MarkSeeded(ctx context.Context, shard int) error {
	if err := c.fails("Seeded"); err != nil {
		return err
	}
	return c.Counter.MarkSeeded(ctx, shard)
}

func (c failingCounter) PageStats(ctx context.Context, site counter.Site, pages []string) ([]counter.Stats, error) {
	if err := c.fails("StatsOf"); err != nil {
		return nil, err
	}
	return c.Counter.PageStats(ctx, site, pages)
}

// A flush in which one engine fails returns its error, and the next one writes every
// count once.
func TestFlush_FailuresLoseNothing(t *testing.T) {
	for _, call := range []string{
		"ApplyViews", "ViewSeeds", "NoteViewLoss", "OpenViewErasures", "TakeBatch", "Batches",
		"ReadBatch", "DropBatch", "Lost", "Seed", "Seeded",
	} {
		t.Run(call, func(t *testing.T) {
			r := open(t, enginetest.Redis(t))
			r.viewPages(6, 2)
			r.flush()
			if slices.Contains([]string{"ViewSeeds", "NoteViewLoss", "Seed", "Seeded"}, call) {
				r.must(r.redis.FlushAll(t.Context()).Err())
			}
			r.viewPages(4, 3)
			f := *r.Flusher
			f.Store, f.Counter = failingStore{r.store.Audience.Views, call}, failingCounter{r.counter, call}
			if done, err := f.Flush(t.Context(), func() {}); !errors.Is(err, errAway) || done.Busy {
				t.Fatalf("got %+v, %v, want the error of %s", done, err, call)
			}
			r.expectConsistent("after the failure")
			if done := r.flush(); done.Batches != 0 || done.AlreadyApplied != 0 || done.Seeded != 0 {
				t.Errorf("a flush with nothing new: got %+v, want none", done)
			}
		})
	}
}

// A comparison that could not read everything must not report agreement.
func TestCheck_FailuresAreReported(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.viewPages(3, 2)
	r.flush()
	for _, call := range []string{"ViewPageNames", "StatsOf", "ViewTotalsOf", "TakeBatch"} {
		f := *r.Flusher
		f.Store, f.Counter = failingStore{r.store.Audience.Views, call}, failingCounter{r.counter, call}
		r.viewPages(3, 1)
		if c, _, err := f.Check(t.Context(), func() {}); !errors.Is(err, errAway) {
			t.Errorf("%s fails: got %+v, %v, want its error", call, c, err)
		}
	}
	if n := r.number("select count(*) from view_checks"); n != 0 {
		t.Errorf("recorded comparisons: got %d, want 0", n)
	}
}
