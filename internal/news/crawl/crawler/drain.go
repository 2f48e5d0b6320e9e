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
	BeginDrain(ctx context.Context, domain string, ttl time.Duration) (crawl.Domain, bool, error)
	RenewDrain(ctx context.Context, d crawl.Domain, ttl time.Duration) (goOn bool, err error)
	EndDrain(ctx context.Context, domain int32) (*time.Time, error)
	DueIn(ctx context.Context, domain int32) (wait time.Duration, never bool, err error)
	LeaseURLs(ctx context.Context, l crawl.Lease) ([]crawl.URL, error)
	RenewLeases(ctx context.Context, domain int32, lease uuid.UUID, ids []uuid.UUID, ttl time.Duration) error
	ReleaseLeases(ctx context.Context, domain int32, lease uuid.UUID, ids []uuid.UUID, wait time.Duration) error
	SeedsOfDomain(ctx context.Context, domain int32) ([]crawl.Seed, error)
	SeedsCrawled(ctx context.Context, domain int32, url uuid.UUID, found bool, problem string) error
	AddURLs(ctx context.Context, found []crawl.Found) (map[uuid.UUID]bool, error)
	SectionsOfDomain(ctx context.Context, domain int32) ([]string, error)
	BlockDomain(ctx context.Context, domain int32, wait time.Duration) error
	SetDelay(ctx context.Context, domain int32, delay time.Duration) error
	Observations(ctx context.Context, domain int32, most int) ([]weburl.Observation, error)
	LearnRules(ctx context.Context, domain crawl.Domain, rules weburl.Rules) error
}

// Gates hold requests back, for all workers together.
type Gates interface {
	TakeGate(ctx context.Context, key string, holder uuid.UUID, hold time.Duration) (taken bool, wait time.Duration, err error)
	ReleaseGate(ctx context.Context, key string, holder uuid.UUID, pause time.Duration) error
	ReserveGate(ctx context.Context, key string, spacing, most time.Duration) (wait time.Duration, ok bool, err error)
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
	Allowed  bool
	Later    bool   // refused only because the robots.txt could not be read
	Why      string // the line that decided
	Delay    time.Duration
	Sitemaps []string // that it names
}

// Robots answers for the robots.txt of a URL's origin. What it has to fetch for
// that it fetches through FetchRobots, with the context that Check was given.
type Robots interface {
	Check(ctx context.Context, u weburl.URL) (Verdict, error)
}

// Known says which URLs of a domain are new.
type Known interface {
	New(ctx context.Context, domain, epoch int32, ids []uuid.UUID) ([]bool, error)
	Remember(ctx context.Context, domain, epoch int32, ids []uuid.UUID)
}

// Pages stores raw pages.
type Pages interface {
	Put(ctx context.Context, key string, raw []byte) (stored int, err error)
}

// Finds are what a page names.
type Finds struct {
	Links    []discover.Link
	NoFollow bool // it asks that its links are not followed
	// Canonical is the URL that an article gives itself; zero: none.
	Canonical weburl.URL
	Title     string
	Text      string // of an article, as far as it matters for telling changes
}

// Finder reads pages. memo remembers the links of the site that a page is of.
type Finder interface {
	Find(kind crawl.Kind, res *fetch.Result, rules weburl.Rules, memo *discover.Memo, links bool) (Finds, error)
}

// Limits bound the crawl.
type Limits struct {
	Delay    time.Duration // between an answer of a domain and the next request; 0 lifts politeness
	MaxDelay time.Duration // that a robots.txt may ask for
	IPDelay  time.Duration // between two requests to one address
	Fetch    time.Duration // one URL with its redirects
	Lease    time.Duration // after which a dead worker's URLs are due again
	Block    time.Duration // the longest that a Retry-After is obeyed
	Run      time.Duration // one drain
	Linger   time.Duration // that a drain waits for what is due soon, rather than end and be started again
	Batch    int           // URLs leased at once
	Parallel int           // requests to a domain at once, where politeness is lifted
	Budget   int           // pages of a domain a day; 0: no limit
	Alike    int           // sections of a domain whose URLs have one shape
}

// StandardLimits is what production runs by.
func StandardLimits() Limits {
	return Limits{Delay: time.Second, MaxDelay: 30 * time.Second, IPDelay: 100 * time.Millisecond, Fetch: 45 * time.Second, Lease: 90 * time.Second,
		Block: 24 * time.Hour, Run: 4 * time.Minute, Linger: 15 * time.Second, Batch: 100, Parallel: 1, Budget: 20_000, Alike: 200}
}

// Drainer drains domains. It is safe for concurrent use.
type Drainer struct {
	Store    Store
	Gates    Gates
	Fetcher  Fetcher
	Resolver Resolver // nil: requests are not held back by address
	Robots   Robots
	Finder   Finder
	Known    Known
	Pages    Pages
	// Record writes what became of a fetch, and says whether it still counted.
	Record func(ctx context.Context, f crawl.Fetched) (held bool, err error)
	Pace   crawl.Pace
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

// Drain fetches what is due of a domain until nothing is, its time is up, stop
// is closed or the domain is paused. It beats while it goes on.
func (d *Drainer) Drain(ctx context.Context, domain string, stop <-chan struct{}, beat func(Result)) (Result, error) {
	dom, drains, err := d.Store.BeginDrain(ctx, domain, d.Limits.Lease)
	if err != nil || !drains {
		return Result{Paused: !drains}, err
	}
	seeds, err := d.Store.SeedsOfDomain(ctx, dom.ID)
	if err != nil {
		return Result{}, err
	}
	r := newRun(d, dom, seeds)
	err = r.drain(ctx, stop, beat)
	// Also when ctx has ended: what was leased and not fetched is given back.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	r.giveBack(ending)
	r.learn(ending)
	next, ended := d.Store.EndDrain(ending, dom.ID)
	if err == nil {
		err = ended
	}
	out := r.result()
	out.NextDue = next
	return out, err
}
