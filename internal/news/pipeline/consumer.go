package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"dateline/internal/infra/blob"
	"dateline/internal/news/article"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
)

// PageStore is the queue of crawled pages and stores extractions.
type PageStore interface {
	LeaseCrawledPages(ctx context.Context, limit int, ttl time.Duration) ([]crawl.CrawledPage, error)
	RenewCrawled(ctx context.Context, ids []int64, ttl time.Duration) error
	ReleaseCrawled(ctx context.Context, c crawl.CrawledPage, wait time.Duration) error
	PageOf(ctx context.Context, c crawl.CrawledPage) (Page, weburl.Rules, error)
	SaveExtraction(ctx context.Context, r Extraction) (SaveResult, error)
	MarkPageRemoved(ctx context.Context, c crawl.CrawledPage) (RemovalResult, error)
	OverdueSelectorActions(ctx context.Context, age time.Duration, limit int) ([]string, error)
}

// LearningStarter starts the workflow that learns or rolls back the selectors of a site.
type LearningStarter interface {
	StartSelectorLearning(ctx context.Context, domain string) error
}

// Timing configures the intervals of a consumer. Zero fields have defaults; tests
// shorten them.
type Timing struct {
	Lease        time.Duration // of a page; 90 s
	PollInterval time.Duration // between polls of the queue; 1 s
	MaxDuration  time.Duration // of one Run; 4 min
	RetryDelay   time.Duration // before a deferred page is retried; 30 s
	IdleTimeout  time.Duration // Run ends after this time without pages; default MaxDuration
}

func (p Timing) withDefaults() Timing {
	for field, fallback := range map[*time.Duration]time.Duration{
		&p.Lease:        90 * time.Second,
		&p.PollInterval: time.Second, &p.MaxDuration: 4 * time.Minute, &p.RetryDelay: 30 * time.Second,
	} {
		if *field <= 0 {
			*field = fallback
		}
	}
	if p.IdleTimeout <= 0 {
		p.IdleTimeout = p.MaxDuration
	}
	return p
}

const (
	// batchSize is the number of pages leased at once.
	batchSize = 32
	// maxAttempts is the number of workers that may die while processing a page before
	// it counts as failed.
	maxAttempts = 5
	// heartbeatInterval is the interval of activity heartbeats during a batch.
	heartbeatInterval = 2 * time.Second
	// actionRetryAge is the age from which a requested action is started again.
	actionRetryAge = time.Minute
)

// Consumer extracts articles from the queue of crawled pages.
type Consumer struct {
	Store       PageStore
	Extractor   *Extractor
	Learners    LearningStarter
	Timing      Timing
	MaxParallel int // concurrent pages; 0: GOMAXPROCS
	Meter       Meter
	Log         *slog.Logger
}

// Stats counts the results of a run.
type Stats struct {
	Pages       int // processed
	Articles    int // new or changed
	NonArticles int // pages without an article
	Failed      int // pages that could not be processed
	Removed     int // articles whose page was removed
	Deferred    int // pages released for a later retry
}

// Run processes pages until MaxDuration has passed or stop is closed. Pages are leased:
// those of a worker that dies are leased again, and the result of a page is stored in
// the transaction that removes it from the queue.
func (c *Consumer) Run(ctx context.Context, stop <-chan struct{}, heartbeat func(Stats)) (Stats, error) {
	pace := c.Timing.withDefaults()
	if err := c.startOverdueActions(ctx); err != nil {
		return Stats{}, err
	}
	var total Stats
	started, lastPage := time.Now(), time.Now()
	for time.Since(started) < pace.MaxDuration && time.Since(lastPage) < pace.IdleTimeout && ctx.Err() == nil {
		select {
		case <-stop:
			return total, nil
		default:
		}
		leased, err := c.Store.LeaseCrawledPages(ctx, batchSize, pace.Lease)
		if err != nil {
			return total, err
		}
		if len(leased) > 0 {
			c.processBatch(ctx, leased, pace, &total, heartbeat)
			lastPage = time.Now()
		}
		heartbeat(total)
		if len(leased) == batchSize {
			continue
		}
		select {
		case <-ctx.Done():
		case <-stop:
		case <-time.After(pace.PollInterval):
		}
	}
	return total, ctx.Err()
}

// startOverdueActions starts requested actions again whose workflow was not started.
func (c *Consumer) startOverdueActions(ctx context.Context) error {
	domains, err := c.Store.OverdueSelectorActions(ctx, actionRetryAge, batchSize)
	for _, domain := range domains {
		c.startLearning(ctx, domain)
	}
	return err
}

func (c *Consumer) startLearning(ctx context.Context, domain string) {
	if err := c.Learners.StartSelectorLearning(ctx, domain); err != nil {
		c.Log.Warn("could not start the learning workflow; the next run retries", "domain", domain, "error", err)
	}
}

// processBatch processes a batch in parallel and renews the leases of its pages.
func (c *Consumer) processBatch(
	ctx context.Context, leased []crawl.CrawledPage, pace Timing, total *Stats, heartbeat func(Stats),
) {
	var mu sync.Mutex
	open := map[int64]bool{}
	for _, crawled := range leased {
		open[crawled.ID] = true
	}
	working, done := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticker := time.NewTicker(min(heartbeatInterval, pace.Lease/3))
		defer ticker.Stop()
		for renewed := time.Now(); ; {
			select {
			case <-working.Done():
				return
			case <-ticker.C:
			}
			mu.Lock()
			ids := make([]int64, 0, len(open))
			for id := range open {
				ids = append(ids, id)
			}
			current := *total
			mu.Unlock()
			heartbeat(current)
			if time.Since(renewed) < pace.Lease/3 {
				continue
			}
			renewed = time.Now()
			if err := c.Store.RenewCrawled(working, ids, pace.Lease); err != nil && working.Err() == nil {
				c.Log.Warn("could not renew page leases; pages may be processed twice", "error", err)
			}
		}
	})
	queue := make(chan crawl.CrawledPage)
	var workers sync.WaitGroup
	parallel := c.MaxParallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	for range min(parallel, len(leased)) {
		workers.Go(func() {
			for crawled := range queue {
				one := c.process(ctx, crawled, pace)
				mu.Lock()
				delete(open, crawled.ID)
				total.add(one)
				mu.Unlock()
			}
		})
	}
	for _, crawled := range leased {
		queue <- crawled
	}
	close(queue)
	workers.Wait()
	done()
	renewing.Wait()
}

func (t *Stats) add(o Stats) {
	t.Pages += o.Pages
	t.Articles += o.Articles
	t.NonArticles += o.NonArticles
	t.Failed += o.Failed
	t.Removed += o.Removed
	t.Deferred += o.Deferred
}

// process extracts and saves one page. Errors of the page are recorded; on errors of a
// dependency, the page is released for a later retry.
func (c *Consumer) process(ctx context.Context, crawled crawl.CrawledPage, pace Timing) Stats {
	if crawled.Removed {
		return c.markRemoved(ctx, crawled, pace)
	}
	r, err := c.extract(ctx, crawled)
	var saved SaveResult
	if err == nil {
		saved, err = c.Store.SaveExtraction(ctx, r)
	}
	if err != nil {
		return c.release(ctx, crawled, pace, err)
	}
	if saved.LeaseLost {
		return Stats{}
	}
	c.recordMetrics(ctx, r)
	if r.SelectorVersion > 0 && r.SelectorVersion == saved.Version {
		c.Extractor.trust.record(crawled.DomainID, saved, r.Outcome.Found[article.FieldBody])
	}
	if saved.ActionRequested {
		c.startLearning(ctx, r.Page.Domain)
	}
	out := Stats{Pages: 1}
	switch {
	case r.Failed:
		out.Failed = 1
	case r.Article == nil:
		out.NonArticles = 1
	case saved.New || len(saved.Changed) > 0:
		out.Articles = 1
	}
	return out
}

// release returns a page to the queue.
func (c *Consumer) release(ctx context.Context, crawled crawl.CrawledPage, pace Timing, cause error) Stats {
	if ctx.Err() == nil && cause != nil {
		c.Log.Warn("page deferred", "url_id", crawled.URLID, "domain_id", crawled.DomainID, "attempts",
			crawled.Attempts, "error", cause)
	}
	// Also when the worker stops, so that nobody waits for the lease to expire.
	if err := c.Store.ReleaseCrawled(context.WithoutCancel(ctx), crawled, pace.RetryDelay); err != nil {
		c.Log.Warn("could not release a page; it is leased again when its lease expires", "url_id", crawled.URLID,
			"error", err)
	}
	return Stats{Deferred: 1}
}

// markRemoved marks the articles of a removed page.
func (c *Consumer) markRemoved(ctx context.Context, crawled crawl.CrawledPage, pace Timing) Stats {
	result, err := c.Store.MarkPageRemoved(ctx, crawled)
	if err != nil || result.Deferred {
		return c.release(ctx, crawled, pace, err)
	}
	if result.LeaseLost {
		return Stats{}
	}
	return Stats{Pages: 1, Removed: result.Articles}
}

func (c *Consumer) extract(ctx context.Context, crawled crawl.CrawledPage) (Extraction, error) {
	page, rules, err := c.Store.PageOf(ctx, crawled)
	if err != nil {
		return Extraction{}, err
	}
	if crawled.Attempts > maxAttempts {
		return Extraction{
			Page: page, Reason: ReasonExtractionError, Detail: "workers died while processing this page",
			Failed: true,
		}, nil
	}
	r, err := c.Extractor.Extract(ctx, page, rules)
	if errors.Is(err, blob.ErrNotFound) {
		return Extraction{
			Page: page, Reason: ReasonPageDeleted, Detail: "the raw page is no longer stored",
			Failed: true,
		}, nil
	}
	return r, err
}
