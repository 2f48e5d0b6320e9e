package crawler

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/weburl"
)

// run is one drain of one domain.
type run struct {
	*Crawler
	domain       crawl.Domain
	seeds        map[int32]crawl.Seed
	allowed      map[int32]func(weburl.URL) bool // by seed
	memo         *discover.Memo
	lease        uuid.UUID
	currentDelay atomic.Int64 // between two requests, as far as it is known
	stopping     atomic.Bool  // nothing new is begun

	mu                  sync.Mutex
	leased              map[uuid.UUID]bool  // leased and not recorded
	known               map[weburl.URL]bool // in the frontier, as this run has seen
	consecutiveFailures int                 // fetches in a row that got no answer
	releaseDelay        time.Duration       // that what is given back rests
	stats               Result
	hasNewParameters    bool // new pages with parameters in their URLs were stored

	sectionsMu sync.Mutex
	sections   *discover.ShapeLimiter // nil: not asked for yet
	hubs       map[string]bool        // sections that were taken
}

func newRun(d *Crawler, dom crawl.Domain, seeds []crawl.Seed) *run {
	r := &run{Crawler: d, domain: dom, lease: uuid.New(), memo: discover.NewMemo(), seeds: map[int32]crawl.Seed{}, allowed: map[int32]func(weburl.URL) bool{},
		leased: map[uuid.UUID]bool{}, known: map[weburl.URL]bool{}}
	for _, n := range seeds {
		r.seeds[n.Number], r.allowed[n.Number] = n, urlMatcher(n.Rules)
	}
	r.currentDelay.Store(int64(d.requestDelay(dom.CrawlDelay)))
	return r
}

// requestDelay is the pause after a request, given what robots.txt asks for.
func (d *Crawler) requestDelay(asked time.Duration) time.Duration {
	if d.Limits.RequestDelay == 0 {
		return 0
	}
	return max(d.Limits.RequestDelay, min(asked, d.Limits.MaxRobotsDelay))
}

func (r *run) pause() time.Duration { return time.Duration(r.currentDelay.Load()) }

func (r *run) crawl(ctx context.Context, stop <-chan struct{}, beat func(Result)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var renewing sync.WaitGroup
	defer renewing.Wait()
	ended := make(chan struct{})
	defer close(ended)
	renewing.Go(func() { r.keepAlive(ctx, ended, stop, beat) })
	return r.work(ctx, time.Now().Add(r.Limits.RunTimeout))
}

// work leases URLs and hands them to those who fetch, until nothing is due.
func (r *run) work(ctx context.Context, until time.Time) error {
	c := r.startPool(ctx, until)
	defer func() { _ = c.stop() }() // it says the same again
	for found := false; !r.stopping.Load() && ctx.Err() == nil && time.Now().Before(until); {
		urls, err := r.Store.LeaseURLs(ctx, crawl.LeaseRequest{Domain: r.domain, LeaseID: r.lease, Limit: r.batchSize(), TTL: r.Limits.LeaseTTL,
			DailyBudget: r.Limits.DailyBudget, IdleDelay: r.Policy.RefreshInterval})
		if err != nil {
			return err
		}
		if len(urls) == 0 {
			if !found && !r.waitForDue(ctx, until) {
				break
			}
			// What is under way may still find something.
			found = false
			c.wait()
			continue
		}
		found = true
		r.mu.Lock()
		for _, u := range urls {
			r.leased[u.ID] = true
		}
		r.mu.Unlock()
		for _, u := range urls {
			c.submit(u)
		}
	}
	if err := c.stop(); err != nil {
		return err
	}
	return ctx.Err()
}

// duePollInterval is how often a drain that waits looks for what became due meanwhile.
const duePollInterval = time.Second

// waitForDue waits for what is due soon, and says whether to go on. To end a drain
// and to start the next one costs Temporal more than to wait.
func (r *run) waitForDue(ctx context.Context, until time.Time) bool {
	for most := time.Now().Add(r.Limits.MaxIdleWait); !r.stopping.Load() && time.Now().Before(until); {
		wait, never, err := r.Store.NextDueIn(ctx, r.domain.ID)
		if err != nil || never || time.Now().Add(wait).After(most) {
			return false
		}
		// What is due and was not leased is held by somebody, or will be noticed to
		// be paused: it is not asked for at once.
		if sleep(ctx, min(max(wait, duePollInterval/20), duePollInterval)) != nil {
			return false
		}
		if wait <= duePollInterval {
			return true
		}
	}
	return false
}

// batchSize is how many URLs are leased at once: few where each takes long, so that
// a new article does not wait behind them.
func (r *run) batchSize() int {
	if pause := r.pause(); pause > 0 {
		return int(min(max(30*time.Second/pause, 4), time.Duration(r.Limits.BatchSize)))
	}
	return r.Limits.BatchSize
}

// process fetches a URL and records what became of it. It calls fetched, once or
// more, when it makes no more requests.
func (r *run) process(ctx context.Context, u crawl.URL, fetched func()) error {
	defer fetched()
	f, err := r.fetch(ctx, u, fetched)
	if err != nil || f == nil {
		return err // f is nil when the URL is given back
	}
	held, err := r.Record(ctx, *f)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.leased, u.ID)
	r.stats.Fetched++
	if held && f.Version != nil {
		r.stats.Stored++
	}
	return nil
}

// maxHeartbeatInterval is between two beats: Temporal takes a worker for dead after three.
const maxHeartbeatInterval = 3 * time.Second

// keepAlive keeps the leases while the run goes on, and notices that it should not.
func (r *run) keepAlive(ctx context.Context, ended, stop <-chan struct{}, beat func(Result)) {
	every := time.NewTicker(min(max(r.Limits.LeaseTTL/6, 100*time.Millisecond), maxHeartbeatInterval))
	defer every.Stop()
	leased := time.Now()
	for {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			return
		case <-stop:
			r.stopping.Store(true)
			stop = nil
			continue
		case <-every.C:
		}
		beat(r.result())
		goOn, err := r.Store.RenewDomainLease(ctx, r.domain, r.Limits.LeaseTTL)
		if err == nil && !goOn {
			r.mu.Lock()
			r.stats.Paused = true
			r.mu.Unlock()
			r.stopping.Store(true)
		}
		if time.Since(leased) < r.Limits.LeaseTTL/3 {
			continue
		}
		if err := r.Store.RenewLeases(ctx, r.domain.ID, r.lease, r.leasedIDs(), r.Limits.LeaseTTL); err == nil {
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

// releaseUnfetched returns what was leased and not fetched. When that fails the leases
// run out by themselves.
func (r *run) releaseUnfetched(ctx context.Context) {
	ids := r.leasedIDs()
	if len(ids) == 0 {
		return
	}
	r.mu.Lock()
	rest := r.releaseDelay
	r.mu.Unlock()
	if err := r.Store.ReleaseLeases(ctx, r.domain.ID, r.lease, ids, rest); err != nil {
		r.Log.Warn("URLs could not be given back; their leases will end", "domain", r.domain.Name, "error", err)
	}
}

// blockDomain leaves the domain alone for a while.
func (r *run) blockDomain(ctx context.Context, wait time.Duration) error {
	r.mu.Lock()
	r.releaseDelay = max(r.releaseDelay, wait)
	r.mu.Unlock()
	r.stopping.Store(true)
	return r.Store.BlockDomain(ctx, r.domain.ID, wait)
}
