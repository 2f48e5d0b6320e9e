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

// PageStore hands out stored pages and takes what was read.
type PageStore interface {
	LeaseCrawledPages(ctx context.Context, limit int, ttl time.Duration) ([]crawl.CrawledPage, error)
	RenewCrawled(ctx context.Context, ids []int64, ttl time.Duration) error
	ReleaseCrawled(ctx context.Context, c crawl.CrawledPage, wait time.Duration) error
	PageOf(ctx context.Context, c crawl.CrawledPage) (Page, weburl.Rules, error)
	SaveExtraction(ctx context.Context, r Extraction) (SaveResult, error)
	MarkPageRemoved(ctx context.Context, c crawl.CrawledPage) (RemovalResult, error)
	OverdueSelectorActions(ctx context.Context, age time.Duration, most int) ([]string, error)
}

// LearningStarter have the selectors of a site seen to.
type LearningStarter interface {
	StartSelectorLearning(ctx context.Context, domain string) error
}

// Timing are the pauses of the drainer. A zero field has its default; tests
// shorten them.
type Timing struct {
	Lease        time.Duration // of a page; 90 s
	PollInterval time.Duration // between looks for new pages; 1 s
	MaxDuration  time.Duration // how long one drain goes on; 4 min
	RetryDelay   time.Duration // before a page is tried again that could not be read; 30 s
	IdleTimeout  time.Duration // how long a drain goes on with nothing to do; all of Run
}

func (p Timing) withDefaults() Timing {
	for field, fallback := range map[*time.Duration]time.Duration{&p.Lease: 90 * time.Second, &p.PollInterval: time.Second, &p.MaxDuration: 4 * time.Minute, &p.RetryDelay: 30 * time.Second} {
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
	// batchSize is how many pages are taken at once.
	batchSize = 32
	// maxAttempts is how many workers may die with a page in hand before it is given up.
	maxAttempts = 5
	// heartbeatInterval is how often Temporal hears that a batch is being read.
	heartbeatInterval = 2 * time.Second
	// actionRetryAge is how long a wish may wait before Temporal is told once more.
	actionRetryAge = time.Minute
)

// Consumer reads what the crawler has stored.
type Consumer struct {
	Store       PageStore
	Extractor   *Extractor
	Learners    LearningStarter
	Timing      Timing
	MaxParallel int // pages at a time; 0: as many as there are processors
	Meter       Meter
	Log         *slog.Logger
}

// Stats counts what a drain did.
type Stats struct {
	Pages       int // that were read
	Articles    int // that were new or changed
	NonArticles int // pages that are no articles
	Failed      int // pages that cannot be read
	Removed     int // articles whose page is not there any more
	Deferred    int // pages that could not be read now
}

// Run reads pages until its time is over or stop is closed. Pages are leased:
// those of a drain that dies are handed out again, and what a page brings is
// stored in the transaction that takes it off the list.
func (d *Consumer) Run(ctx context.Context, stop <-chan struct{}, beat func(Stats)) (Stats, error) {
	pace := d.Timing.withDefaults()
	if err := d.startOverdueActions(ctx); err != nil {
		return Stats{}, err
	}
	var total Stats
	begun, busy := time.Now(), time.Now()
	for time.Since(begun) < pace.MaxDuration && time.Since(busy) < pace.IdleTimeout && ctx.Err() == nil {
		select {
		case <-stop:
			return total, nil
		default:
		}
		taken, err := d.Store.LeaseCrawledPages(ctx, batchSize, pace.Lease)
		if err != nil {
			return total, err
		}
		if len(taken) > 0 {
			d.processBatch(ctx, taken, pace, &total, beat)
			busy = time.Now()
		}
		beat(total)
		if len(taken) == batchSize {
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

// startOverdueActions tells Temporal again of sites whose selectors nobody has seen to.
func (d *Consumer) startOverdueActions(ctx context.Context) error {
	domains, err := d.Store.OverdueSelectorActions(ctx, actionRetryAge, batchSize)
	for _, domain := range domains {
		d.startLearning(ctx, domain)
	}
	return err
}

func (d *Consumer) startLearning(ctx context.Context, domain string) {
	if err := d.Learners.StartSelectorLearning(ctx, domain); err != nil {
		d.Log.Warn("Temporal was not told; the next run tells it", "domain", domain, "error", err)
	}
}

// processBatch reads a batch, and keeps the lease of what is not read yet.
func (d *Consumer) processBatch(ctx context.Context, taken []crawl.CrawledPage, pace Timing, total *Stats, beat func(Stats)) {
	var mu sync.Mutex
	open := map[int64]bool{}
	for _, c := range taken {
		open[c.ID] = true
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
			so := *total
			mu.Unlock()
			beat(so)
			if time.Since(renewed) < pace.Lease/3 {
				continue
			}
			renewed = time.Now()
			if err := d.Store.RenewCrawled(working, ids, pace.Lease); err != nil && working.Err() == nil {
				d.Log.Warn("leases of pages were not renewed; they may be read twice", "error", err)
			}
		}
	})
	queue := make(chan crawl.CrawledPage)
	var workers sync.WaitGroup
	parallel := d.MaxParallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	for range min(parallel, len(taken)) {
		workers.Go(func() {
			for c := range queue {
				one := d.process(ctx, c, pace)
				mu.Lock()
				delete(open, c.ID)
				total.add(one)
				mu.Unlock()
			}
		})
	}
	for _, c := range taken {
		queue <- c
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

// process reads a page. What is wrong with the page is recorded and the page done;
// what is wrong with an engine has it read later.
func (d *Consumer) process(ctx context.Context, c crawl.CrawledPage, pace Timing) Stats {
	if c.Removed {
		return d.markRemoved(ctx, c, pace)
	}
	r, err := d.extract(ctx, c)
	var kept SaveResult
	if err == nil {
		kept, err = d.Store.SaveExtraction(ctx, r)
	}
	if err != nil {
		return d.release(ctx, c, pace, err)
	}
	if kept.LeaseLost {
		return Stats{}
	}
	d.recordMetrics(ctx, r)
	if r.SelectorVersion > 0 && r.SelectorVersion == kept.Version {
		d.Extractor.trust.record(c.DomainID, kept, r.Outcome.Found[article.FieldBody])
	}
	if kept.ActionRequested {
		d.startLearning(ctx, r.Page.Domain)
	}
	out := Stats{Pages: 1}
	switch {
	case r.Failed:
		out.Failed = 1
	case r.Article == nil:
		out.NonArticles = 1
	case kept.New || len(kept.Changed) > 0:
		out.Articles = 1
	}
	return out
}

// release gives a page back that could not be read now.
func (d *Consumer) release(ctx context.Context, c crawl.CrawledPage, pace Timing, why error) Stats {
	if ctx.Err() == nil && why != nil {
		d.Log.Warn("a page is read later", "url_id", c.URLID, "domain_id", c.DomainID, "attempts", c.Attempts, "error", why)
	}
	// Also while the worker stops: nobody else need wait for the lease to end.
	if err := d.Store.ReleaseCrawled(context.WithoutCancel(ctx), c, pace.RetryDelay); err != nil {
		d.Log.Warn("a page is handed out again when its lease ends", "url_id", c.URLID, "error", err)
	}
	return Stats{Deferred: 1}
}

// markRemoved marks the articles of a page that is not there any more.
func (d *Consumer) markRemoved(ctx context.Context, c crawl.CrawledPage, pace Timing) Stats {
	kept, err := d.Store.MarkPageRemoved(ctx, c)
	if err != nil || kept.Deferred {
		return d.release(ctx, c, pace, err)
	}
	if kept.LeaseLost {
		return Stats{}
	}
	return Stats{Pages: 1, Removed: kept.Articles}
}

func (d *Consumer) extract(ctx context.Context, c crawl.CrawledPage) (Extraction, error) {
	page, rules, err := d.Store.PageOf(ctx, c)
	if err != nil {
		return Extraction{}, err
	}
	if c.Attempts > maxAttempts {
		return Extraction{Page: page, Reason: "workers died reading this page; it is given up", Failed: true}, nil
	}
	r, err := d.Extractor.Extract(ctx, page, rules)
	if errors.Is(err, blob.ErrNotFound) {
		return Extraction{Page: page, Reason: "the raw page is not stored any more", Failed: true}, nil
	}
	return r, err
}
