package crawler

import (
	"context"
	"sync"
	"time"

	"dateline/internal/news/crawl"
)

// storing is how many pages are stored for each that is fetched, where
// politeness is lifted: what is stored waits for disks, and must not keep the
// network waiting.
const storing = 8

// crew are those who fetch and store the URLs of a run: one, or several where
// politeness is lifted.
type crew struct {
	run     *run
	queue   chan crawl.URL
	fetches chan struct{}  // a place for each request under way
	members sync.WaitGroup // who works
	tasks   sync.WaitGroup // what was given and is not done
	ended   func() error
}

// hire begins the work. It ends, at the latest, with ctx.
func (r *run) hire(ctx context.Context, until time.Time) *crew {
	parallel, members := 1, 1
	if r.Limits.Delay == 0 {
		parallel = max(r.Limits.Parallel, 1)
		members = parallel * (1 + storing)
	}
	c := &crew{run: r, queue: make(chan crawl.URL), fetches: make(chan struct{}, parallel)}
	var once sync.Once
	var problem error
	for range members {
		c.members.Go(func() {
			for u := range c.queue {
				if err := c.one(ctx, u, until); err != nil {
					once.Do(func() { problem = err })
					r.halt.Store(true)
				}
				c.tasks.Done()
			}
		})
	}
	c.ended = sync.OnceValue(func() error {
		close(c.queue)
		c.members.Wait()
		return problem
	})
	return c
}

func (c *crew) one(ctx context.Context, u crawl.URL, until time.Time) error {
	c.fetches <- struct{}{}
	fetched := sync.OnceFunc(func() { <-c.fetches })
	if goOn := !c.run.halt.Load() && ctx.Err() == nil && time.Now().Before(until); goOn {
		return c.run.one(ctx, u, fetched)
	}
	fetched()
	return nil // it is given back in the end
}

// give hands a URL to who is free.
func (c *crew) give(u crawl.URL) {
	c.tasks.Add(1)
	c.queue <- u
}

// wait waits until all that was given is done.
func (c *crew) wait() { c.tasks.Wait() }

// dismiss waits for the end of the work and says what went wrong. After that
// nothing can be given any more.
func (c *crew) dismiss() error { return c.ended() }
