// Package flush brings what Redis has counted to Postgres, exactly once, and
// keeps both in step.
//
// A flush moves what a shard has counted since the last one aside, as a batch
// with an id. The batch's counts and its id are written in one transaction, and
// only then is it dropped in Redis. Whoever dies in between leaves a batch that
// the next flush finds: if its id stands in the ledger, it is dropped; if not, it
// is applied. The totals that readers see are never taken away by a flush; when
// Redis has lost them, they are filled in again from Postgres, and what was
// counted since is added.
package flush

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// Counter counts in Redis: views.Counter.
type Counter interface {
	Shards() int
	Shard(site uuid.UUID, page string) int
	TakeBatch(ctx context.Context, shard int, batch uuid.UUID) (bool, error)
	Batches(ctx context.Context, shard int) ([]uuid.UUID, error)
	ReadBatch(ctx context.Context, shard int, batch uuid.UUID) (counter.Batch, error)
	DropBatch(ctx context.Context, shard int, batch uuid.UUID) error
	Sketches(ctx context.Context, pages []counter.PageID) ([][]byte, error)
	LostShards(ctx context.Context) ([]int, error)
	Seed(ctx context.Context, totals []counter.PageTotals) error
	MarkSeeded(ctx context.Context, shard int) error
	ErasePage(ctx context.Context, page counter.PageID) error
	EraseVisitor(ctx context.Context, page counter.PageID, v counter.Visitor) (removed int64, err error)
	PageStats(ctx context.Context, site counter.Site, pages []string) ([]counter.Stats, error)

	Quarantine(ctx context.Context, shard int) ([]counter.QuarantinedRecord, error)
	Replay(ctx context.Context, q counter.QuarantinedRecord) (again bool, err error)
	Discard(ctx context.Context, q counter.QuarantinedRecord) error
	ExpireQuarantine(ctx context.Context, shard int) (expired int, err error)
}

// Store keeps counts in Postgres.
type Store interface {
	// WithFlushLock runs f unless somebody else is at it, on whatever host; then ok is
	// false.
	WithFlushLock(ctx context.Context, f func(ctx context.Context) error) (ok bool, err error)
	// ApplyViewBatch adds a batch, and notes which records were left out of it. applied
	// is false when it was added before.
	ApplyViewBatch(ctx context.Context, shard int, id uuid.UUID, batch counter.Batch) (applied bool, err error)
	// SkippedViewRecords gives the records that were left out of a batch when it was
	// applied. applied is false when it was not.
	SkippedViewRecords(ctx context.Context, id uuid.UUID) (leftOut []uuid.UUID, applied bool, err error)
	ViewPageTotals(ctx context.Context, after counter.PageID, limit int) ([]counter.PageTotals, error)
	RecordViewLoss(ctx context.Context, shard int, pages int64) error

	ViewPageIDs(ctx context.Context, after counter.PageID, limit int) ([]counter.PageID, error)
	ViewTotals(ctx context.Context, pages []counter.PageID) (map[counter.PageID]Totals, error)
	RecordViewCheck(ctx context.Context, c Check) error
	LastViewCheck(ctx context.Context) (c Check, found bool, err error)

	RollUpViews(ctx context.Context) (more bool, err error)
	ViewSketchesDue(ctx context.Context, after counter.PageID, limit int) ([]counter.PageID, error)
	SaveViewSketches(ctx context.Context, pages []counter.PageID, sketches [][]byte) error
	CreateViewPartitions(ctx context.Context, now time.Time) error
	DropExpiredViews(ctx context.Context, now time.Time, r Retention, keep []uuid.UUID) error

	PendingViewErasures(ctx context.Context, limit int) ([]Erasure, error)
	CompleteViewErasure(ctx context.Context, id uuid.UUID, removed int64) error
	ViewSitePages(ctx context.Context, site uuid.UUID, after string, limit int) ([]string, error)
	EraseSiteViews(ctx context.Context, site uuid.UUID) (removed int64, err error)
}

// Retention is how long counts are kept, by how fine they are; 0: for ever.
// Months and totals always are. Nothing of a visitor is among them.
type Retention struct {
	Hours time.Duration
	Days  time.Duration // also dimensions, uniques and what was filtered
}

// Flusher keeps Redis and Postgres in step.
type Flusher struct {
	Counter   Counter
	Store     Store
	Retention Retention
	SyncDelay time.Duration // between taking counts in Redis and writing them to Postgres; see the constant
	Log       *slog.Logger
	Now       func() time.Time // the database's time; nil: this host's
}

func (k *Flusher) now() time.Time {
	if k.Now == nil {
		return time.Now()
	}
	return k.Now()
}

// Totals are the running totals of a page.
type Totals struct{ Views, Clicks, Conversions int64 }

func (t Totals) byKind(k counter.Kind) int64 {
	switch k {
	case counter.View:
		return t.Views
	case counter.Click:
		return t.Clicks
	default:
		return t.Conversions
	}
}

// Health says how the counts are kept.
type Health struct {
	FlushedAt       time.Time // zero: not within the last hour
	Batches, Counts int64     // within it
	Check           *Check    // the last one
	Loss            *Loss     // likewise
}

// Loss is that Redis was found without its counts.
type Loss struct {
	FoundAt       time.Time
	Shards, Pages int64
}
