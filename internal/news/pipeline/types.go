// Package pipeline turns crawled pages into stored articles: it consumes the queue of
// crawled pages, extracts articles with the selectors of their site, monitors how well
// these work, relearns or rolls them back, and stores the results.
//
// Package internal/news/article extracts a single page; internal/storage/postgres
// implements the stores.
package pipeline

import (
	"net/textproto"
	"strconv"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
)

// ArticleSummary is an article in a list.
type ArticleSummary struct {
	ID           uuid.UUID
	DomainID     int
	Domain       string
	URL          string // of the page that it was extracted from
	CanonicalURL string
	Title        string
	Authors      []string
	Published    *time.Time
	Updated      *time.Time // by the publisher
	DateOnly     bool
	FirstSeen    time.Time
	SortTime     time.Time // Published, else FirstSeen
	Lead         string
	Image        string
	Section      string
	Tags         []string
	Language     string
	Site         string
	Group        uuid.UUID // shared by near-duplicates
	Version      int64
	ChangedAt    time.Time  // in Dateline
	RemovedAt    *time.Time // since when its page is removed; nil: it is not
	Access       article.Access
	Reservations article.Reservations
}

// StoredArticle is an article with its content.
type StoredArticle struct {
	ArticleSummary
	Text            string
	HTML            string
	Live            []article.LiveEntry // of a live blog, the newest first
	Origins         map[article.Field]article.Origin
	ContentHash     string
	SimHash         int64
	ObjectKey       string
	FetchedAt       time.Time
	SelectorVersion int
}

// Revision is a version of an article, without its content.
type Revision struct {
	Version         int64
	SeenAt          time.Time
	Changed         []string // fields that differ from the previous version; none: the first
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

// SimilarArticle is a near-duplicate of an article.
type SimilarArticle struct {
	ArticleSummary
	Distance int // number of bits in which the SimHashes differ
}

// ArticleQuery selects a page of a list of articles.
type ArticleQuery struct {
	Workspace uuid.UUID
	Domain    string // empty: all domains of the workspace
	Removed   bool   // list removed articles instead of current ones
	From, To  time.Time
	Before    time.Time // cursor: articles before this time and id
	BeforeID  uuid.UUID
	Limit     int
}

// Page is a crawled page with its response metadata.
type Page struct {
	crawl.CrawledPage
	Domain      string
	FinalURL    string // after redirects
	ContentType string
	Header      textproto.MIMEHeader // response headers that were stored
}

// Extraction is the result of processing a page.
type Extraction struct {
	Page    Page
	Article *article.Article // nil: the page contains none
	Reason  NoArticleReason  // why there is no article
	Detail  string           // the same in words
	Failed  bool             // the page could not be processed

	CanonicalID uuid.UUID // id of the canonical URL
	Canonical   string
	ContentHash string // SHA-256 of title and text
	SimHash     int64

	SelectorVersion int
	Outcome         selector.Outcome
}

// SaveResult is the outcome of saving an extraction.
type SaveResult struct {
	LeaseLost       bool // another worker has leased the page; nothing was saved
	Article         uuid.UUID
	New             bool
	Changed         []string // content fields
	Pages           int      // processed with the active version of the selectors
	Version         int      // active version of the selectors
	ActionRequested bool     // selectors must be learned or rolled back
}

// RemovalResult is the outcome of marking the articles of a removed page.
type RemovalResult struct {
	LeaseLost bool // another worker has leased the page; nothing was saved
	Deferred  bool // an older version of the page must be processed first
	Articles  int  // marked as removed
}

// Site is the extraction configuration of a site.
type Site struct {
	DomainID int             `json:"domain_id"`
	Domain   string          `json:"domain"`
	Zone     string          `json:"zone,omitempty"`
	Version  int             `json:"version,omitempty"` // 0: generic extraction
	Config   selector.Config `json:"config,omitzero"`
	Marks    []extract.Mark  `json:"marks,omitempty"`
}

// Mark is what an editor marked on the pages of a site, stored as JSON.
type Mark struct {
	extract.Mark
	Sample    string    `json:"sample,omitempty"` // the start of the text
	Actor     string    `json:"actor"`            // user:<id>
	CreatedAt time.Time `json:"created_at"`
}

// ID identifies a mark on its site.
func (m Mark) ID() string {
	if m.Text != 0 {
		return "t" + strconv.FormatInt(m.Text, 36)
	}
	return "e" + strconv.FormatInt(extract.TextHash(m.Element), 36)
}

// Creator identifies what created a version of selectors.
type Creator string

// Creators.
const (
	CreatedByLearner Creator = "learner"
	CreatedByMember  Creator = "member"
	CreatedByLLM     Creator = "llm" // learned, with paths suggested by an LLM
)

// State is the state of a version of selectors.
type State string

// States.
const (
	Candidate  State = "candidate"
	Active     State = "active"
	Retired    State = "retired"
	RolledBack State = "rolled_back"
)

// Selectors is a version of the selectors of a site.
type Selectors struct {
	DomainID    int
	Version     int
	Config      selector.Config
	CreatedBy   Creator
	Actor       string // user:<id>
	State       State
	Reason      message.Message // why it was created
	EndReason   message.Message // why it was deactivated
	Scores      map[article.Field]float64
	Pages       int
	CreatedAt   time.Time
	ActivatedAt *time.Time
	EndedAt     *time.Time
}

// Health is the extraction state of a site: settings, counters, monitor and requested
// action.
type Health struct {
	Monitor           selector.Monitor
	Zone              string
	LearningEnabled   bool
	RequestedAction   selector.Action
	ActionField       article.Field
	ActionReason      message.Message
	ActionRequestedAt *time.Time
	Pages             int64
	Articles          int64
	NonArticles       int64
	NoArticleReasons  map[NoArticleReason]int64
	Failed            int64
	LastError         string
	LastErrorReason   NoArticleReason
	LastErrorAt       *time.Time
	Marks             []Mark // the newest first
}

// ExtractionMarks returns the marks for extraction.
func (h Health) ExtractionMarks() []extract.Mark {
	out := make([]extract.Mark, len(h.Marks))
	for i, m := range h.Marks {
		out[i] = m.Mark
	}
	return out
}

// PageRef references a stored page with an article.
type PageRef struct {
	Article   uuid.UUID
	URL       string
	PageID    uuid.UUID
	ObjectKey string
	FetchedAt time.Time
	Title     string // of the article
}
