// Package crawler empties the queue of one domain: it leases URLs that are due,
// fetches them as politely as was asked, stores what they brought, adds what
// they name to the frontier, and records all of it before it forgets it.
//
// It may die at any point. What it had leased becomes due again; what it had
// begun to fetch keeps its domain's gate closed until that request would have
// run out of time; what it had stored and not recorded is fetched once more.
package crawler

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/weburl"
)

// Store is the frontier.
type Store interface {
	LeaseDomain(ctx context.Context, domain string, ttl time.Duration) (crawl.Domain, bool, error)
	RenewDomainLease(ctx context.Context, d crawl.Domain, ttl time.Duration) (goOn bool, err error)
	ReleaseDomain(ctx context.Context, domain int32) (*time.Time, error)
	NextDueIn(ctx context.Context, domain int32) (wait time.Duration, never bool, err error)
	LeaseURLs(ctx context.Context, l crawl.LeaseRequest) ([]crawl.URL, error)
	RenewLeases(ctx context.Context, domain int32, lease uuid.UUID, ids []uuid.UUID, ttl time.Duration) error
	ReleaseLeases(ctx context.Context, domain int32, lease uuid.UUID, ids []uuid.UUID, wait time.Duration) error
	ListActiveSeeds(ctx context.Context, domain int32) ([]crawl.Seed, error)
	RecordSeedCrawl(ctx context.Context, domain int32, url uuid.UUID, found bool, problem string) error
	AddURLs(ctx context.Context, found []crawl.DiscoveredURL) (map[uuid.UUID]bool, error)
	ListSections(ctx context.Context, domain int32) ([]string, error)
	BlockDomain(ctx context.Context, domain int32, wait time.Duration) error
	SetCrawlDelay(ctx context.Context, domain int32, delay time.Duration) error
	ListObservations(ctx context.Context, domain int32, most int) ([]weburl.Observation, error)
	UpdateURLRules(ctx context.Context, domain crawl.Domain, rules weburl.Rules) error
}

// RequestSlots hold requests back, for all workers together.
type RequestSlots interface {
	AcquireSlot(ctx context.Context, key string, holder uuid.UUID, hold time.Duration) (taken bool, wait time.Duration, err error)
	ReleaseSlot(ctx context.Context, key string, holder uuid.UUID, pause time.Duration) error
	ReserveSlot(ctx context.Context, key string, spacing, most time.Duration) (wait time.Duration, ok bool, err error)
}

// Fetcher gets pages.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request) (*fetch.Result, error)
}

// Resolver tells the addresses of a host, from a cache.
type Resolver interface {
	Lookup(ctx context.Context, host string) (addresses []netip.Addr, ttl time.Duration, err error)
}

// Verdict is what a robots.txt says of a URL.
type Verdict struct {
	Allowed           bool
	RobotsUnreachable bool   // refused only because the robots.txt could not be read
	Reason            string // the line that decided
	CrawlDelay        time.Duration
	Sitemaps          []string // that it names
}

// Robots answers for the robots.txt of a URL's origin. What it has to fetch for
// that it fetches through FetchRobots, with the context that Check was given.
type Robots interface {
	Check(ctx context.Context, u weburl.URL) (Verdict, error)
}

// URLIndex says which URLs of a domain are new.
type URLIndex interface {
	New(ctx context.Context, domain, epoch int32, ids []uuid.UUID) ([]bool, error)
	Remember(ctx context.Context, domain, epoch int32, ids []uuid.UUID)
}

// Pages stores raw pages.
type Pages interface {
	Put(ctx context.Context, key string, raw []byte) (stored int, err error)
}

// ParsedPage are what a page names.
type ParsedPage struct {
	Links    []discover.Link
	NoFollow bool // it asks that its links are not followed
	// Canonical is the URL that an article gives itself; zero: none.
	Canonical weburl.URL
	Title     string
	Text      string // of an article, as far as it matters for telling changes
}

// Parser reads pages. memo remembers the links of the site that a page is of.
type Parser interface {
	Parse(kind crawl.Kind, res *fetch.Result, rules weburl.Rules, memo *discover.Memo, links bool) (ParsedPage, error)
}

// Limits bound the crawl.
type Limits struct {
	RequestDelay       time.Duration // between an answer of a domain and the next request; 0 lifts politeness
	MaxRobotsDelay     time.Duration // that a robots.txt may ask for
	IPDelay            time.Duration // between two requests to one address
	FetchTimeout       time.Duration // one URL with its redirects
	LeaseTTL           time.Duration // after which a dead worker's URLs are due again
	MaxRetryAfter      time.Duration // the longest that a Retry-After is obeyed
	RunTimeout         time.Duration // one drain
	MaxIdleWait        time.Duration // that a drain waits for what is due soon, rather than end and be started again
	BatchSize          int           // URLs leased at once
	Concurrency        int           // requests to a domain at once, where politeness is lifted
	DailyBudget        int           // pages of a domain a day; 0: no limit
	MaxSimilarSections int           // sections of a domain whose URLs have one shape
}

// DefaultLimits is what production runs by.
func DefaultLimits() Limits {
	return Limits{RequestDelay: time.Second, MaxRobotsDelay: 30 * time.Second, IPDelay: 100 * time.Millisecond, FetchTimeout: 45 * time.Second, LeaseTTL: 90 * time.Second,
		MaxRetryAfter: 24 * time.Hour, RunTimeout: 4 * time.Minute, MaxIdleWait: 15 * time.Second, BatchSize: 100, Concurrency: 1, DailyBudget: 20_000, MaxSimilarSections: 200}
}

// Crawler drains domains. It is safe for concurrent use.
type Crawler struct {
	Store    Store
	Slots    RequestSlots
	Fetcher  Fetcher
	Resolver Resolver // nil: requests are not held back by address
	Robots   Robots
	Parser   Parser
	URLIndex URLIndex
	Pages    Pages
	// Record writes what became of a fetch, and says whether it still counted.
	Record func(ctx context.Context, f crawl.FetchRecord) (held bool, err error)
	Policy crawl.RevisitPolicy
	Limits Limits
	Log    *slog.Logger
}

// Result is what a drain did.
type Result struct {
	Fetched int // URLs that were asked for
	Stored  int
	Found   int // URLs that were not known
	// Paused: the domain is paused, unknown or was emptied meanwhile.
	Paused bool
	// NextDue is when the next URL of the domain is due; nil: never.
	NextDue *time.Time
}

// Crawl fetches what is due of a domain until nothing is, its time is up, stop
// is closed or the domain is paused. It beats while it goes on.
func (d *Crawler) Crawl(ctx context.Context, domain string, stop <-chan struct{}, beat func(Result)) (Result, error) {
	dom, drains, err := d.Store.LeaseDomain(ctx, domain, d.Limits.LeaseTTL)
	if err != nil || !drains {
		return Result{Paused: !drains}, err
	}
	seeds, err := d.Store.ListActiveSeeds(ctx, dom.ID)
	if err != nil {
		return Result{}, err
	}
	r := newRun(d, dom, seeds)
	err = r.crawl(ctx, stop, beat)
	// Also when ctx has ended: what was leased and not fetched is given back.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	r.releaseUnfetched(ending)
	r.learnURLRules(ending)
	next, ended := d.Store.ReleaseDomain(ending, dom.ID)
	if err == nil {
		err = ended
	}
	out := r.result()
	out.NextDue = next
	return out, err
}
