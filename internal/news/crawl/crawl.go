// Package crawl holds the words of the crawler: seeds, domains, and the URLs of
// the frontier. How a page is fetched and what is found on it is the matter of
// the packages below; what is known is the matter of internal/storage/postgres.
package crawl

import (
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl/weburl"
)

// Kind is what a URL leads to.
type Kind string

// The kinds. All but Article are hubs: they are fetched again and again for what
// they link.
const (
	Home    Kind = "home"
	Section Kind = "section"
	Feed    Kind = "feed"
	Sitemap Kind = "sitemap"
	Article Kind = "article"
)

// Hub says whether a URL is fetched for its links.
func (k Kind) Hub() bool { return k != Article }

// State is what became of a URL.
type State string

// The states.
const (
	Pending  State = "waiting" // never fetched
	Stored   State = "kept"    // its newest version is stored
	Failed   State = "failed"  // the last fetch came to nothing; it is tried again
	Dead     State = "dead"    // 404, 410 or 451, or failed too often; asked for again after a month
	Excluded State = "refused" // by robots.txt, or it leads where the crawler does not go
)

// SeedStatus of a seed.
type SeedStatus string

// The statuses of seeds.
const (
	Active SeedStatus = "active"
	Paused SeedStatus = "paused"
)

// Seed is where a workspace wants the crawl to begin.
type Seed struct {
	ID                       uuid.UUID
	Number                   int32 // names it in the frontier
	WorkspaceID              uuid.UUID
	DomainID                 int32
	Domain                   string
	URL                      weburl.URL
	Kind                     Kind
	Title                    string
	Status                   SeedStatus
	Priority                 int // 0 to 100
	MinInterval, MaxInterval time.Duration
	Interval                 time.Duration // between Min and Max: shorter when something was found
	Rules                    Rules
	NextCrawl                time.Time
	LastCrawl                *time.Time
	LastFound                *time.Time
	LastError                string
	Version                  int64
	CreatedAt                time.Time
	UpdatedAt                time.Time
}

// Rules say what is followed from a seed.
type Rules struct {
	Allow       []string // none: everything on the domain
	Deny        []string
	MaxDepth    int // links away from the seed: 1 is what it links itself
	DailyBudget int // pages a day; 0: as many as the domain may have
}

// Domain is a registered domain with what is known of it.
type Domain struct {
	ID           int32
	Name         string
	PausedAt     *time.Time
	PauseReason  string
	Epoch        int32
	Rules        weburl.Rules
	Render       bool // pages are shown by a browser before they are stored
	Score        float64
	ResponseTime time.Duration
	CrawlDelay   time.Duration // that robots.txt asks for
	NotBefore    *time.Time
	NextDue      *time.Time
	LastCrawl    *time.Time
	LeasedUntil  *time.Time
	BudgetUsed   int
	Fetched      int64
	Stored       int64
	Unchanged    int64
	Failed       int64
	Timeouts     int64
	Refused      int64
	Bytes        int64
	CreatedAt    time.Time
}

// StateCount counts the URLs of a domain in one state.
type StateCount struct {
	State  State
	URLs   int64
	Due    int64
	Leased int64
}

// StatusCount counts the URLs of a domain whose last answer had a status.
type StatusCount struct {
	Status int
	URLs   int64
}

// WeeklyStats is what a domain brought in the last week, as far as it was read.
type WeeklyStats struct {
	Articles   int64
	Duplicates int64 // that say the same as another article, of this site or another
	// Of those that came out while the site was watched, and tell when: how long
	// after that the crawl found them.
	Measured int64
	Late     int64 // found after more than 30 minutes
	P50, P95 time.Duration
}

// FetchError is a URL whose last fetch came to nothing.
type FetchError struct {
	URL    string
	State  State
	Status int    // of the last answer; 0: none
	Reason string // a sentence for people
	At     *time.Time
}

// URL is a row of the frontier that somebody holds the lease of.
type URL struct {
	DomainID     int32
	ID           uuid.UUID
	Lease        uuid.UUID
	URL          string
	Kind         Kind
	State        State
	Rank         int
	Depth        int
	SeedNumber   int32 // 0: none
	Attempts     int
	Interval     time.Duration
	FoundAt      time.Time
	LastStatus   int
	ETag         string
	LastModified string
	ContentHash  string
	SimHash      int64
	RawHash      string
	Canonical    string // that a page with parameters in its URL gives; empty: none
}

// DiscoveredURL is a URL that a page names and that is to be known.
type DiscoveredURL struct {
	DomainID   int32
	URL        weburl.URL
	Kind       Kind
	Rank       int
	Depth      int
	SeedNumber int32
	Interval   time.Duration
}

// URLKey names a URL with its domain.
type URLKey struct {
	DomainID int32
	ID       uuid.UUID
}

// LeaseRequest asks for URLs of one domain to fetch.
type LeaseRequest struct {
	Domain      Domain
	LeaseID     uuid.UUID
	Limit       int
	TTL         time.Duration
	DailyBudget int           // pages of the domain a day; 0: as many as there are
	IdleDelay   time.Duration // that URLs rest which no active seed wants
}

// URLID names a URL in the frontier.
func URLID(u weburl.URL) uuid.UUID { return uuid.UUID(u.Hash()) }

// PageVersion is a fetch that brought something new.
type PageVersion struct {
	DomainID    int32
	URLID       uuid.UUID
	URL         string
	FetchedAt   time.Time
	Status      int
	Bytes       int
	StoredBytes int
	Kind        Kind
	RawHash     string
	FinalURL    string
	Header      map[string][]string // of the answer, as far as it is kept
}

// ObjectKey is where a version lies in the object store. The name is the content's;
// it lies under its URL so that a sweep that holds the URL's row can tell that
// nobody else needs the object.
func ObjectKey(domain string, url uuid.UUID, rawHash string) string {
	return "pages/" + domain + "/" + url.String() + "/" + rawHash + ".zst"
}

// FetchRecord is what became of one leased URL, to be recorded at once.
type FetchRecord struct {
	URL            URL
	Unscheduled    bool          // it is not due any more
	DueIn          time.Duration // until it is fetched again
	Changed        bool
	Version        *PageVersion // nil: nothing new is to be kept
	ObjectKey      string
	IsFirstVersion bool      // the first version of an article
	PublishedAt    time.Time // of an article that came out while its site was watched; zero: not, or unknown
	RemovedAt      time.Time // when the page of a stored article was not there any more; zero: it is
	MovedTo        uuid.UUID // the page of the site that it leads to then; Nil: none
	Discovered     []DiscoveredURL

	// For the domain's figures.
	Requests     int
	Bytes        int64
	ResponseTime time.Duration
	TimedOut     bool
	Failed       bool
	Error        string // why it came to nothing, a sentence for people; empty: it did not
}

// CrawledPage is a stored page that waits to be parsed.
type CrawledPage struct {
	ID             int64
	DomainID       int32
	URLID          uuid.UUID
	URL            string
	ObjectKey      string
	FetchedAt      time.Time
	FoundAt        time.Time
	IsFirstVersion bool
	Removed        bool      // it is not there any more, and there is nothing to parse
	MovedTo        uuid.UUID // the page of the site that it leads to then; Nil: none
	Attempts       int
}
