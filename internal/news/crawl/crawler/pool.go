package crawler

import (
	"context"
	"sync"
	"time"

	"dateline/internal/news/crawl"
)

// storersPerFetcher is how many pages of a domain, per concurrent request, are
// stored while the next are requested. Storing waits for disks, and recording
// for other records; neither must hold up the next request.
const storersPerFetcher = 8

// workerPool fetches and stores the URLs of a run, each in a goroutine of its
// own. Under politeness rules it fetches one at a time, and starts the next
// request only after the previous one was applied to the domain.
type workerPool struct {
	run        *run
	until      time.Time
	fetchSlots chan struct{} // one per concurrent request
	urlSlots   chan struct{} // one per URL that is fetched or stored
	inProgress sync.WaitGroup

	errOnce  sync.Once
	firstErr error
}

// startPool returns a pool that starts no request after until.
func (r *run) startPool(until time.Time) *workerPool {
	concurrency := 1
	if r.Limits.RequestDelay == 0 {
		concurrency = max(r.Limits.Concurrency, 1)
	}
	return &workerPool{
		run: r, until: until, fetchSlots: make(chan struct{}, concurrency),
		urlSlots: make(chan struct{}, concurrency*(1+storersPerFetcher)),
	}
}

// submit waits until a URL may be fetched, and starts that. It does not take
// URLs in advance: what is leased next depends on the pages before.
func (p *workerPool) submit(ctx context.Context, u crawl.URL) {
	p.urlSlots <- struct{}{}
	p.fetchSlots <- struct{}{}
	p.inProgress.Go(func() {
		defer func() { <-p.urlSlots }()
		t := &urlTask{pool: p, fetching: true}
		defer t.finish()
		if p.run.stopping.Load() || ctx.Err() != nil || !time.Now().Before(p.until) {
			return // released with the run
		}
		if err := p.run.process(ctx, u, t.fetched); err != nil {
			p.errOnce.Do(func() { p.firstErr = err })
			p.run.stopping.Store(true)
		}
	})
}

// wait waits until all submitted URLs are processed, and returns the first
// error.
func (p *workerPool) wait() error {
	p.inProgress.Wait()
	return p.firstErr
}

// urlTask is the processing of one URL.
type urlTask struct {
	pool     *workerPool
	fetching bool
	reserved int64 // bytes of the page that waits for storage
}

// fetched lets the next request start, unless too many pages of all domains
// wait for storage; then the next request waits until this one is stored. The
// argument is the size of the page.
func (t *urlTask) fetched(bytes int) {
	if t.fetching && t.pool.run.reserveMemory(int64(bytes)) {
		t.reserved, t.fetching = int64(bytes), false
		<-t.pool.fetchSlots
	}
}

func (t *urlTask) finish() {
	t.pool.run.unstoredBytes.Add(-t.reserved)
	if t.fetching {
		<-t.pool.fetchSlots
	}
}

// reserveMemory reports whether a fetched page may wait for storage while
// others are fetched.
func (c *Crawler) reserveMemory(bytes int64) bool {
	if c.unstoredBytes.Add(bytes) <= c.Limits.MaxUnstoredBytes {
		return true
	}
	c.unstoredBytes.Add(-bytes)
	return false
}
