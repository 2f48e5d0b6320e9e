// Package flush writes the counts in Redis to Postgres, exactly once, and keeps
// both consistent.
//
// A flush moves what a shard has counted since the last one to a batch with an
// id. The batch's counts and its id, which goes into a ledger, are written in one
// transaction. Only then is the batch dropped in Redis. If a process dies in
// between, the next flush finds the batch: if its id is in the ledger, it is
// dropped, otherwise it is applied. A flush never resets the totals that readers
// see. If Redis loses them, they are seeded from Postgres and added to what was
// counted since.
package flush

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// Counter is the counts in Redis: counter.Counter.
type Counter interface {
	BatchSource
	Seeder
	Eraser
	QuarantineStore
	// Sketches reads the all-time HyperLogLogs of pages.
	Sketches(ctx context.Context, pages []counter.PageID) ([][]byte, error)
	// SiteSketches reads the HyperLogLogs of a site's visitors of a day, by shard.
	SiteSketches(ctx context.Context, site uuid.UUID, day counter.Day) ([][]byte, error)
	// PageStats reads the counts of pages, for comparisons.
	PageStats(ctx context.Context, site counter.Site, pages []string) ([]counter.Stats, error)
}

// BatchSource provides the batches of a flush.
type BatchSource interface {
	Shards() int
	TakeBatch(ctx context.Context, shard int, batch uuid.UUID) (bool, error)
	Batches(ctx context.Context, shard int) ([]uuid.UUID, error)
	ReadBatch(ctx context.Context, shard int, batch uuid.UUID) (counter.Batch, error)
	DropBatch(ctx context.Context, shard int, batch uuid.UUID) error
}

// Seeder restores the totals of shards that lost them.
type Seeder interface {
	Shard(site uuid.UUID, page string) int
	LostShards(ctx context.Context) ([]int, error)
	Seed(ctx context.Context, totals []counter.PageTotals) error
	MarkSeeded(ctx context.Context, shard int) error
}

// Eraser deletes counts and visitors.
type Eraser interface {
	ErasePage(ctx context.Context, page counter.PageID) error
	EraseViewsInProgress(ctx context.Context, site uuid.UUID) error
	EraseSiteVisitors(ctx context.Context, site uuid.UUID) error
	EraseVisitor(ctx context.Context, page counter.PageID, v counter.Visitor) (removed int64, err error)
}

// QuarantineStore holds records that could not be read.
type QuarantineStore interface {
	Quarantine(ctx context.Context, shard int) ([]counter.QuarantinedRecord, error)
	Replay(ctx context.Context, q counter.QuarantinedRecord) (replayed bool, err error)
	Discard(ctx context.Context, q counter.QuarantinedRecord) error
	ExpireQuarantine(ctx context.Context, shard int) (expired int, err error)
}

// Store is the counts in Postgres.
type Store interface {
	Ledger
	CheckStore
	MaintenanceStore
	ErasureStore
	// ViewPageTotals reads a page of pages with their totals, for seeding.
	ViewPageTotals(ctx context.Context, after counter.PageID, limit int) ([]counter.PageTotals, error)
	// SiteSketchesDue lists days of sites with new visitors since SaveSiteSketch.
	SiteSketchesDue(ctx context.Context, limit int) ([]SiteSketch, error)
	SaveSiteSketch(ctx context.Context, d SiteSketch) error
	// RecordViewLoss records that a shard was seeded after a loss.
	RecordViewLoss(ctx context.Context, shard int, pages int64) error
}

// Ledger applies batches exactly once.
type Ledger interface {
	// WithFlushLock runs f unless another process on any host holds the lock; then
	// ok is false.
	WithFlushLock(ctx context.Context, f func(ctx context.Context) error) (ok bool, err error)
	// ApplyViewBatch adds a batch and records its skipped records. applied is false
	// if it was added before.
	ApplyViewBatch(ctx context.Context, shard int, id uuid.UUID, batch counter.Batch) (applied bool, err error)
	// SkippedViewRecords returns the records that a batch skipped. applied is false
	// if the batch is not in the ledger.
	SkippedViewRecords(ctx context.Context, id uuid.UUID) (skipped []uuid.UUID, applied bool, err error)
}

// CheckStore provides the totals for comparisons and stores their results.
type CheckStore interface {
	ViewPageIDs(ctx context.Context, after counter.PageID, limit int) ([]counter.PageID, error)
	ViewTotals(ctx context.Context, pages []counter.PageID) (map[counter.PageID]Totals, error)
	RecordViewCheck(ctx context.Context, c Check) error
	LastViewCheck(ctx context.Context) (c Check, found bool, err error)
}

// MaintenanceStore rolls up, partitions and expires the counts.
type MaintenanceStore interface {
	RollUpViews(ctx context.Context) (more bool, err error)
	ViewSketchesDue(ctx context.Context, after counter.PageID, limit int) ([]counter.PageID, error)
	SaveViewSketches(ctx context.Context, pages []counter.PageID, sketches [][]byte) error
	CreateViewPartitions(ctx context.Context, now time.Time) error
	// DropExpiredViews deletes what is past retention, except ledger rows of the
	// pending batches.
	DropExpiredViews(ctx context.Context, now time.Time, r Retention, pending []uuid.UUID) error
}

// ErasureStore lists erasures and carries them out in Postgres.
type ErasureStore interface {
	PendingViewErasures(ctx context.Context, limit int) ([]Erasure, error)
	CompleteViewErasure(ctx context.Context, id uuid.UUID, removed int64) error
	ViewSitePages(ctx context.Context, site uuid.UUID, after string, limit int) ([]string, error)
	EraseSiteViews(ctx context.Context, site uuid.UUID) (removed int64, err error)
}

// Articles finds the articles of pages and counts their views:
// newsroom.Indexer.
type Articles interface {
	Run(ctx context.Context, heartbeat func()) error
}

// SiteSketch holds the visitors of a site's day: a HyperLogLog and its estimate.
type SiteSketch struct {
	Site     uuid.UUID
	Day      counter.Day
	Sketch   []byte
	Visitors int64
}

// Retention is how long counts are retained by granularity; 0: forever. Months
// and totals are retained forever; they contain no personal data.
type Retention struct {
	Hours time.Duration
	Days  time.Duration // also uniques and filtered hits, and dimensions up to PageDimensions
}

// PageDimensions is how long dimensions of pages are retained at most. They take
// most of the space; those of sites are retained forever.
const PageDimensions = 90 * 24 * time.Hour

// Flusher keeps Redis and Postgres consistent: it flushes, compares, erases and
// maintains the counts.
type Flusher struct {
	Counter   Counter
	Store     Store
	Articles  Articles // optional
	Retention Retention
	SyncDelay time.Duration // between taking a batch in Redis and writing it to Postgres; see AOFSyncDelay
	Log       *slog.Logger
	Now       func() time.Time // the database's clock; nil: this host's
}

func (f *Flusher) now() time.Time {
	if f.Now == nil {
		return time.Now()
	}
	return f.Now()
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

// Health describes the state of flushing.
type Health struct {
	FlushedAt       time.Time // zero: not within the last hour
	Batches, Counts int64     // within the last hour
	Check           *Check    // the last comparison
	Loss            *Loss     // the last loss
}

// Loss reports that Redis lost its counts.
type Loss struct {
	FoundAt       time.Time
	Shards, Pages int64
}
