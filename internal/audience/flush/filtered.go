package flush

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// Filtered reads how many hits on a page were filtered: what is in the database,
// and what is on its way there.
type Filtered struct {
	Counter interface {
		PendingFiltered(ctx context.Context, page counter.PageID) (counter.PendingFiltered, error)
	}
	Store interface {
		// ViewFilteredOf gives the counts of a page and which of some batches are
		// among them, both at one moment.
		ViewFilteredOf(ctx context.Context, page counter.PageID, batches []uuid.UUID) (counts map[string]int64, applied []uuid.UUID, err error)
	}
}

// Counts reads what was counted: from Redis, and what was filtered from the
// database as well.
type Counts struct {
	*counter.Counter
	Filtered
}

// filteredTries is how often the counts are read again because a batch was taken
// meanwhile: one is every minute.
const filteredTries = 5

// FilteredOf gives the counts by reason. Each hit is in it once, also while a
// flush brings it from Redis to the database: what is counted in Redis alone is
// known by its batch, and the ledger says which batches the database has.
func (f Filtered) FilteredOf(ctx context.Context, site uuid.UUID, page string) (map[string]int64, error) {
	id := counter.PageID{Site: site, Page: page}
	pending, err := f.Counter.PendingFiltered(ctx, id)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		counts, applied, err := f.Store.ViewFilteredOf(ctx, id, pending.IDs())
		if err != nil {
			return nil, err
		}
		after, err := f.Counter.PendingFiltered(ctx, id)
		if err != nil {
			return nil, err
		}
		// What was not taken before the database was read cannot be in it.
		if after.Takes == pending.Takes || try == filteredTries {
			pending.AddTo(counts, applied)
			return counts, nil
		}
		pending = after
	}
}
