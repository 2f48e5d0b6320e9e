// Package pipeline makes articles of the pages that the crawler stored: it reads
// them by the selectors of their site, watches how well those do, has them
// learned anew, and keeps what was read. How one page is read is the matter of
// internal/news/article; what is known is the matter of internal/storage/postgres.
package pipeline

import (
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/article"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
)

// Entry is an article as a list shows it.
type Entry struct {
	ID        uuid.UUID
	DomainID  int32
	Domain    string
	URL       string // where it was read
	Canonical string
	Title     string
	Authors   []string
	Published *time.Time
	Updated   *time.Time // by the publisher
	DateOnly  bool
	FirstSeen time.Time
	Dated     time.Time // published, as far as that is known, else first seen
	Lead      string
	Image     string
	Section   string
	Tags      []string
	Language  string
	Site      string
	Group     uuid.UUID // the same for near-duplicates
	Version   int64
	ChangedAt time.Time  // here
	Gone      *time.Time // since when its page is not there any more; nil: it is
}

// Stored is an article with all that is known of it.
type Stored struct {
	Entry
	Text            string
	HTML            string
	Origins         map[article.Field]article.Origin
	ContentHash     string
	SimHash         int64
	ObjectKey       string
	FetchedAt       time.Time
	SelectorVersion int
}

// Revision is a version of an article, in short.
type Revision struct {
	Version         int64
	SeenAt          time.Time
	Changed         []string // fields that differ from the version before; none: the first
	Title           string
	ContentHash     string
	SelectorVersion int
	Characters      int
}

// Full is a version of an article with its content.
type Full struct {
	Revision
	Authors   []string
	Published *time.Time
	Updated   *time.Time
	Lead      string
	Text      string
	Image     string
	Section   string
	Tags      []string
	ObjectKey string
}

// Similar is another article of the same story.
type Similar struct {
	Entry
	Distance int // bits that their SimHashes differ in
}

// Window is what a list of articles asks for.
type Window struct {
	Workspace uuid.UUID
	Domain    string // empty: all that the workspace sees
	Gone      bool   // those whose pages are not there any more; else those whose pages are
	From, To  time.Time
	Before    time.Time // the cursor: articles before this one
	BeforeID  uuid.UUID
	Limit     int
}

// Page is a stored page with how it was served.
type Page struct {
	crawl.CrawledPage
	Domain      string
	Final       string // where redirects led
	ContentType string
}

// Read is what came of reading a page.
type Read struct {
	Page    Page
	Article *article.Article // nil: the page has none
	Problem string           // why it has none
	Failed  bool             // it could not be read at all

	Place     uuid.UUID // names the canonical URL
	Canonical string
	Content   string // SHA-256 of title and text
	SimHash   int64

	SelectorVersion int
	Outcome         selector.Outcome
}

// Kept says what became of an article in the database.
type Kept struct {
	Lost    bool // somebody else has read the page meanwhile
	Article uuid.UUID
	New     bool
	Changed []string // content fields
	Pages   int      // that the version of the selectors in use has read
	Version int      // of the selectors in use
	Wish    bool     // something is to be done about the selectors
}

// KeptGone says what became of the articles of a page that is not there any more.
type KeptGone struct {
	Lost     bool // somebody else has seen to it meanwhile
	Later    bool // the page waits to be read as it was before
	Articles int  // that are marked
}

// Site is how the pages of a site are read.
type Site struct {
	DomainID int32           `json:"domain_id"`
	Domain   string          `json:"domain"`
	Zone     string          `json:"zone,omitempty"`
	Version  int             `json:"version,omitempty"` // 0: it has no selectors
	Config   selector.Config `json:"config,omitzero"`
}

// Maker says who made a version of selectors.
type Maker string

// The makers.
const (
	Learned Maker = "learned"
	Person  Maker = "person"
	Model   Maker = "model" // learned, with fields that a language model found
)

// State is what became of a version of selectors.
type State string

// The states.
const (
	Candidate  State = "candidate"
	Active     State = "active"
	Retired    State = "retired"
	RolledBack State = "rolled_back"
)

// Selectors are a version of a site's selectors.
type Selectors struct {
	DomainID    int32
	Version     int
	Config      selector.Config
	Maker       Maker
	By          string // user:<id> of a person
	State       State
	Reason      string // why it was made
	Ended       string // why it is not in use any more
	Scores      map[article.Field]float64
	Pages       int
	CreatedAt   time.Time
	ActivatedAt *time.Time
	EndedAt     *time.Time
}

// Health is how the reading of a site goes.
type Health struct {
	Monitor       selector.Monitor
	Zone          string
	Learning      bool
	Wish          selector.Action
	WishField     article.Field
	WishWhy       string
	WishAt        *time.Time
	Pages         int64
	Articles      int64
	Others        int64
	Failed        int64
	LastProblem   string
	LastProblemAt *time.Time
}

// Raw names a page to learn from, or to try selectors on.
type Raw struct {
	Article   uuid.UUID
	URL       string
	PageID    uuid.UUID
	ObjectKey string
	FetchedAt time.Time
}
