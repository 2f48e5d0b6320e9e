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

// ArticleSummary is an article as a list shows it.
type ArticleSummary struct {
	ID           uuid.UUID
	DomainID     int32
	Domain       string
	URL          string // where it was read
	CanonicalURL string
	Title        string
	Authors      []string
	Published    *time.Time
	Updated      *time.Time // by the publisher
	DateOnly     bool
	FirstSeen    time.Time
	SortTime     time.Time // published, as far as that is known, else first seen
	Lead         string
	Image        string
	Section      string
	Tags         []string
	Language     string
	Site         string
	Group        uuid.UUID // the same for near-duplicates
	Version      int64
	ChangedAt    time.Time  // here
	RemovedAt    *time.Time // since when its page is not there any more; nil: it is
}

// StoredArticle is an article with all that is known of it.
type StoredArticle struct {
	ArticleSummary
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

// RevisionContent is a version of an article with its content.
type RevisionContent struct {
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

// SimilarArticle is another article of the same story.
type SimilarArticle struct {
	ArticleSummary
	Distance int // bits that their SimHashes differ in
}

// ArticleQuery is what a list of articles asks for.
type ArticleQuery struct {
	Workspace uuid.UUID
	Domain    string // empty: all that the workspace sees
	Removed   bool   // those whose pages are not there any more; else those whose pages are
	From, To  time.Time
	Before    time.Time // the cursor: articles before this one
	BeforeID  uuid.UUID
	Limit     int
}

// Page is a stored page with how it was served.
type Page struct {
	crawl.Crawled
	Domain      string
	FinalURL    string // where redirects led
	ContentType string
}

// Extraction is what came of reading a page.
type Extraction struct {
	Page    Page
	Article *article.Article // nil: the page has none
	Reason  string           // why it has none
	Failed  bool             // it could not be read at all

	CanonicalID uuid.UUID // names the canonical URL
	Canonical   string
	ContentHash string // SHA-256 of title and text
	SimHash     int64

	SelectorVersion int
	Outcome         selector.Outcome
}

// SaveResult says what became of an article in the database.
type SaveResult struct {
	LeaseLost       bool // somebody else has read the page meanwhile
	Article         uuid.UUID
	New             bool
	Changed         []string // content fields
	Pages           int      // that the version of the selectors in use has read
	Version         int      // of the selectors in use
	ActionRequested bool     // something is to be done about the selectors
}

// RemovalResult says what became of the articles of a page that is not there any more.
type RemovalResult struct {
	LeaseLost bool // somebody else has seen to it meanwhile
	Deferred  bool // the page waits to be read as it was before
	Articles  int  // that are marked
}

// Site is how the pages of a site are read.
type Site struct {
	DomainID int32           `json:"domain_id"`
	Domain   string          `json:"domain"`
	Zone     string          `json:"zone,omitempty"`
	Version  int             `json:"version,omitempty"` // 0: it has no selectors
	Config   selector.Config `json:"config,omitzero"`
}

// Creator says who made a version of selectors.
type Creator string

// The makers.
const (
	CreatedByLearner Creator = "learner"
	CreatedByMember  Creator = "member"
	CreatedByLLM     Creator = "llm" // learned, with fields that a language model found
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
	CreatedBy   Creator
	Actor       string // user:<id> of a person
	State       State
	Reason      string // why it was made
	EndReason   string // why it is not in use any more
	Scores      map[article.Field]float64
	Pages       int
	CreatedAt   time.Time
	ActivatedAt *time.Time
	EndedAt     *time.Time
}

// Health is how the reading of a site goes.
type Health struct {
	Monitor           selector.Monitor
	Zone              string
	LearningEnabled   bool
	RequestedAction   selector.Action
	ActionField       article.Field
	ActionReason      string
	ActionRequestedAt *time.Time
	Pages             int64
	Articles          int64
	NonArticles       int64
	Failed            int64
	LastError         string
	LastErrorAt       *time.Time
}

// PageRef names a page to learn from, or to try selectors on.
type PageRef struct {
	Article   uuid.UUID
	URL       string
	PageID    uuid.UUID
	ObjectKey string
	FetchedAt time.Time
}
