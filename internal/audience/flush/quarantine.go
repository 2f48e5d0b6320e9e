package flush

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// ReplayResult counts what happened to quarantined records.
type ReplayResult struct {
	Replayed       int // counted with the next flush
	AlreadyCounted int // had been counted with their batch; removed
	Pending        int // their batch is not flushed yet; retained
	Unknown        int // unreadable by this version; retained
	Discarded      int
}

// Quarantine lists the quarantined records of all shards.
func (f *Flusher) Quarantine(ctx context.Context) (all []counter.QuarantinedRecord, err error) {
	for shard := range f.Counter.Shards() {
		records, err := f.Counter.Quarantine(ctx, shard)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	return all, nil
}

// ErrNotQuarantined reports that no record has an id.
var ErrNotQuarantined = errors.New("the quarantine has no record with this id")

// selectRecords returns the records with the given ids; all without ids.
func (f *Flusher) selectRecords(ctx context.Context, ids []uuid.UUID) ([]counter.QuarantinedRecord, error) {
	all, err := f.Quarantine(ctx)
	if err != nil || len(ids) == 0 {
		return all, err
	}
	var out []counter.QuarantinedRecord
	for _, id := range ids {
		at := slices.IndexFunc(all, func(q counter.QuarantinedRecord) bool { return q.ID == id })
		if at < 0 {
			return nil, fmt.Errorf("%s: %w", id, ErrNotQuarantined)
		}
		out = append(out, all[at])
	}
	return out, nil
}

// Replay moves the records that this version can read back to their lists; all
// without ids. Nothing is counted twice: a record that a batch skipped is only
// replayed if the ledger confirms it.
func (f *Flusher) Replay(ctx context.Context, ids []uuid.UUID) (done ReplayResult, err error) {
	records, err := f.selectRecords(ctx, ids)
	if err != nil {
		return done, err
	}
	for _, q := range records {
		if !q.CanReplay() {
			done.Unknown++
			continue
		}
		pending, counted, err := f.batchState(ctx, q)
		switch {
		case err != nil:
			return done, err
		case pending:
			done.Pending++
		case counted:
			if err := f.Counter.Discard(ctx, q); err != nil {
				return done, err
			}
			done.AlreadyCounted++
		default:
			replayed, err := f.Counter.Replay(ctx, q)
			if err != nil {
				return done, err
			}
			if replayed {
				done.Replayed++
			}
		}
	}
	return done, nil
}

// batchState returns, for a record that a batch skipped, whether the batch is
// still pending, and whether the record was counted with it by a process that
// could read it.
func (f *Flusher) batchState(ctx context.Context, q counter.QuarantinedRecord) (pending, counted bool, err error) {
	if q.Batch == uuid.Nil {
		return false, false, nil
	}
	leftOut, applied, err := f.Store.SkippedViewRecords(ctx, q.Batch)
	if err != nil {
		return false, false, err
	}
	if applied {
		return false, !slices.Contains(leftOut, q.ID), nil
	}
	batches, err := f.Counter.Batches(ctx, q.Shard)
	return slices.Contains(batches, q.Batch), false, err
}

// DiscardQuarantined deletes quarantined records; all without ids.
func (f *Flusher) DiscardQuarantined(ctx context.Context, ids []uuid.UUID) (done ReplayResult, err error) {
	records, err := f.selectRecords(ctx, ids)
	if err != nil {
		return done, err
	}
	for _, q := range records {
		if err := f.Counter.Discard(ctx, q); err != nil {
			return done, err
		}
		done.Discarded++
	}
	return done, nil
}
