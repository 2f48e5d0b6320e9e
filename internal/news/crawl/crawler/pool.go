package crawler

import (
	"context"
	"sync"
	"time"

	"dateline/internal/news/crawl"
)

// storersPerFetcher is how many pages are stored for each that is fetched, where
// politeness is lifted: what is stored waits for disks, and must not keep the
// network waiting.
const storersPerFetcher = 8

// workerPool are those who fetch and store the URLs of a run: one, or several where
// politeness is lifted.
type workerPool struct {
	run        *run
	queue      chan crawl.URL
	fetchSlots chan struct{}  // a place for each request under way
	workers    sync.WaitGroup // who works
	pending    sync.WaitGroup // what was given and is not done
	shutdown   func() error
}

// startPool begins the work. It ends, at the latest, with ctx.
func (r *run) startPool(ctx context.Context, until time.Time) *workerPool {
	parallel, members := 1, 1
	if r.Limits.RequestDelay == 0 {
		parallel = max(r.Limits.Concurrency, 1)
		members = parallel * (1 + storersPerFetcher)
	}
	c := &workerPool{run: r, queue: make(chan crawl.URL), fetchSlots: make(chan struct{}, parallel)}
	var once sync.Once
	var problem error
	for range members {
		c.workers.Go(func() {
			for u := range c.queue {
				if err := c.process(ctx, u, until); err != nil {
					once.Do(func() { problem = err })
					r.stopping.Store(true)
				}
				c.pending.Done()
			}
		})
	}
	c.shutdown = sync.OnceValue(func() error {
		close(c.queue)
		c.workers.Wait()
		return problem
	})
	return c
}

func (c *workerPool) process(ctx context.Context, u crawl.URL, until time.Time) error {
	c.fetchSlots <- struct{}{}
	fetched := sync.OnceFunc(func() { <-c.fetchSlots })
	if goOn := !c.run.stopping.Load() && ctx.Err() == nil && time.Now().Before(until); goOn {
		return c.run.process(ctx, u, fetched)
	}
	fetched()
	return nil // it is given back in the end
}

// submit hands a URL to who is free.
func (c *workerPool) submit(u crawl.URL) {
	c.pending.Add(1)
	c.queue <- u
}

// wait waits until all that was given is done.
func (c *workerPool) wait() { c.pending.Wait() }

// stop waits for the end of the work and says what went wrong. After that
// nothing can be given any more.
func (c *workerPool) stop() error { return c.shutdown() }
