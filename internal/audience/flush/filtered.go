package flush

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// FilteredReader reads the filtered hits of a page: those in the database and
// those still in Redis.
type FilteredReader struct {
	Counter interface {
		PendingFiltered(ctx context.Context, page counter.PageID) (counter.PendingFiltered, error)
	}
	Store interface {
		// ViewFilteredCounts atomically reads the counts of a page and which of the
		// batches they include.
		ViewFilteredCounts(ctx context.Context, page counter.PageID, batches []uuid.UUID) (counts map[string]int64,
			applied []uuid.UUID, err error)
	}
}

// Counts reads counts from Redis, filtered hits from the database as well, and
// engagement from the database.
type Counts struct {
	*counter.Counter
	FilteredReader
	EngagementReader
}

// EngagementReader reads the engagement of a page's or a site's views by day.
type EngagementReader interface {
	Engagement(ctx context.Context, page counter.PageID, from, to counter.Day) ([]counter.EngagementDelta, error)
}

// maxFilteredReads is the maximum number of reads when a batch is taken in
// between, which happens about once a minute.
const maxFilteredReads = 5

// FilteredCounts returns the filtered hits by reason. It counts each hit once,
// even while a flush moves it from Redis to the database: hits in Redis are
// known by their batch, and the ledger shows which batches the database
// includes.
func (f FilteredReader) FilteredCounts(ctx context.Context, site uuid.UUID, page string) (map[string]int64, error) {
	id := counter.PageID{Site: site, Page: page}
	pending, err := f.Counter.PendingFiltered(ctx, id)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		counts, applied, err := f.Store.ViewFilteredCounts(ctx, id, pending.BatchIDs())
		if err != nil {
			return nil, err
		}
		after, err := f.Counter.PendingFiltered(ctx, id)
		if err != nil {
			return nil, err
		}
		// If no batch was taken in between, the database has none that is unknown here.
		if after.TakeCount == pending.TakeCount || try == maxFilteredReads {
			pending.AddTo(counts, applied)
			return counts, nil
		}
		pending = after
	}
}
