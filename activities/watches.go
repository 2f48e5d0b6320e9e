package activities

import "context"

// WatchChecker checks watched pages that are due: watch.Checker.
type WatchChecker interface {
	CheckDue(ctx context.Context, heartbeat func()) (checked, changed int, err error)
}

// Watches contains the activity that checks watched pages.
type Watches struct {
	Checker WatchChecker
}

// WatchResult counts what CheckWatches did.
type WatchResult struct{ Checked, Changed int }

// CheckWatches checks watched pages that are due. Each is claimed, and a check is recorded
// only with its claim, so it may be repeated at any time.
func (w *Watches) CheckWatches(ctx context.Context) (r WatchResult, err error) {
	r.Checked, r.Changed, err = w.Checker.CheckDue(ctx, heartbeatFunc(ctx))
	return r, err
}
