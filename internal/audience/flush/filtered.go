package flush

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// FilteredReader reads how many hits on a page were filtered: what is in the database,
// and what is on its way there.
type FilteredReader struct {
	Counter interface {
		PendingFiltered(ctx context.Context, page counter.PageID) (counter.PendingFiltered, error)
	}
	Store interface {
		// ViewFilteredCounts gives the counts of a page and which of some batches are
		// among them, both at one moment.
		ViewFilteredCounts(ctx context.Context, page counter.PageID, batches []uuid.UUID) (counts map[string]int64, applied []uuid.UUID, err error)
	}
}

// Counts reads what was counted: from Redis, and what was filtered from the
// database as well.
type Counts struct {
	*counter.Counter
	FilteredReader
}

// maxFilteredReads is how often the counts are read again because a batch was taken
// meanwhile: one is every minute.
const maxFilteredReads = 5

// FilteredCounts gives the counts by reason. Each hit is in it once, also while a
// flush brings it from Redis to the database: what is counted in Redis alone is
// known by its batch, and the ledger says which batches the database has.
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
		// What was not taken before the database was read cannot be in it.
		if after.TakeCount == pending.TakeCount || try == maxFilteredReads {
			pending.AddTo(counts, applied)
			return counts, nil
		}
		pending = after
	}
}
