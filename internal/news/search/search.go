// Package search defines article search: the interface of search engines, requests and
// responses, and how queries and texts are parsed. Packages pgsearch and meili implement
// engines on Postgres and Meilisearch; both pass the suite in
// internal/testing/searchtest.
package search

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Document is an article as it is indexed.
type Document struct {
	ID        uuid.UUID
	Version   int64 // an older version never replaces a newer one
	URL       string
	Domain    string
	Title     string
	Lead      string
	Body      string
	Authors   []string
	Tags      []string
	Section   string
	Language  string // ISO 639-1; empty: unknown
	Image     string
	Published time.Time // as stated by its page, else when it was found
	Group     uuid.UUID // shared by near-duplicates across sites
	// NoEmbedding reports that the publisher forbids an embedding.
	NoEmbedding bool
}

// Change is an entry of the outbox: an article that was created, changed or deleted.
type Change struct {
	ID        int64
	ArticleID uuid.UUID
}

// Mode is how articles are matched.
type Mode string

// Modes. Without an embedder all of them are Keyword.
const (
	Keyword  Mode = "keyword"
	Semantic Mode = "semantic"
	Hybrid   Mode = "hybrid"
)

// Sort is the order of hits.
type Sort string

// Orders. ByTime cannot rank weak matches last, so every word must match exactly: see
// Token.Strict.
const (
	ByRelevance Sort = "relevance"
	ByTime      Sort = "time" // the newest first
)

// Filters restrict a search. Values of one field are alternatives; all given fields must
// match.
type Filters struct {
	// VisibleDomains are the domains of the workspace. Nil: all domains.
	VisibleDomains []string
	Domains        []string
	Languages      []string
	Sections       []string
	Tags           []string
	Authors        []string
	From, To       time.Time // of publication; To is exclusive; zero: unbounded
}

// IsSelective reports whether there are filters besides the visible domains.
func (f Filters) IsSelective() bool {
	return len(f.Domains)+len(f.Languages)+len(f.Sections)+len(f.Tags)+len(f.Authors) > 0 || !f.From.IsZero() ||
		!f.To.IsZero()
}

// Request is a search request.
type Request struct {
	Text    string
	Mode    Mode // empty: Keyword
	Filters Filters
	Sort    Sort // empty: ByRelevance
	Offset  int
	Limit   int
	Facets  bool
	Now     time.Time // reference time for recency; zero: the current time
}

// Limits of a request.
const (
	MaxQueryLength = 500  // characters
	MaxLimit       = 100  // hits on a page
	MaxOffset      = 1000 // deeper pages require narrower filters
)

// Response is the result of a search.
type Response struct {
	Hits []Hit
	// Total is the number of matches. If Estimated, it is approximate and facets count
	// only the newest matches, because counting all would take too long.
	Total     int
	Estimated bool
	// Partial reports that the search timed out and covers only the newest articles.
	Partial bool
	Facets  []Facet
	// Corrected maps words that no article contains to the similar words that were
	// searched instead.
	Corrected map[string][]string
	// Relaxed reports that few articles contain all words, so articles that contain only
	// some of them follow.
	Relaxed bool
}

// Hit is a matching article.
type Hit struct {
	Document
	Score   float64    // decreases by relevance; not comparable between searches
	Heading []Fragment // the title
	Snippet []Fragment // the part of the lead or body with the most matches
}

// Fragment is a piece of plain text, never HTML. Escape it before showing it as HTML.
type Fragment struct {
	Text  string
	Match bool
}

// Facet fields.
const (
	FieldDomain   = "domain"
	FieldLanguage = "language"
	FieldSection  = "section"
	FieldTag      = "tag"
	FieldAuthor   = "author"
)

// Facet counts the values of a field among the matches.
type Facet struct {
	Field  string
	Values []FacetValue // the most frequent first
}

// FacetValue is one value of a facet.
type FacetValue struct {
	Value string
	Count int
}

// MaxFacetValues limits the values of a facet.
const MaxFacetValues = 20

// ErrUnavailable reports that the search engine is unavailable.
var ErrUnavailable = errors.New("the search engine is unavailable") //nolint:gochecknoglobals // a sentinel

// ErrBusy reports that there are too many concurrent searches. Retry later.
var ErrBusy = errors.New("too many concurrent searches") //nolint:gochecknoglobals // a sentinel

// Engine is a search engine. It is safe for concurrent use.
type Engine interface {
	// Prepare updates the settings of the engine to those of this build.
	Prepare(ctx context.Context) error
	// Index stores documents. They are searchable when it returns.
	Index(ctx context.Context, docs []Document) error
	// Delete removes documents; unknown ids are ignored.
	Delete(ctx context.Context, ids []uuid.UUID) error
	Search(ctx context.Context, r Request) (Response, error)

	// StartRebuild creates a second index next to the live one and returns its name. An
	// unfinished earlier rebuild is dropped.
	StartRebuild(ctx context.Context) (rebuild string, err error)
	// AddToRebuild stores documents in the index that is being rebuilt;
	// DeleteFromRebuild removes documents from it.
	AddToRebuild(ctx context.Context, rebuild string, docs []Document) error
	DeleteFromRebuild(ctx context.Context, rebuild string, ids []uuid.UUID) error
	// FinishRebuild replaces the live index with the new one atomically.
	FinishRebuild(ctx context.Context, rebuild string) error
	// DiscardRebuild deletes the new index, if it exists.
	DiscardRebuild(ctx context.Context, rebuild string) error
}

// Embedder computes vectors of texts, all of one length.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Dimensions() int
}

// EmbeddingText returns the text of a document to embed. Models read a few hundred
// words, and articles start with the important facts.
func EmbeddingText(d Document) string {
	text := d.Title + "\n" + d.Lead + "\n" + d.Body
	if len(text) <= maxEmbeddingBytes {
		return text
	}
	end := maxEmbeddingBytes
	for end > 0 && text[end]&0xc0 == 0x80 { // not within a character
		end--
	}
	return text[:end]
}

const maxEmbeddingBytes = 2000

// WithDefaults returns the request with defaults and within its limits.
func (r Request) WithDefaults() Request {
	r.Offset, r.Limit = min(max(r.Offset, 0), MaxOffset), min(r.Limit, MaxLimit)
	if r.Limit <= 0 {
		r.Limit = 20
	}
	if r.Mode == "" {
		r.Mode = Keyword
	}
	if r.Sort == "" {
		r.Sort = ByRelevance
	}
	if r.Now.IsZero() {
		r.Now = time.Now()
	}
	return r
}
