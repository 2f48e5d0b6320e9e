package activities

import (
	"context"
	"sync"

	"go.temporal.io/sdk/activity"

	"dateline/internal/audience/flush"
)

// Tally keeps the counts of views in step: tally.Keeper.
type Tally interface {
	Flush(ctx context.Context, beat func()) (flush.Flushed, error)
	CheckIfDue(ctx context.Context, beat func()) (c flush.Check, done bool, err error)
	Tend(ctx context.Context, beat func()) (flush.Tended, error)
}

// Views brings the counts of views to the database.
type Views struct {
	Tally Tally
}

// FlushResult says what a flush did.
type FlushResult struct {
	Batches, Again, Erased int
	Pages, Seeded          int64
	Busy                   bool
}

// FlushViews brings to the database what was counted since the last time.
func (v *Views) FlushViews(ctx context.Context) (FlushResult, error) {
	done, err := v.Tally.Flush(ctx, beating(ctx))
	return FlushResult{Batches: done.Batches, Again: done.Again, Erased: done.Erased, Pages: done.Pages, Seeded: done.Seeded, Busy: done.Busy}, err
}

// CheckResult says what comparing Redis with the database found.
type CheckResult struct {
	Done                                  bool // false: the last comparison is younger than an hour
	Compared, Differing, Missing, Surplus int64
}

// CheckViews compares Redis with the database once an hour. The workflow runs it
// behind the flush, because both take batches.
func (v *Views) CheckViews(ctx context.Context) (CheckResult, error) {
	c, done, err := v.Tally.CheckIfDue(ctx, beating(ctx))
	return CheckResult{Done: done, Compared: c.Compared, Differing: c.Differing, Missing: c.Missing, Surplus: c.Surplus}, err
}

// TendResultOfViews says what the housekeeping of counts did.
type TendResultOfViews struct {
	Sketched int64
}

// TendViews rolls counts up, makes partitions ahead and drops what is too old.
func (v *Views) TendViews(ctx context.Context) (TendResultOfViews, error) {
	done, err := v.Tally.Tend(ctx, beating(ctx))
	return TendResultOfViews{Sketched: done.Sketched}, err
}

// beating counts for Temporal how far it is.
func beating(ctx context.Context) func() {
	var mu sync.Mutex
	n := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		n++
		activity.RecordHeartbeat(ctx, n)
	}
}
