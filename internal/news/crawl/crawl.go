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
	Waiting State = "waiting" // never fetched
	Kept    State = "kept"    // its newest version is stored
	Failed  State = "failed"  // the last fetch came to nothing; it is tried again
	Dead    State = "dead"    // 404, 410 or 451, or failed too often; asked for again after a month
	Refused State = "refused" // by robots.txt, or it leads where the crawler does not go
)

// Status of a seed.
type Status string

// The statuses of seeds.
const (
	Active Status = "active"
	Paused Status = "paused"
)

// Seed is where a workspace wants the crawl to begin.
type Seed struct {
	ID          uuid.UUID
	No          int32 // names it in the frontier
	WorkspaceID uuid.UUID
	DomainID    int32
	Domain      string
	URL         weburl.URL
	Kind        Kind
	Title       string
	Status      Status
	Priority    int // 0 to 100
	Min, Max    time.Duration
	Every       time.Duration // between Min and Max: shorter when something was found
	Rules       Rules
	NextCrawl   time.Time
	LastCrawl   *time.Time
	LastFound   *time.Time
	LastProblem string
	Version     int64
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Rules say what is followed from a seed.
type Rules struct {
	Allow  []string // none: everything on the domain
	Deny   []string
	Depth  int // links away from the seed: 1 is what it links itself
	Budget int // pages a day; 0: as many as the domain may have
}

// Domain is a registered domain with what is known of it.
type Domain struct {
	ID            int32
	Name          string
	PausedAt      *time.Time
	PausedWhy     string
	Epoch         int32
	Rules         weburl.Rules
	Render        bool // pages are shown by a browser before they are stored
	Score         float64
	Response      time.Duration
	Delay         time.Duration // that robots.txt asks for
	NotBefore     *time.Time
	NextDue       *time.Time
	LastCrawl     *time.Time
	DrainingUntil *time.Time
	BudgetUsed    int
	Fetched       int64
	Stored        int64
	Unchanged     int64
	Failed        int64
	Timeouts      int64
	Refused       int64
	Bytes         int64
	CreatedAt     time.Time
}

// Queue counts the URLs of a domain in one state.
type Queue struct {
	State  State
	URLs   int64
	Due    int64
	Leased int64
}

// Answer counts the URLs of a domain whose last answer had a status.
type Answer struct {
	Status int
	URLs   int64
}

// News is what a domain brought in the last week, as far as it was read.
type News struct {
	Articles   int64
	Duplicates int64 // that say the same as another article, of this site or another
	// Of those that came out while the site was watched, and tell when: how long
	// after that the crawl found them.
	Timed    int64
	Late     int64 // found after more than 30 minutes
	P50, P95 time.Duration
}

// Problem is a URL whose last fetch came to nothing.
type Problem struct {
	URL    string
	State  State
	Status int    // of the last answer; 0: none
	Why    string // a sentence for people
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
	SeedNo       int32 // 0: none
	Tries        int
	Every        time.Duration
	FoundAt      time.Time
	LastStatus   int
	ETag         string
	LastModified string
	ContentHash  string
	SimHash      int64
	RawHash      string
	Canonical    string // that a page with parameters in its URL gives; empty: none
}

// Found is a URL that a page names and that is to be known.
type Found struct {
	DomainID int32
	URL      weburl.URL
	Kind     Kind
	Rank     int
	Depth    int
	SeedNo   int32
	Every    time.Duration
}

// Name names a URL with its domain.
type Name struct {
	Domain int32
	ID     uuid.UUID
}

// Lease asks for URLs of one domain to fetch.
type Lease struct {
	Domain Domain
	ID     uuid.UUID
	Most   int
	TTL    time.Duration
	Budget int           // pages of the domain a day; 0: as many as there are
	Idle   time.Duration // that URLs rest which no active seed wants
}

// ID names a URL in the frontier.
func ID(u weburl.URL) uuid.UUID { return uuid.UUID(u.Hash()) }

// Version is a fetch that brought something new.
type Version struct {
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

// Key is where a version lies in the object store. The name is the content's;
// it lies under its URL so that a sweep that holds the URL's row can tell that
// nobody else needs the object.
func Key(domain string, url uuid.UUID, rawHash string) string {
	return "pages/" + domain + "/" + url.String() + "/" + rawHash + ".zst"
}

// Fetched is what became of one leased URL, to be recorded at once.
type Fetched struct {
	URL       URL
	Never     bool          // it is not due any more
	DueIn     time.Duration // until it is fetched again
	Changed   bool
	Version   *Version // nil: nothing new is to be kept
	ObjectKey string
	First     bool      // the first version of an article
	Published time.Time // of an article that came out while its site was watched; zero: not, or unknown
	Gone      time.Time // when the page of a stored article was not there any more; zero: it is
	MovedTo   uuid.UUID // the page of the site that it leads to then; Nil: none
	Found     []Found

	// For the domain's figures.
	Requests int
	Bytes    int64
	Response time.Duration
	Timeout  bool
	Failed   bool
	Problem  string // why it came to nothing, a sentence for people; empty: it did not
}

// Crawled is a stored page that waits to be parsed.
type Crawled struct {
	ID        int64
	DomainID  int32
	URLID     uuid.UUID
	URL       string
	ObjectKey string
	FetchedAt time.Time
	FoundAt   time.Time
	First     bool
	Gone      bool      // it is not there any more, and there is nothing to parse
	MovedTo   uuid.UUID // the page of the site that it leads to then; Nil: none
	Tries     int
}
