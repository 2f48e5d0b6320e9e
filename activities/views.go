package activities

import (
	"context"
	"sync"

	"go.temporal.io/sdk/activity"

	"dateline/internal/audience/flush"
)

// ViewsFlusher keeps the view counts in Redis and Postgres consistent:
// flush.Flusher.
type ViewsFlusher interface {
	Flush(ctx context.Context, heartbeat func()) (flush.Result, error)
	CheckIfDue(ctx context.Context, heartbeat func()) (c flush.Check, done bool, err error)
	Maintain(ctx context.Context, heartbeat func()) (flush.MaintenanceResult, error)
}

// Views has the activities of view counting.
type Views struct {
	Flusher ViewsFlusher
}

// FlushResult is the outcome of a flush.
type FlushResult struct {
	Batches, AlreadyApplied, Erased int
	Pages, Seeded                   int64
	Busy                            bool
}

// FlushViews writes new view counts to the database.
func (v *Views) FlushViews(ctx context.Context) (FlushResult, error) {
	done, err := v.Flusher.Flush(ctx, heartbeatFunc(ctx))
	return FlushResult{
		Batches: done.Batches, AlreadyApplied: done.AlreadyApplied, Erased: done.Erased,
		Pages: done.Pages, Seeded: done.Seeded, Busy: done.Busy,
	}, err
}

// CheckResult is the outcome of comparing Redis with the database.
type CheckResult struct {
	Done                                  bool // false: the last comparison is less than an hour old
	Compared, Differing, Missing, Surplus int64
}

// CheckViews compares Redis with the database once an hour. The workflow runs
// it after the flush because both take batches.
func (v *Views) CheckViews(ctx context.Context) (CheckResult, error) {
	c, done, err := v.Flusher.CheckIfDue(ctx, heartbeatFunc(ctx))
	return CheckResult{
		Done: done, Compared: c.Compared, Differing: c.Differing, Missing: c.Missing,
		Surplus: c.Surplus,
	}, err
}

// MaintainViewsResult is the outcome of maintenance.
type MaintainViewsResult struct {
	Sketched int64
}

// MaintainViews rolls counts up, creates partitions in advance and deletes
// expired counts.
func (v *Views) MaintainViews(ctx context.Context) (MaintainViewsResult, error) {
	done, err := v.Flusher.Maintain(ctx, heartbeatFunc(ctx))
	return MaintainViewsResult{Sketched: done.Sketched}, err
}

// heartbeatFunc returns a function that records a heartbeat with a counter.
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
