package watch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/weburl"
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
	Skipped bool          // nothing was fetched: the text stays as it was
	Problem Problem       // of a skipped check; empty: that of the last check stays
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
	checkLease  = 10 * time.Minute // longer than a batch takes
	maxParallel = 8                // sites
	maxBackoff  = 24 * time.Hour
	maxBatches  = 50
	// siteTime is how long a round starts checks of one site. The others of that site are
	// due again after retryPause.
	siteTime   = 30 * time.Second
	retryPause = time.Minute
)

// CheckDue checks the watches that are due, and returns their number and that of the
// changes. A failed check is tried again later, after growing pauses. Sites are checked
// independently of each other: one that is slow or asks for a pause delays no other.
func (c *Checker) CheckDue(ctx context.Context, heartbeat func()) (checked, changed int, err error) {
	r := round{Checker: c, heartbeat: heartbeat, sites: map[string]*site{}}
	for range maxBatches {
		claim := uuid.New()
		due, err := c.Store.ClaimWatches(ctx, claim, checkBatch, checkLease)
		if err != nil || len(due) == 0 {
			return r.checked, r.changed, err
		}
		r.checkBatch(ctx, claim, due)
		if len(r.failures) > 0 {
			return r.checked, r.changed, errors.Join(r.failures...)
		}
	}
	return r.checked, r.changed, nil
}

// round is one run of CheckDue.
type round struct {
	*Checker
	sites map[string]*site // by registered domain

	mu        sync.Mutex
	heartbeat func()
	checked   int
	changed   int
	failures  []error
}

// site is a site in a round. One request is made to it at a time.
type site struct {
	due     []Watch // of the current batch
	started time.Time
	skip    *Check // what becomes of its other watches; nil: they are checked
}

func (r *round) checkBatch(ctx context.Context, claim uuid.UUID, due []Watch) {
	var order []*site
	for _, w := range due {
		domain := domainOf(w.URL)
		s := r.sites[domain]
		if s == nil {
			s = &site{}
			r.sites[domain] = s
		}
		if len(s.due) == 0 {
			order = append(order, s)
		}
		s.due = append(s.due, w)
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for _, s := range order {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			r.checkSite(ctx, claim, s)
		})
	}
	all.Wait()
}

func (r *round) checkSite(ctx context.Context, claim uuid.UUID, s *site) {
	for _, w := range s.due {
		r.mu.Lock()
		r.heartbeat()
		r.mu.Unlock()
		changed, err := r.check(ctx, claim, w, s)
		r.mu.Lock()
		r.checked++
		if changed {
			r.changed++
		}
		if err != nil {
			r.failures = append(r.failures, err)
		}
		r.mu.Unlock()
	}
	s.due = nil
}

func (r *round) check(ctx context.Context, claim uuid.UUID, w Watch, s *site) (changed bool, err error) {
	if s.started.IsZero() {
		s.started = time.Now()
	} else if s.skip == nil && time.Since(s.started) > siteTime {
		s.skip = &Check{DueIn: retryPause}
	}
	var res *fetch.Result
	if s.skip == nil {
		if res, err = r.Fetcher.FetchPage(ctx, w.URL, w.ETag, w.LastModified); err != nil {
			return false, err
		}
		s.skip = skipAfter(w, res)
	}
	var check Check
	if res == nil || res.Outcome == fetch.Throttled && res.Requests == 0 {
		check = *s.skip
		check.Watch, check.Skipped = w, true
	} else {
		check = compare(w, res)
	}
	if check.Change != nil {
		r.Log.InfoContext(ctx, "a watched page has changed", "watch_id", w.ID, "added", len(check.Change.Added),
			"removed", len(check.Change.Removed))
	}
	return check.Change != nil, r.Store.RecordCheck(ctx, claim, check)
}

// skipAfter returns what becomes of the other watches of a site after a result; nil: they
// are checked.
func skipAfter(w Watch, res *fetch.Result) *Check {
	switch {
	case res == nil: // too many requests wait for this server
		return &Check{DueIn: 5 * retryPause}
	case domainOf(cmp.Or(res.FinalURL, w.URL)) != domainOf(w.URL):
		return nil // another site, to which the page redirects
	case res.Outcome == fetch.Throttled:
		return &Check{DueIn: min(max(res.RetryAfter, retryPause), maxBackoff), Problem: Problem(fetch.Throttled)}
	case res.Outcome == fetch.Timeout || res.Outcome == fetch.Unreachable:
		return &Check{DueIn: 5 * retryPause}
	}
	return nil
}

// domainOf returns the registered domain of a URL, the unit of politeness.
func domainOf(address string) string {
	u, err := weburl.Parse(address, weburl.Rules{DropNothing: true})
	if err != nil {
		return address
	}
	return u.Domain()
}

// compare decides what a response means.
func compare(w Watch, res *fetch.Result) Check {
	interval := time.Duration(w.IntervalMinutes) * time.Minute
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
	// A 304 updates stored validators, too (RFC 9111, section 4.3.4).
	w.ETag, w.LastModified = res.ETag, res.LastModified
	check := Check{Watch: w, DueIn: interval}
	if added, removed := compareLines(w.Lines, lines); w.Lines != nil && len(added)+len(removed) > 0 {
		check.Change = &Change{ID: uuid.Must(uuid.NewV7()), Added: added, Removed: removed}
	}
	check.Watch.Lines = slices.Clone(lines)
	return check
}
