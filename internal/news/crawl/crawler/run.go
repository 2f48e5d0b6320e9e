package crawler

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/retry"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/weburl"
)

// run is one crawl of one domain.
type run struct {
	*Crawler
	domain       crawl.Domain
	seeds        map[int]crawl.Seed
	allowed      map[int]func(weburl.URL) bool  // URL rules by seed number
	pushed       map[uuid.UUID]crawl.PushedFeed // feeds with a subscription to a hub
	memo         *discover.Memo
	lease        uuid.UUID
	currentDelay atomic.Int64 // between two requests
	stopping     atomic.Bool  // no further URLs are started

	mu                  sync.Mutex
	leased              map[uuid.UUID]bool  // leased and not yet recorded
	known               map[weburl.URL]bool // known to be in the frontier
	consecutiveFailures int                 // fetches in a row without a response
	releaseDelay        time.Duration       // delay of URLs that are released unfetched
	stats               Result
	hasNewParameters    bool // new pages with URL parameters were stored

	sectionsMu sync.Mutex
	sections   *discover.ShapeLimiter // nil: not loaded yet
	hubs       map[string]bool        // known and admitted sections
}

func newRun(c *Crawler, dom crawl.Domain, seeds []crawl.Seed) *run {
	r := &run{
		Crawler: c, domain: dom, lease: uuid.New(), memo: discover.NewMemo(), seeds: map[int]crawl.Seed{},
		allowed: map[int]func(weburl.URL) bool{},
		leased:  map[uuid.UUID]bool{}, known: map[weburl.URL]bool{},
	}
	for _, n := range seeds {
		r.seeds[n.Number], r.allowed[n.Number] = n, urlMatcher(n.Rules)
	}
	r.currentDelay.Store(int64(c.requestDelay(dom.CrawlDelay)))
	return r
}

// requestDelay is the pause between two requests, given the Crawl-delay of
// robots.txt.
func (c *Crawler) requestDelay(requested time.Duration) time.Duration {
	if c.Limits.RequestDelay == 0 {
		return 0
	}
	return max(c.Limits.RequestDelay, min(requested, c.Limits.MaxRobotsDelay))
}

func (r *run) pause() time.Duration { return time.Duration(r.currentDelay.Load()) }

func (r *run) crawl(ctx context.Context, stop <-chan struct{}, heartbeat func(Result)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var keepingAlive sync.WaitGroup
	defer keepingAlive.Wait()
	done := make(chan struct{})
	defer close(done)
	keepingAlive.Go(func() { r.keepAlive(ctx, done, stop, heartbeat) })
	return r.work(ctx, time.Now().Add(r.Limits.RunTimeout))
}

// work leases URLs and hands them to the workers until none are due.
func (r *run) work(ctx context.Context, until time.Time) error {
	pool := r.startPool(until)
	defer func() { _ = pool.wait() }() // returns the same error again
	for leasedAny := false; !r.stopping.Load() && ctx.Err() == nil && time.Now().Before(until); {
		urls, err := r.URLs.LeaseURLs(ctx, crawl.LeaseRequest{
			Domain: r.domain, LeaseID: r.lease, Limit: r.batchSize(),
			TTL:         r.Limits.LeaseTTL,
			DailyBudget: r.Limits.DailyBudget, IdleDelay: r.Policy.RefreshInterval,
		})
		if err != nil {
			return err
		}
		if len(urls) == 0 {
			if !leasedAny && !r.waitForDue(ctx, until) {
				break
			}
			// In-flight fetches may still discover something.
			leasedAny = false
			_ = pool.wait() // an error stops the run
			continue
		}
		leasedAny = true
		r.mu.Lock()
		for _, u := range urls {
			r.leased[u.ID] = true
		}
		r.mu.Unlock()
		for _, u := range urls {
			pool.submit(ctx, u)
		}
	}
	if err := pool.wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// duePollInterval is how often an idle run checks for due URLs.
const duePollInterval = time.Second

// waitForDue waits for URLs that are due soon and reports whether to continue.
// Waiting is cheaper than ending the activity and starting another one.
func (r *run) waitForDue(ctx context.Context, until time.Time) bool {
	for latest := time.Now().Add(r.Limits.MaxIdleWait); !r.stopping.Load() && time.Now().Before(until); {
		wait, never, err := r.URLs.NextDueIn(ctx, r.domain.ID)
		if err != nil || never || time.Now().Add(wait).After(latest) {
			return false
		}
		// URLs that are due but were not leased belong to another lease, or the
		// domain was just paused: wait before the next attempt.
		if retry.Sleep(ctx, min(max(wait, duePollInterval/20), duePollInterval)) != nil {
			return false
		}
		if wait <= duePollInterval {
			return true
		}
	}
	return false
}

// batchSize is how many URLs are leased at once. It is small when each takes
// long, so that new articles do not wait behind them.
func (r *run) batchSize() int {
	if pause := r.pause(); pause > 0 {
		return int(min(max(30*time.Second/pause, 4), time.Duration(r.Limits.BatchSize)))
	}
	return r.Limits.BatchSize
}

// process fetches a URL and records the result. It calls fetched with the size
// of the page, once or more, when it makes no more requests.
func (r *run) process(ctx context.Context, u crawl.URL, fetched func(bytes int)) error {
	f, err := r.fetch(ctx, u, fetched)
	if err != nil || f == nil {
		return err // nil: the URL is released
	}
	fetched(0)
	recorded, err := r.Record(ctx, *f)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.leased, u.ID)
	r.stats.Fetched++
	if recorded && f.Version != nil {
		r.stats.Stored++
	}
	return nil
}

// maxHeartbeatInterval is the longest time between two heartbeats: the activity
// times out after three missed ones.
const maxHeartbeatInterval = 3 * time.Second

// keepAlive renews the leases and sends heartbeats, and stops the run when the
// domain is paused or the worker shuts down.
func (r *run) keepAlive(ctx context.Context, done, stop <-chan struct{}, heartbeat func(Result)) {
	ticker := time.NewTicker(min(max(r.Limits.LeaseTTL/6, 100*time.Millisecond), maxHeartbeatInterval))
	defer ticker.Stop()
	leased := time.Now()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			return
		case <-stop:
			r.stopping.Store(true)
			stop = nil
			continue
		case <-ticker.C:
		}
		heartbeat(r.result())
		active, err := r.Domains.RenewDomainLease(ctx, r.domain, r.Limits.LeaseTTL)
		if err == nil && !active {
			r.mu.Lock()
			r.stats.Paused = true
			r.mu.Unlock()
			r.stopping.Store(true)
		}
		if time.Since(leased) < r.Limits.LeaseTTL/3 {
			continue
		}
		if err := r.URLs.RenewLeases(ctx, r.domain.ID, r.lease, r.leasedIDs(), r.Limits.LeaseTTL); err == nil {
			leased = time.Now()
		}
	}
}

func (r *run) leasedIDs() []uuid.UUID {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make([]uuid.UUID, 0, len(r.leased))
	for id := range r.leased {
		ids = append(ids, id)
	}
	return ids
}

func (r *run) result() Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

// releaseUnfetched releases URLs that were leased and not fetched. If that
// fails, their leases expire.
func (r *run) releaseUnfetched(ctx context.Context) {
	ids := r.leasedIDs()
	if len(ids) == 0 {
		return
	}
	r.mu.Lock()
	delay := r.releaseDelay
	r.mu.Unlock()
	if err := r.URLs.ReleaseLeases(ctx, r.domain.ID, r.lease, ids, delay); err != nil {
		r.Log.Warn("URL leases could not be released and will expire", "domain", r.domain.Name, "error", err)
	}
}

// blockDomain ends the run and blocks the domain for a while.
func (r *run) blockDomain(ctx context.Context, wait time.Duration) error {
	r.mu.Lock()
	r.releaseDelay = max(r.releaseDelay, wait)
	r.mu.Unlock()
	r.stopping.Store(true)
	return r.Domains.BlockDomain(ctx, r.domain.ID, wait)
}
