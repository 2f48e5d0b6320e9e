package flush

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// ReplayResult says what became of records of the quarantine.
type ReplayResult struct {
	Replayed       int // they are counted with the next flush
	AlreadyCounted int // had been counted with their batch, and were removed
	Pending        int // their batch is not flushed yet; they stay
	Unknown        int // cannot be read by this version either; they stay
	Discarded      int
}

// Quarantine lists the records that could not be read, of all shards.
func (k *Flusher) Quarantine(ctx context.Context) (all []counter.QuarantinedRecord, err error) {
	for shard := range k.Counter.Shards() {
		records, err := k.Counter.Quarantine(ctx, shard)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	return all, nil
}

// ErrNotQuarantined says that there is no record of an id.
var ErrNotQuarantined = errors.New("no record of this id is in the quarantine")

// selectRecords are the records of some ids; without ids, all.
func (k *Flusher) selectRecords(ctx context.Context, ids []uuid.UUID) ([]counter.QuarantinedRecord, error) {
	all, err := k.Quarantine(ctx)
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

// Replay puts records of the quarantine back where they were, as far as this
// version can read them; without ids, all. Nothing is counted twice: a record
// that was left out of a batch is put back only if the ledger says so.
func (k *Flusher) Replay(ctx context.Context, ids []uuid.UUID) (done ReplayResult, err error) {
	records, err := k.selectRecords(ctx, ids)
	if err != nil {
		return done, err
	}
	for _, q := range records {
		if !q.CanReplay() {
			done.Unknown++
			continue
		}
		pending, counted, err := k.batchState(ctx, q)
		switch {
		case err != nil:
			return done, err
		case pending:
			done.Pending++
		case counted:
			if err := k.Counter.Discard(ctx, q); err != nil {
				return done, err
			}
			done.AlreadyCounted++
		default:
			again, err := k.Counter.Replay(ctx, q)
			if err != nil {
				return done, err
			}
			if again {
				done.Replayed++
			}
		}
	}
	return done, nil
}

// batchState says what is known of a record that was left out of a batch: whether the
// batch still has to be flushed, and whether the record was counted with it by a
// process that could read it.
func (k *Flusher) batchState(ctx context.Context, q counter.QuarantinedRecord) (pending, counted bool, err error) {
	if q.Batch == uuid.Nil {
		return false, false, nil
	}
	leftOut, applied, err := k.Store.SkippedViewRecords(ctx, q.Batch)
	if err != nil {
		return false, false, err
	}
	if applied {
		return false, !slices.Contains(leftOut, q.ID), nil
	}
	batches, err := k.Counter.Batches(ctx, q.Shard)
	return slices.Contains(batches, q.Batch), false, err
}

// DiscardQuarantined forgets records of the quarantine; without ids, all.
func (k *Flusher) DiscardQuarantined(ctx context.Context, ids []uuid.UUID) (done ReplayResult, err error) {
	records, err := k.selectRecords(ctx, ids)
	if err != nil {
		return done, err
	}
	for _, q := range records {
		if err := k.Counter.Discard(ctx, q); err != nil {
			return done, err
		}
		done.Discarded++
	}
	return done, nil
}
