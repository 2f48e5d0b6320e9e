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
	KeepReading(ctx context.Context, r Read) (Kept, error)
	KeepGone(ctx context.Context, c crawl.CrawledPage) (KeptGone, error)
	WishedSelectors(ctx context.Context, age time.Duration, most int) ([]string, error)
}

// Learners have the selectors of a site seen to.
type Learners interface {
	StartLearning(ctx context.Context, domain string) error
}

// Pace are the pauses of the drainer. A zero field has its default; tests
// shorten them.
type Pace struct {
	Lease time.Duration // of a page; 90 s
	Look  time.Duration // between looks for new pages; 1 s
	Run   time.Duration // how long one drain goes on; 4 min
	Again time.Duration // before a page is tried again that could not be read; 30 s
	Idle  time.Duration // how long a drain goes on with nothing to do; all of Run
}

func (p Pace) orDefaults() Pace {
	for field, fallback := range map[*time.Duration]time.Duration{&p.Lease: 90 * time.Second, &p.Look: time.Second, &p.Run: 4 * time.Minute, &p.Again: 30 * time.Second} {
		if *field <= 0 {
			*field = fallback
		}
	}
	if p.Idle <= 0 {
		p.Idle = p.Run
	}
	return p
}

const (
	// batch is how many pages are taken at once.
	batch = 32
	// fatal is how many workers may die with a page in hand before it is given up.
	fatal = 5
	// pulse is how often Temporal hears that a batch is being read.
	pulse = 2 * time.Second
	// wishAge is how long a wish may wait before Temporal is told once more.
	wishAge = time.Minute
)

// Drainer reads what the crawler has stored.
type Drainer struct {
	Store    PageStore
	Reader   *Reader
	Learners Learners
	Pace     Pace
	Parallel int // pages at a time; 0: as many as there are processors
	Meter    Meter
	Log      *slog.Logger
}

// Drained counts what a drain did.
type Drained struct {
	Pages    int // that were read
	Articles int // that were new or changed
	Others   int // pages that are no articles
	Failed   int // pages that cannot be read
	Gone     int // articles whose page is not there any more
	Later    int // pages that could not be read now
}

// Drain reads pages until its time is over or stop is closed. Pages are leased:
// those of a drain that dies are handed out again, and what a page brings is
// stored in the transaction that takes it off the list.
func (d *Drainer) Drain(ctx context.Context, stop <-chan struct{}, beat func(Drained)) (Drained, error) {
	pace := d.Pace.orDefaults()
	if err := d.wishes(ctx); err != nil {
		return Drained{}, err
	}
	var total Drained
	begun, busy := time.Now(), time.Now()
	for time.Since(begun) < pace.Run && time.Since(busy) < pace.Idle && ctx.Err() == nil {
		select {
		case <-stop:
			return total, nil
		default:
		}
		taken, err := d.Store.LeaseCrawledPages(ctx, batch, pace.Lease)
		if err != nil {
			return total, err
		}
		if len(taken) > 0 {
			d.all(ctx, taken, pace, &total, beat)
			busy = time.Now()
		}
		beat(total)
		if len(taken) == batch {
			continue
		}
		select {
		case <-ctx.Done():
		case <-stop:
		case <-time.After(pace.Look):
		}
	}
	return total, ctx.Err()
}

// wishes tells Temporal again of sites whose selectors nobody has seen to.
func (d *Drainer) wishes(ctx context.Context) error {
	domains, err := d.Store.WishedSelectors(ctx, wishAge, batch)
	for _, domain := range domains {
		d.learn(ctx, domain)
	}
	return err
}

func (d *Drainer) learn(ctx context.Context, domain string) {
	if err := d.Learners.StartLearning(ctx, domain); err != nil {
		d.Log.Warn("Temporal was not told; the next run tells it", "domain", domain, "error", err)
	}
}

// all reads a batch, and keeps the lease of what is not read yet.
func (d *Drainer) all(ctx context.Context, taken []crawl.CrawledPage, pace Pace, total *Drained, beat func(Drained)) {
	var mu sync.Mutex
	open := map[int64]bool{}
	for _, c := range taken {
		open[c.ID] = true
	}
	working, done := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticker := time.NewTicker(min(pulse, pace.Lease/3))
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
	parallel := d.Parallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	for range min(parallel, len(taken)) {
		workers.Go(func() {
			for c := range queue {
				one := d.one(ctx, c, pace)
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

func (t *Drained) add(o Drained) {
	t.Pages += o.Pages
	t.Articles += o.Articles
	t.Others += o.Others
	t.Failed += o.Failed
	t.Gone += o.Gone
	t.Later += o.Later
}

// one reads a page. What is wrong with the page is recorded and the page done;
// what is wrong with an engine has it read later.
func (d *Drainer) one(ctx context.Context, c crawl.CrawledPage, pace Pace) Drained {
	if c.Removed {
		return d.gone(ctx, c, pace)
	}
	r, err := d.read(ctx, c)
	var kept Kept
	if err == nil {
		kept, err = d.Store.KeepReading(ctx, r)
	}
	if err != nil {
		return d.later(ctx, c, pace, err)
	}
	if kept.Lost {
		return Drained{}
	}
	d.tell(ctx, r)
	if r.SelectorVersion > 0 && r.SelectorVersion == kept.Version {
		d.Reader.trust.note(c.DomainID, kept, r.Outcome.Found[article.FieldBody])
	}
	if kept.Wish {
		d.learn(ctx, r.Page.Domain)
	}
	out := Drained{Pages: 1}
	switch {
	case r.Failed:
		out.Failed = 1
	case r.Article == nil:
		out.Others = 1
	case kept.New || len(kept.Changed) > 0:
		out.Articles = 1
	}
	return out
}

// later gives a page back that could not be read now.
func (d *Drainer) later(ctx context.Context, c crawl.CrawledPage, pace Pace, why error) Drained {
	if ctx.Err() == nil && why != nil {
		d.Log.Warn("a page is read later", "url_id", c.URLID, "domain_id", c.DomainID, "tries", c.Attempts, "error", why)
	}
	// Also while the worker stops: nobody else need wait for the lease to end.
	if err := d.Store.ReleaseCrawled(context.WithoutCancel(ctx), c, pace.Again); err != nil {
		d.Log.Warn("a page is handed out again when its lease ends", "url_id", c.URLID, "error", err)
	}
	return Drained{Later: 1}
}

// gone marks the articles of a page that is not there any more.
func (d *Drainer) gone(ctx context.Context, c crawl.CrawledPage, pace Pace) Drained {
	kept, err := d.Store.KeepGone(ctx, c)
	if err != nil || kept.Later {
		return d.later(ctx, c, pace, err)
	}
	if kept.Lost {
		return Drained{}
	}
	return Drained{Pages: 1, Gone: kept.Articles}
}

func (d *Drainer) read(ctx context.Context, c crawl.CrawledPage) (Read, error) {
	page, rules, err := d.Store.PageOf(ctx, c)
	if err != nil {
		return Read{}, err
	}
	if c.Attempts > fatal {
		return Read{Page: page, Problem: "workers died reading this page; it is given up", Failed: true}, nil
	}
	r, err := d.Reader.Read(ctx, page, rules)
	if errors.Is(err, blob.ErrNotFound) {
		return Read{Page: page, Problem: "the raw page is not stored any more", Failed: true}, nil
	}
	return r, err
}
