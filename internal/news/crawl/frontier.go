package crawl

import (
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl/weburl"
)

// URL is a leased row of the frontier.
type URL struct {
	DomainID     int
	ID           uuid.UUID
	Lease        uuid.UUID
	URL          string
	Kind         Kind
	State        State
	Rank         int
	Depth        int
	SeedNumber   int // 0: none
	Attempts     int
	Interval     time.Duration
	FoundAt      time.Time
	LastStatus   int
	ETag         string
	LastModified string
	ContentHash  string
	SimHash      int64
	RawHash      string
	Canonical    string // rel=canonical, only of pages with parameters in their URL
}

// DiscoveredURL is a link that is to be added to the frontier.
type DiscoveredURL struct {
	DomainID   int
	URL        weburl.URL
	Kind       Kind
	Rank       int
	Depth      int
	SeedNumber int
	Interval   time.Duration
}

// URLKey identifies a URL in the frontier.
type URLKey struct {
	DomainID int
	ID       uuid.UUID
}

// UpdatedURL is an article that was updated at a time, as its feed states.
type UpdatedURL struct {
	ID uuid.UUID
	At time.Time
}

// LeaseRequest describes the URLs of a domain that a worker wants to fetch.
type LeaseRequest struct {
	Domain      Domain
	LeaseID     uuid.UUID
	Limit       int
	TTL         time.Duration
	DailyBudget int           // pages of the domain per day; 0: unlimited
	IdleDelay   time.Duration // postpones URLs without an active seed
}

// PageVersion is a stored version of a page.
type PageVersion struct {
	DomainID    int
	URLID       uuid.UUID
	URL         string
	FetchedAt   time.Time
	Status      int
	Bytes       int
	StoredBytes int
	Kind        Kind
	RawHash     string
	FinalURL    string
	Header      map[string][]string // stored response headers
}

// ObjectKey is the key of a page version in the object store. It contains the
// content hash, so that equal versions share one object, and the URL, so that
// the process that locks the URL's row can delete the object safely.
func ObjectKey(domain string, url uuid.UUID, rawHash string) string {
	return "pages/" + domain + "/" + url.String() + "/" + rawHash + ".zst"
}

// FetchRecord is the result of fetching one leased URL, recorded in one
// transaction.
type FetchRecord struct {
	URL            URL
	Unscheduled    bool          // the URL is not fetched again on its own
	DueIn          time.Duration // until the next fetch
	Changed        bool
	Version        *PageVersion // nil: there is no new version
	ObjectKey      string
	IsFirstVersion bool
	PublishedAt    time.Time // of an article published after its domain was added; zero: otherwise
	RemovedAt      time.Time // when a stored article was found to be removed; zero: it was not
	MovedTo        uuid.UUID // the page of the site that the URL now redirects to; Nil: none

	// For the domain's counters.
	Requests     int
	Bytes        int64
	ResponseTime time.Duration
	TimedOut     bool
	Failed       bool
	Error        string // why the fetch failed, for users; empty: it did not
}

// CrawledPage is a stored page in the queue for extraction.
type CrawledPage struct {
	ID             int64
	DomainID       int
	URLID          uuid.UUID
	URL            string
	ObjectKey      string
	FetchedAt      time.Time
	FoundAt        time.Time
	IsFirstVersion bool
	Removed        bool      // the page was removed from its site; there is nothing to extract
	MovedTo        uuid.UUID // the page of the site that a removed page redirects to; Nil: none
	Attempts       int
}
