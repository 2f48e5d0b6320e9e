// Package crawler crawls one domain at a time: it leases URLs that are due,
// fetches them under the site's politeness rules, stores changed pages, adds
// their links to the frontier, and records the results.
//
// It is safe to crash at any point. Leased URLs become due again when their
// lease expires. The request slot of a domain stays taken until an in-flight
// request would have timed out. A page that was stored but not recorded is
// fetched again.
package crawler

import (
	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/batch"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/robots"
	"dateline/internal/news/crawl/weburl"
)

// DomainStore leases domains to workers.
type DomainStore interface {
	LeaseDomain(ctx context.Context, domain string, ttl time.Duration) (d crawl.Domain, leased bool, err error)
	RenewDomainLease(ctx context.Context, d crawl.Domain, ttl time.Duration) (active bool, err error)
	ReleaseDomain(ctx context.Context, domain int) (nextDue *time.Time, err error)
	BlockDomain(ctx context.Context, domain int, wait time.Duration) error
	SetCrawlDelay(ctx context.Context, domain int, delay time.Duration) error
}

// URLStore is the frontier: the URLs of all domains.
type URLStore interface {
	LeaseURLs(ctx context.Context, r crawl.LeaseRequest) ([]crawl.URL, error)
	RenewLeases(ctx context.Context, domain int, lease uuid.UUID, ids []uuid.UUID, ttl time.Duration) error
	ReleaseLeases(ctx context.Context, domain int, lease uuid.UUID, ids []uuid.UUID, wait time.Duration) error
	NextDueIn(ctx context.Context, domain int) (wait time.Duration, never bool, err error)
	AddURLs(ctx context.Context, urls []crawl.DiscoveredURL) (added map[uuid.UUID]bool, err error)
	// RefreshURLs makes stored articles due that were updated since they were fetched.
	RefreshURLs(ctx context.Context, domain int, updated []crawl.UpdatedURL) (refreshed int, err error)
	ListSections(ctx context.Context, domain int) ([]string, error)
}

// SeedStore reads the seeds of a domain and records their crawls.
type SeedStore interface {
	ListActiveSeeds(ctx context.Context, domain int) ([]crawl.Seed, error)
	// RecordSeedCrawl records a fetch; the next one is at least minWait away.
	RecordSeedCrawl(ctx context.Context, domain int, url uuid.UUID, found bool, lastError string,
		minWait time.Duration) error
	// SetSeedKind corrects the kind of a hub's seeds.
	SetSeedKind(ctx context.Context, domain int, url uuid.UUID, kind crawl.Kind) error
}

// Subscriptions are those to hubs that feeds name: websub.Subscriptions.
type Subscriptions interface {
	// PushedFeeds returns the feeds of a domain with a subscription.
	PushedFeeds(ctx context.Context, domain int) ([]crawl.PushedFeed, error)
	// NoteHubs subscribes to a hub of a feed, or ends the subscription of a feed that names
	// none any more.
	NoteHubs(ctx context.Context, feed crawl.URLKey, address string, links discover.HubLinks) error
	// Distrust polls a feed at its normal pace again: a poll has found articles that its
	// hub did not deliver.
	Distrust(ctx context.Context, feed crawl.URLKey) error
}

// RuleStore stores what was learned about the URL parameters of a domain.
type RuleStore interface {
	ListObservations(ctx context.Context, domain int, limit int) ([]weburl.Observation, error)
	UpdateURLRules(ctx context.Context, domain crawl.Domain, rules weburl.Rules) error
}

// RequestSlots enforce politeness across all workers.
type RequestSlots interface {
	// AcquireSlot takes an exclusive slot. It expires after ttl.
	AcquireSlot(ctx context.Context, key string, holder uuid.UUID, ttl time.Duration) (acquired bool,
		wait time.Duration, err error)
	// ReleaseSlot frees a slot after a pause.
	ReleaseSlot(ctx context.Context, key string, holder uuid.UUID, pause time.Duration) error
	// ReserveSlot reserves the next free time of a slot with a rate limit of one
	// request per spacing. ok is false if that is further away than maxWait.
	ReserveSlot(ctx context.Context, key string, spacing, maxWait time.Duration) (wait time.Duration, ok bool,
		err error)
}

// Fetcher makes requests.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request) (*fetch.Result, error)
}

// Resolver looks up the addresses of a host in a cache.
type Resolver interface {
	Lookup(ctx context.Context, host string) (addresses []netip.Addr, ttl time.Duration, err error)
}

// Verdict is what a robots.txt says about a URL.
type Verdict struct {
	Allowed           bool
	RobotsUnreachable bool          // not allowed only because robots.txt could not be read
	RobotsStatus      int           // of the response to the last request for robots.txt; 0: none
	RetryAfter        time.Duration // until an unreachable robots.txt is requested again
	Reason            string        // the line that decided
	CrawlDelay        time.Duration
	Sitemaps          []string        // listed in the file
	TDM               *robots.TDMRule // of the site's tdmrep.json; nil: none applies
}

// Robots applies the robots.txt of a URL's origin. It fetches files through
// FetchRobots, with the context that Check was given.
type Robots interface {
	Check(ctx context.Context, u weburl.URL) (Verdict, error)
}

// URLIndex reports which URLs of a domain are new.
type URLIndex interface {
	New(ctx context.Context, domain, epoch int, ids []uuid.UUID) ([]bool, error)
	Remember(ctx context.Context, domain, epoch int, ids []uuid.UUID)
}

// Pages stores raw pages.
type Pages interface {
	Put(ctx context.Context, key string, raw []byte) (stored int, err error)
}

// ParsedPage is what the crawler needs from a page.
type ParsedPage struct {
	Links     []discover.Link
	NoFollow  bool       // the page asks crawlers not to follow its links
	Canonical weburl.URL // rel=canonical of an article; zero: none
	Title     string
	Text      string // of an article, to detect changes
}

// Parser parses fetched pages. memo caches the links of the page's site.
type Parser interface {
	Parse(kind crawl.Kind, res *fetch.Result, rules weburl.Rules, memo *discover.Memo, links bool) (ParsedPage, error)
}

// Limits bound the crawl.
type Limits struct {
	RequestDelay       time.Duration // between a response of a domain and the next request; 0 turns politeness off
	MaxRobotsDelay     time.Duration // highest Crawl-delay that is honored
	IPDelay            time.Duration // between two requests to an IP address
	FetchTimeout       time.Duration // for one URL with its redirects
	LeaseTTL           time.Duration // after which the URLs of a dead worker are due again
	MaxRetryAfter      time.Duration // longest Retry-After that is honored
	RunTimeout         time.Duration // of one crawl of a domain
	MaxIdleWait        time.Duration // for URLs that are due soon
	BatchSize          int           // URLs leased at once
	Concurrency        int           // parallel requests to a domain when politeness is off
	DailyBudget        int           // pages of a domain per day; 0: unlimited
	MaxSimilarSections int           // sections of a domain whose URLs have the same shape
	// Of fetched pages that wait for storage while other pages of their domains are fetched
	MaxUnstoredBytes int64
}

// DefaultLimits are the limits in production.
func DefaultLimits() Limits {
	return Limits{
		RequestDelay: time.Second, MaxRobotsDelay: 30 * time.Second, IPDelay: 100 * time.Millisecond,
		FetchTimeout: 45 * time.Second, LeaseTTL: 90 * time.Second,
		MaxRetryAfter: 24 * time.Hour, RunTimeout: 4 * time.Minute, MaxIdleWait: 15 * time.Second, BatchSize: 100,
		Concurrency: 1, DailyBudget: 20_000, MaxSimilarSections: 200, MaxUnstoredBytes: 64 << 20,
	}
}

// Crawler crawls domains. It is safe for concurrent use.
type Crawler struct {
	Domains  DomainStore
	URLs     URLStore
	Seeds    SeedStore
	Rules    RuleStore
	Slots    RequestSlots
	Fetcher  Fetcher
	Resolver Resolver // nil: there is no rate limit per IP address
	Robots   Robots
	Parser   Parser
	URLIndex URLIndex
	Pages    Pages
	// Subscriptions are nil if WebSub is off.
	Subscriptions Subscriptions
	// Record records a fetch and reports whether the lease was still valid.
	Record func(ctx context.Context, f crawl.FetchRecord) (recorded bool, err error)
	Policy crawl.RevisitPolicy
	Limits Limits
	Log    *slog.Logger

	unstoredBytes atomic.Int64 // see Limits.MaxUnstoredBytes
}

// Result summarizes the crawl of a domain.
type Result struct {
	Fetched int // URLs fetched
	Stored  int // new versions
	Found   int // URLs added to the frontier
	// Paused means that the domain is paused or unknown, or that its frontier was
	// emptied during the crawl.
	Paused bool
	// NextDue is when the next URL of the domain is due; nil: never.
	NextDue *time.Time
}

// Crawl fetches the due URLs of a domain until none are left, its time is up,
// stop is closed, or the domain is paused. It calls heartbeat at regular
// intervals.
func (c *Crawler) Crawl(
	ctx context.Context, domain string, stop <-chan struct{}, heartbeat func(Result),
) (Result, error) {
	dom, leased, err := c.Domains.LeaseDomain(ctx, domain, c.Limits.LeaseTTL)
	if err != nil || !leased {
		return Result{Paused: !leased}, err
	}
	seeds, err := c.Seeds.ListActiveSeeds(ctx, dom.ID)
	if err != nil {
		return Result{}, err
	}
	r := newRun(c, dom, seeds)
	if err := r.loadSubscriptions(ctx); err != nil {
		return Result{}, err
	}
	err = r.crawl(ctx, stop, heartbeat)
	// The leases are released even after ctx has ended.
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	r.releaseUnfetched(cleanup)
	r.learnURLRules(cleanup)
	next, releaseErr := c.Domains.ReleaseDomain(cleanup, dom.ID)
	if err == nil {
		err = releaseErr
	}
	out := r.result()
	out.NextDue = next
	return out, err
}

// Batching of fetch records: one statement over 32 partitions costs enough to
// wait for other records, and nothing waits for the record of a page.
const (
	recordDelay     = 80 * time.Millisecond
	recordBatchSize = 400
	recorderCount   = 2
)

// NewRecorder returns a Crawler.Record that writes many fetches in one
// transaction. It stops with ctx.
func NewRecorder(
	ctx context.Context, record func(context.Context, []crawl.FetchRecord) ([]bool, error),
) func(context.Context, crawl.FetchRecord) (bool, error) {
	return batch.NewWithDelay(ctx, recordDelay, recordBatchSize, recorderCount, record).Do
}
