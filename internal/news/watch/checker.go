package watch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl/fetch"
)

// CheckStore claims due watches and records checks.
type CheckStore interface {
	// ClaimWatches claims due watches until a time. Each is claimed once.
	ClaimWatches(ctx context.Context, claim uuid.UUID, limit int, lease time.Duration) ([]Watch, error)
	// RecordCheck stores a check, its change and the event in one transaction, unless the
	// claim has expired.
	RecordCheck(ctx context.Context, claim uuid.UUID, c Check) error
}

// Check is the result of a check.
type Check struct {
	Watch   Watch         // with its new text
	DueIn   time.Duration // until the next check
	Change  *Change       // nil: none
	Skipped bool          // nothing was fetched: the server was busy
}

// Fetcher fetches a page under the rules of the crawler: crawler.Crawler.
type Fetcher interface {
	FetchPage(ctx context.Context, url, etag, lastModified string) (*fetch.Result, error)
}

// Checker checks watches that are due.
type Checker struct {
	Store   CheckStore
	Fetcher Fetcher
	Log     *slog.Logger
}

const (
	checkBatch  = 20
	checkLease  = 10 * time.Minute // longer than a check takes
	maxParallel = 8
	maxBackoff  = 24 * time.Hour
	maxBatches  = 50
)

// CheckDue checks the watches that are due, and returns their number and that of the
// changes. A failed check is tried again later, after growing pauses.
func (c *Checker) CheckDue(ctx context.Context, heartbeat func()) (checked, changed int, err error) {
	for range maxBatches {
		claim := uuid.New()
		due, err := c.Store.ClaimWatches(ctx, claim, checkBatch, checkLease)
		if err != nil || len(due) == 0 {
			return checked, changed, err
		}
		var mu sync.Mutex
		var all sync.WaitGroup
		var failures []error
		slots := make(chan struct{}, maxParallel)
		for _, w := range due {
			slots <- struct{}{}
			heartbeat()
			all.Go(func() {
				defer func() { <-slots }()
				did, err := c.check(ctx, claim, w)
				mu.Lock()
				defer mu.Unlock()
				checked++
				if did {
					changed++
				}
				if err != nil {
					failures = append(failures, err)
				}
			})
		}
		all.Wait()
		if len(failures) > 0 {
			return checked, changed, errors.Join(failures...)
		}
	}
	return checked, changed, nil
}

func (c *Checker) check(ctx context.Context, claim uuid.UUID, w Watch) (changed bool, err error) {
	res, err := c.Fetcher.FetchPage(ctx, w.URL, w.ETag, w.LastModified)
	if err != nil {
		return false, err
	}
	check := c.compare(w, res)
	if check.Change != nil {
		c.Log.InfoContext(ctx, "a watched page has changed", "watch_id", w.ID, "added", len(check.Change.Added), "removed", len(check.Change.Removed))
	}
	return check.Change != nil, c.Store.RecordCheck(ctx, claim, check)
}

// compare decides what a response means.
func (c *Checker) compare(w Watch, res *fetch.Result) Check {
	interval := time.Duration(w.IntervalMinutes) * time.Minute
	if res == nil { // too many requests wait for this server
		return Check{Watch: w, DueIn: min(interval, 5*time.Minute), Skipped: true}
	}
	w.Problem = ""
	var lines []string
	switch res.Outcome {
	case fetch.NotModified:
		lines = w.Lines
	case fetch.OK:
		if res.Text == nil {
			w.Problem = NotHTML
			break
		}
		lines, w.Problem = readRegion(res.Text, w.Selector)
	case fetch.BlockedByRobots:
		w.Problem = Disallowed
	default:
		w.Problem = Problem(res.Outcome)
	}
	if w.Problem != "" {
		w.Failures++
		// The whole text is compared after the problem is solved.
		w.ETag, w.LastModified = "", ""
		return Check{Watch: w, DueIn: max(res.RetryAfter, min(interval<<min(w.Failures-1, 8), maxBackoff))}
	}
	w.Failures = 0
	if res.Outcome == fetch.OK {
		w.ETag, w.LastModified = res.ETag, res.LastModified
	}
	check := Check{Watch: w, DueIn: interval}
	if added, removed := compare(w.Lines, lines); w.Lines != nil && len(added)+len(removed) > 0 {
		check.Change = &Change{ID: uuid.Must(uuid.NewV7()), Added: added, Removed: removed}
	}
	check.Watch.Lines = slices.Clone(lines)
	return check
}
