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
	Lost(ctx context.Context) ([]int, error)
	Seed(ctx context.Context, totals []counter.Total) error
	Seeded(ctx context.Context, shard int) error
	Forget(ctx context.Context, page counter.PageID) error
	ForgetVisitor(ctx context.Context, page counter.PageID, v counter.Visitor) (removed int64, err error)
	StatsOf(ctx context.Context, site counter.Site, pages []string) ([]counter.Stats, error)

	Quarantine(ctx context.Context, shard int) ([]counter.Quarantined, error)
	Replay(ctx context.Context, q counter.Quarantined) (again bool, err error)
	Discard(ctx context.Context, q counter.Quarantined) error
	ExpireQuarantine(ctx context.Context, shard int) (expired int, err error)
}

// Store keeps counts in Postgres.
type Store interface {
	// Flushing runs f unless somebody else is at it, on whatever host; then ok is
	// false.
	Flushing(ctx context.Context, f func(ctx context.Context) error) (ok bool, err error)
	// ApplyViews adds a batch, and notes which records were left out of it. applied
	// is false when it was added before.
	ApplyViews(ctx context.Context, shard int, id uuid.UUID, batch counter.Batch) (applied bool, err error)
	// ViewBatchLeftOut gives the records that were left out of a batch when it was
	// applied. applied is false when it was not.
	ViewBatchLeftOut(ctx context.Context, id uuid.UUID) (leftOut []uuid.UUID, applied bool, err error)
	ViewSeeds(ctx context.Context, after counter.PageID, limit int) ([]counter.Total, error)
	NoteViewLoss(ctx context.Context, shard int, pages int64) error

	ViewPageNames(ctx context.Context, after counter.PageID, limit int) ([]counter.PageID, error)
	ViewTotalsOf(ctx context.Context, pages []counter.PageID) (map[counter.PageID]Totals, error)
	NoteViewCheck(ctx context.Context, c Check) error
	LastViewCheck(ctx context.Context) (c Check, found bool, err error)

	RollUpViews(ctx context.Context) (more bool, err error)
	SketchesDue(ctx context.Context, after counter.PageID, limit int) ([]counter.PageID, error)
	PutSketches(ctx context.Context, pages []counter.PageID, sketches [][]byte) error
	ViewPartitionsAhead(ctx context.Context, now time.Time) error
	DropOldViews(ctx context.Context, now time.Time, r Retention, keep []uuid.UUID) error

	OpenViewErasures(ctx context.Context, limit int) ([]Erasure, error)
	FinishViewErasure(ctx context.Context, id uuid.UUID, removed int64) error
	ViewPagesOfSite(ctx context.Context, site uuid.UUID, after string, limit int) ([]string, error)
	EraseViewsOfSite(ctx context.Context, site uuid.UUID) (removed int64, err error)
}

// Retention is how long counts are kept, by how fine they are; 0: for ever.
// Months and totals always are. Nothing of a visitor is among them.
type Retention struct {
	Hours time.Duration
	Days  time.Duration // also dimensions, uniques and what was filtered
}

// Keeper keeps Redis and Postgres in step.
type Keeper struct {
	Counter   Counter
	Store     Store
	Retention Retention
	Settle    time.Duration // between taking counts in Redis and writing them to Postgres; see the constant
	Log       *slog.Logger
	Now       func() time.Time // the database's time; nil: this host's
}

func (k *Keeper) now() time.Time {
	if k.Now == nil {
		return time.Now()
	}
	return k.Now()
}

// Totals are the running totals of a page.
type Totals struct{ Views, Clicks, Converts int64 }

func (t Totals) of(k counter.Kind) int64 {
	switch k {
	case counter.View:
		return t.Views
	case counter.Click:
		return t.Clicks
	default:
		return t.Converts
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
