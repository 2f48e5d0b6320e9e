package activities

import (
	"context"
	"sync"

	"go.temporal.io/sdk/activity"

	"dateline/internal/audience/flush"
)

// ViewsFlusher keeps the counts of views in step: tally.Keeper.
type ViewsFlusher interface {
	Flush(ctx context.Context, beat func()) (flush.Result, error)
	CheckIfDue(ctx context.Context, beat func()) (c flush.Check, done bool, err error)
	Maintain(ctx context.Context, beat func()) (flush.MaintenanceResult, error)
}

// Views brings the counts of views to the database.
type Views struct {
	Flusher ViewsFlusher
}

// FlushResult says what a flush did.
type FlushResult struct {
	Batches, AlreadyApplied, Erased int
	Pages, Seeded                   int64
	Busy                            bool
}

// FlushViews brings to the database what was counted since the last time.
func (v *Views) FlushViews(ctx context.Context) (FlushResult, error) {
	done, err := v.Flusher.Flush(ctx, heartbeatFunc(ctx))
	return FlushResult{Batches: done.Batches, AlreadyApplied: done.AlreadyApplied, Erased: done.Erased, Pages: done.Pages, Seeded: done.Seeded, Busy: done.Busy}, err
}

// CheckResult says what comparing Redis with the database found.
type CheckResult struct {
	Done                                  bool // false: the last comparison is younger than an hour
	Compared, Differing, Missing, Surplus int64
}

// CheckViews compares Redis with the database once an hour. The workflow runs it
// behind the flush, because both take batches.
func (v *Views) CheckViews(ctx context.Context) (CheckResult, error) {
	c, done, err := v.Flusher.CheckIfDue(ctx, heartbeatFunc(ctx))
	return CheckResult{Done: done, Compared: c.Compared, Differing: c.Differing, Missing: c.Missing, Surplus: c.Surplus}, err
}

// MaintainViewsResult says what the housekeeping of counts did.
type MaintainViewsResult struct {
	Sketched int64
}

// MaintainViews rolls counts up, makes partitions ahead and drops what is too old.
func (v *Views) MaintainViews(ctx context.Context) (MaintainViewsResult, error) {
	done, err := v.Flusher.Maintain(ctx, heartbeatFunc(ctx))
	return MaintainViewsResult{Sketched: done.Sketched}, err
}

// heartbeatFunc counts for Temporal how far it is.
func heartbeatFunc(ctx context.Context) func() {
	var mu sync.Mutex
	n := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		n++
		activity.RecordHeartbeat(ctx, n)
	}
}
