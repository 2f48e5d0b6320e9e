package flush

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// Erasure is a request to erase a site's counts or one visitor.
type Erasure struct {
	ID            uuid.UUID
	Workspace     uuid.UUID
	Site          uuid.UUID
	SingleVisitor bool
	Visitor       counter.Visitor // cleared once it is done
	RequestedBy   uuid.UUID
	RequestedAt   time.Time
	DoneAt        *time.Time
	Removed       int64
}

// MaintenanceResult is the outcome of a maintenance run.
type MaintenanceResult struct {
	Sketched int64 // pages whose HyperLogLog was saved
	Expired  int   // expired quarantine records
}

const sketchBatchSize = 200

// Maintain rolls hours up to days and days to months, counts the views of
// articles, saves HyperLogLogs,
// creates partitions in advance and deletes what is past retention.
func (f *Flusher) Maintain(ctx context.Context, heartbeat func()) (done MaintenanceResult, err error) {
	if err := f.Store.CreateViewPartitions(ctx, f.now()); err != nil {
		return done, err
	}
	for more := true; more; {
		heartbeat()
		if more, err = f.Store.RollUpViews(ctx); err != nil {
			return done, err
		}
	}
	if f.Articles != nil {
		if err := f.Articles.Run(ctx, heartbeat); err != nil {
			return done, fmt.Errorf("count the views of articles: %w", err)
		}
	}
	if err := f.saveSketches(ctx, heartbeat, &done); err != nil {
		return done, err
	}
	// Ledger rows must outlive their batches in Redis ...
	var pending []uuid.UUID
	for shard := range f.Counter.Shards() {
		batches, err := f.Counter.Batches(ctx, shard)
		if err != nil {
			return done, err
		}
		pending = append(pending, batches...)
		// ... and the quarantined records that they skipped.
		expired, err := f.Counter.ExpireQuarantine(ctx, shard)
		if err != nil {
			return done, err
		}
		done.Expired += expired
		records, err := f.Counter.Quarantine(ctx, shard)
		if err != nil {
			return done, err
		}
		for _, q := range records {
			if q.Batch != uuid.Nil {
				pending = append(pending, q.Batch)
			}
		}
	}
	if done.Expired > 0 {
		f.Log.WarnContext(ctx, "discarded expired quarantine records", "records", done.Expired)
	}
	return done, f.Store.DropExpiredViews(ctx, f.now(), f.Retention, pending)
}

// saveSketches saves the HyperLogLogs of pages with new visitors, so that a
// loss of Redis loses at most an hour of unique visitors.
func (f *Flusher) saveSketches(ctx context.Context, heartbeat func(), done *MaintenanceResult) error {
	for after := (counter.PageID{}); ; {
		pages, err := f.Store.ViewSketchesDue(ctx, after, sketchBatchSize)
		if err != nil || len(pages) == 0 {
			return err
		}
		heartbeat()
		sketches, err := f.Counter.Sketches(ctx, pages)
		if err != nil {
			return err
		}
		if err := f.Store.SaveViewSketches(ctx, pages, sketches); err != nil {
			return err
		}
		done.Sketched += int64(len(pages))
		after = pages[len(pages)-1]
	}
}

// mergeSketches adds the visitors in Redis to the stored ones of each site and day
// that changed. A union may be repeated, so a killed flush does no harm.
func (f *Flusher) mergeSketches(ctx context.Context, heartbeat func()) error {
	for {
		due, err := f.Store.SiteSketchesDue(ctx, sketchBatchSize)
		if err != nil {
			return err
		}
		for _, d := range due {
			heartbeat()
			sketches, err := f.Counter.SiteSketches(ctx, d.Site, d.Day)
			if err != nil {
				return err
			}
			var all counter.Sketch
			for _, raw := range append(sketches, d.Sketch) {
				if err := all.Merge(raw); err != nil { // must not stop the others
					f.Log.WarnContext(ctx, "skipped unreadable visitors of a site", "site_id", d.Site, "day",
						d.Day.Time().Format(time.DateOnly), "error", err)
				}
			}
			d.Sketch, d.Visitors = all.Bytes(), all.Count()
			if err := f.Store.SaveSiteSketch(ctx, d); err != nil {
				return err
			}
		}
		if len(due) < sketchBatchSize {
			return nil
		}
	}
}

const (
	maxErasures    = 100
	erasePageBatch = 500
)

// erase carries out pending erasures. It runs right after a flush and under its
// lock, so no earlier batch can restore what it deletes.
func (f *Flusher) erase(ctx context.Context, heartbeat func(), done *Result) error {
	open, err := f.Store.PendingViewErasures(ctx, maxErasures)
	if err != nil {
		return err
	}
	for _, e := range open {
		removed, err := f.erasePages(ctx, e, heartbeat)
		if err != nil {
			return err
		}
		if err := f.Store.CompleteViewErasure(ctx, e.ID, removed); err != nil {
			return err
		}
		done.Erased++
		f.Log.InfoContext(ctx, "erased view counts", "erasure_id", e.ID, "site_id", e.Site, "single_visitor",
			e.SingleVisitor, "removed", removed)
	}
	return nil
}

func (f *Flusher) erasePages(ctx context.Context, e Erasure, heartbeat func()) (removed int64, err error) {
	if !e.SingleVisitor {
		if err := f.Counter.EraseViewsInProgress(ctx, e.Site); err != nil {
			return 0, err
		}
	}
	for after := ""; ; {
		pages, err := f.Store.ViewSitePages(ctx, e.Site, after, erasePageBatch)
		if err != nil {
			return removed, err
		}
		for _, page := range pages {
			id := counter.PageID{Site: e.Site, Page: page}
			if e.SingleVisitor {
				n, err := f.Counter.EraseVisitor(ctx, id, e.Visitor)
				if err != nil {
					return removed, err
				}
				removed += n
			} else if err := f.Counter.ErasePage(ctx, id); err != nil {
				return removed, err
			}
		}
		heartbeat()
		if len(pages) < erasePageBatch {
			break
		}
		after = pages[len(pages)-1]
	}
	if e.SingleVisitor {
		return removed, nil // Postgres stores no visitors
	}
	if err := f.Counter.EraseSiteVisitors(ctx, e.Site); err != nil {
		return removed, err
	}
	return f.Store.EraseSiteViews(ctx, e.Site)
}
