package crawler

import (
	"context"
	"sync"
	"time"

	"dateline/internal/news/crawl"
)

// storersPerFetcher is the number of storing workers per fetching worker when
// politeness is off. Storing waits for disks and must not hold up the network.
const storersPerFetcher = 8

// workerPool fetches and stores the URLs of a run. It has one worker, or
// several when politeness is off.
type workerPool struct {
	run        *run
	queue      chan crawl.URL
	fetchSlots chan struct{} // one per concurrent request
	workers    sync.WaitGroup
	pending    sync.WaitGroup // submitted and not done
	shutdown   func() error
}

// startPool starts the workers. They stop, at the latest, with ctx.
func (r *run) startPool(ctx context.Context, until time.Time) *workerPool {
	concurrency, workers := 1, 1
	if r.Limits.RequestDelay == 0 {
		concurrency = max(r.Limits.Concurrency, 1)
		workers = concurrency * (1 + storersPerFetcher)
	}
	c := &workerPool{run: r, queue: make(chan crawl.URL), fetchSlots: make(chan struct{}, concurrency)}
	var once sync.Once
	var firstErr error
	for range workers {
		c.workers.Go(func() {
			for u := range c.queue {
				if err := c.process(ctx, u, until); err != nil {
					once.Do(func() { firstErr = err })
					r.stopping.Store(true)
				}
				c.pending.Done()
			}
		})
	}
	c.shutdown = sync.OnceValue(func() error {
		close(c.queue)
		c.workers.Wait()
		return firstErr
	})
	return c
}

func (c *workerPool) process(ctx context.Context, u crawl.URL, until time.Time) error {
	c.fetchSlots <- struct{}{}
	fetched := sync.OnceFunc(func() { <-c.fetchSlots })
	if !c.run.stopping.Load() && ctx.Err() == nil && time.Now().Before(until) {
		return c.run.process(ctx, u, fetched)
	}
	fetched()
	return nil // released with the run
}

// submit hands a URL to a free worker.
func (c *workerPool) submit(u crawl.URL) {
	c.pending.Add(1)
	c.queue <- u
}

// wait waits until all submitted URLs are processed.
func (c *workerPool) wait() { c.pending.Wait() }

// stop waits for the workers to finish and returns the first error. Nothing can
// be submitted after that.
func (c *workerPool) stop() error { return c.shutdown() }
