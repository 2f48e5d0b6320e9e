// Package search is how articles are found. It says what an engine takes and
// gives, and how a query and a text are read; package pgsearch finds with
// Postgres, package meili with Meilisearch. Both pass the suite in searchtest.
package search

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// Document is an article as it is searched.
type Document struct {
	ID        uuid.UUID
	Version   int64 // an older one never replaces a newer one
	URL       string
	Domain    string
	Title     string
	Lead      string
	Body      string
	Authors   []string
	Tags      []string
	Section   string
	Language  string // ISO 639-1; empty: not known
	Image     string
	Published time.Time // as its page says, else when it was found
	Group     uuid.UUID // the same for near-duplicates across sites
}

// Change says that an article changed, or is gone, and the index has to follow.
type Change struct {
	ID        int64
	ArticleID uuid.UUID
}

// Mode says by what articles are found.
type Mode string

// The modes. Without an embedder all are Keyword.
const (
	Keyword  Mode = "keyword"
	Semantic Mode = "semantic"
	Hybrid   Mode = "hybrid"
)

// Sort is the order of what is found.
type Sort string

// The orders. In the order of time nothing can be put last for matching badly,
// so every word must be there as it is written: see Query.Strict.
const (
	ByRelevance Sort = "relevance"
	ByTime      Sort = "time" // the newest first
)

// Filters choose articles. Values of one field are alternatives; all fields
// that are given must hold.
type Filters struct {
	// VisibleDomains bounds what may be seen at all: the domains of a workspace. Nil: everything.
	VisibleDomains []string
	Domains        []string
	Languages      []string
	Sections       []string
	Tags           []string
	Authors        []string
	From, To       time.Time // of publication; To is not included; zero: open
}

// Request is a search.
type Request struct {
	Text    string
	Mode    Mode // empty: Keyword
	Filters Filters
	Sort    Sort // empty: ByRelevance
	Offset  int
	Limit   int
	Facets  bool
	Now     time.Time // what is recent is judged from here; zero: the present
}

// The bounds of a request.
const (
	MaxQueryLength = 500  // characters
	MaxLimit       = 100  // hits on a page
	MaxOffset      = 1000 // nobody reads further; narrow the search
)

// Response is what was found.
type Response struct {
	Hits []Hit
	// Total is how many articles there are. Where Estimated, counting them all
	// would have taken too long, and facets are of the newest.
	Total     int
	Estimated bool
	// Partial says that looking at all would have taken too long: there are only
	// hits among the newest.
	Partial bool
	Facets  []Facet
	// Corrected are words that no article has, and what was looked for instead.
	Corrected map[string][]string
	// Relaxed says that hardly an article has all words; those that lack some follow.
	Relaxed bool
}

// Hit is an article that was found.
type Hit struct {
	Document
	Score   float64    // falls from hit to hit by relevance; says nothing across searches
	Heading []Fragment // the title
	Snippet []Fragment // of the lead or the body, where the words are
}

// Fragment is a piece of text. It is text, never HTML, and whoever shows it
// escapes it.
type Fragment struct {
	Text  string
	Match bool
}

// The fields that are counted.
const (
	FieldDomain   = "domain"
	FieldLanguage = "language"
	FieldSection  = "section"
	FieldTag      = "tag"
	FieldAuthor   = "author"
)

// Facet says how many of the articles found have which value.
type Facet struct {
	Field  string
	Values []FacetValue // the most frequent first
}

// FacetValue is one value of a facet.
type FacetValue struct {
	Value string
	Count int
}

// MaxFacetValues bounds the values of a facet.
const MaxFacetValues = 20

// ErrUnavailable says that the engine does not answer.
var ErrUnavailable = errors.New("the search engine does not answer") //nolint:gochecknoglobals // a sentinel

// ErrBusy says that too many search at once; later there may be an answer.
var ErrBusy = errors.New("too many search at once") //nolint:gochecknoglobals // a sentinel

// Engine finds articles. It is safe for concurrent use.
type Engine interface {
	// Prepare brings the engine's settings up to date with this build.
	Prepare(ctx context.Context) error
	// Index stores documents. They can be found when it returns.
	Index(ctx context.Context, docs []Document) error
	// Delete forgets documents; those that are not there too.
	Delete(ctx context.Context, ids []uuid.UUID) error
	Search(ctx context.Context, r Request) (Response, error)

	// StartRebuild opens an index beside the one that answers, and gives its
	// name. What was open before is dropped.
	StartRebuild(ctx context.Context) (rebuild string, err error)
	// AddToRebuild stores documents in the index that is being built, Empty forgets some.
	AddToRebuild(ctx context.Context, rebuild string, docs []Document) error
	DeleteFromRebuild(ctx context.Context, rebuild string, ids []uuid.UUID) error
	// FinishRebuild puts the new index in the place of the old one at once.
	FinishRebuild(ctx context.Context, rebuild string) error
}

// Embedder makes vectors of texts, all of one length.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Dimensions() int
}

// EmbeddingText is what of a document is embedded: models read a few hundred
// words, and the beginning of an article says what it is about.
func EmbeddingText(d Document) string {
	text := d.Title + "\n" + d.Lead + "\n" + d.Body
	if len(text) <= maxEmbeddingBytes {
		return text
	}
	end := maxEmbeddingBytes
	for end > 0 && text[end]&0xc0 == 0x80 { // not inside of a character
		end--
	}
	return text[:end]
}

const maxEmbeddingBytes = 2000

// WithDefaults gives a request with its defaults and within its bounds.
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
