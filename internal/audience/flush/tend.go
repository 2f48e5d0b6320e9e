package flush

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// Erasure is a request to forget a site's counts, or one visitor.
type Erasure struct {
	ID          uuid.UUID
	Workspace   uuid.UUID
	Site        uuid.UUID
	OfVisitor   bool
	Visitor     counter.Visitor // until it is done
	RequestedBy uuid.UUID
	RequestedAt time.Time
	DoneAt      *time.Time
	Removed     int64
}

// MaintenanceResult says what a round of housekeeping did.
type MaintenanceResult struct {
	Sketched int64 // pages whose HyperLogLog was kept
	Expired  int   // records of the quarantine that were too old
}

const sketchBatchSize = 200

// Maintain rolls hours up to days and days to months, keeps the HyperLogLogs, makes
// partitions ahead and drops what is older than it may be.
func (k *Flusher) Maintain(ctx context.Context, beat func()) (done MaintenanceResult, err error) {
	if err := k.Store.CreateViewPartitions(ctx, k.now()); err != nil {
		return done, err
	}
	for more := true; more; {
		beat()
		if more, err = k.Store.RollUpViews(ctx); err != nil {
			return done, err
		}
	}
	if err := k.saveSketches(ctx, beat, &done); err != nil {
		return done, err
	}
	// The ledger remembers every batch that Redis still has.
	var keep []uuid.UUID
	for shard := range k.Counter.Shards() {
		batches, err := k.Counter.Batches(ctx, shard)
		if err != nil {
			return done, err
		}
		keep = append(keep, batches...)
		// And every batch that something was left out of.
		expired, err := k.Counter.ExpireQuarantine(ctx, shard)
		if err != nil {
			return done, err
		}
		done.Expired += expired
		records, err := k.Counter.Quarantine(ctx, shard)
		if err != nil {
			return done, err
		}
		for _, q := range records {
			if q.Batch != uuid.Nil {
				keep = append(keep, q.Batch)
			}
		}
	}
	if done.Expired > 0 {
		k.Log.WarnContext(ctx, "records of readers' counts that could not be read were discarded: they were too old", "records", done.Expired)
	}
	return done, k.Store.DropExpiredViews(ctx, k.now(), k.Retention, keep)
}

// saveSketches keeps the HyperLogLogs of pages that had visitors, so that a loss of
// Redis costs the uniques of an hour at most.
func (k *Flusher) saveSketches(ctx context.Context, beat func(), done *MaintenanceResult) error {
	for after := (counter.PageID{}); ; {
		pages, err := k.Store.ViewSketchesDue(ctx, after, sketchBatchSize)
		if err != nil || len(pages) == 0 {
			return err
		}
		beat()
		sketches, err := k.Counter.Sketches(ctx, pages)
		if err != nil {
			return err
		}
		if err := k.Store.SaveViewSketches(ctx, pages, sketches); err != nil {
			return err
		}
		done.Sketched += int64(len(pages))
		after = pages[len(pages)-1]
	}
}

const (
	maxErasures    = 100
	erasePageBatch = 500
)

// erase carries out what is to be forgotten. It runs right after a flush, and
// nobody else flushes meanwhile, so no batch of before can bring it back.
func (k *Flusher) erase(ctx context.Context, beat func(), done *Result) error {
	open, err := k.Store.PendingViewErasures(ctx, maxErasures)
	if err != nil {
		return err
	}
	for _, e := range open {
		removed, err := k.erasePages(ctx, e, beat)
		if err != nil {
			return err
		}
		if err := k.Store.CompleteViewErasure(ctx, e.ID, removed); err != nil {
			return err
		}
		done.Erased++
		k.Log.InfoContext(ctx, "counts were forgotten", "erasure_id", e.ID, "site_id", e.Site, "of_visitor", e.OfVisitor, "removed", removed)
	}
	return nil
}

func (k *Flusher) erasePages(ctx context.Context, e Erasure, beat func()) (removed int64, err error) {
	for after := ""; ; {
		pages, err := k.Store.ViewSitePages(ctx, e.Site, after, erasePageBatch)
		if err != nil {
			return removed, err
		}
		for _, page := range pages {
			id := counter.PageID{Site: e.Site, Page: page}
			if e.OfVisitor {
				n, err := k.Counter.EraseVisitor(ctx, id, e.Visitor)
				if err != nil {
					return removed, err
				}
				removed += n
			} else if err := k.Counter.ErasePage(ctx, id); err != nil {
				return removed, err
			}
		}
		beat()
		if len(pages) < erasePageBatch {
			break
		}
		after = pages[len(pages)-1]
	}
	if e.OfVisitor {
		return removed, nil // nothing in Postgres is of a visitor
	}
	return k.Store.EraseSiteViews(ctx, e.Site)
}
