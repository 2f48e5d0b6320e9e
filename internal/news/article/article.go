// Package article defines an extracted article: its fields, their sources and
// confidence. Package extract extracts any page; package selector extracts pages of
// sites with learned selectors.
package article

import "time"

// Source is where the value of a field comes from.
type Source string

// Sources, from the most explicit to the weakest.
const (
	FromSelector  Source = "selector"   // learned or edited selectors of the site
	FromJSONLD    Source = "json-ld"    // schema.org in a script of the page
	FromOpenGraph Source = "open-graph" // og: and article: properties
	FromMicrodata Source = "microdata"  // itemprop attributes
	FromMeta      Source = "meta"       // other meta and link elements
	FromHTML      Source = "html"       // headings, bylines, time elements, the body itself
	FromText      Source = "text"       // inferred from the text, such as the language
	FromURL       Source = "url"        // URL of the page
	FromLLM       Source = "llm"        // extracted by a large language model, as the last resort
)

// Field is a field of an article.
type Field string

// Fields.
const (
	FieldTitle     Field = "title"
	FieldAuthors   Field = "authors"
	FieldPublished Field = "published"
	FieldUpdated   Field = "updated"
	FieldLead      Field = "lead"
	FieldBody      Field = "body"
	FieldImage     Field = "image"
	FieldSection   Field = "section"
	FieldTags      Field = "tags"
	FieldLanguage  Field = "language"
	FieldCanonical Field = "canonical"
	FieldSite      Field = "site"
	FieldAccess    Field = "access"
)

// Access is whether readers must pay for an article.
type Access string

// Access states.
const (
	AccessFree    Access = "free"
	AccessMetered Access = "metered" // a number of articles is free
	AccessPaid    Access = "paid"
	AccessUnknown Access = "unknown" // the page does not say
)

// Names under which the crawler stores the rule of a site's tdmrep.json that applies to a
// page, next to its response headers.
const (
	SiteTDMReservation = "Dateline-Tdm-Reservation"
	SiteTDMPolicy      = "Dateline-Tdm-Policy"
)

// Reservations are the publisher's machine-readable reservations of rights on the page.
type Reservations struct {
	NoIndex   bool   `json:"noindex,omitempty"`
	NoArchive bool   `json:"noarchive,omitempty"`
	NoSnippet bool   `json:"nosnippet,omitempty"`
	NoAI      bool   `json:"noai,omitempty"`
	TDM       bool   `json:"tdm,omitempty"`        // text and data mining is reserved
	TDMPolicy string `json:"tdm_policy,omitempty"` // its conditions
}

// Origin is the source of a field and its confidence, from 0 (a guess) to 1 (several
// statements agree).
type Origin struct {
	Source     Source  `json:"source"`
	Confidence float64 `json:"confidence"`
}

// Article is an extracted article. Times have the offset that the page states or that its
// site has, so that their day is the one that readers see; unknown times are zero.
type Article struct {
	Title     string    `json:"title"`
	Authors   []string  `json:"authors,omitempty"`
	Published time.Time `json:"published,omitzero"`
	Updated   time.Time `json:"updated,omitzero"`
	Lead      string    `json:"lead,omitempty"`
	Text      string    `json:"text"` // paragraphs separated by an empty line
	HTML      string    `json:"html"` // the same, sanitized, with absolute URLs
	// Live are the entries of a live blog, the newest first; Text is its summary.
	Live      []LiveEntry `json:"live,omitempty"`
	Image     string      `json:"image,omitempty"`
	Section   string      `json:"section,omitempty"`
	Tags      []string    `json:"tags,omitempty"`
	Language  string      `json:"language,omitempty"` // ISO 639-1, such as vi
	Canonical string      `json:"canonical,omitempty"`
	Site      string      `json:"site,omitempty"`
	Access    Access      `json:"access,omitempty"`
	// Reservations are the robots directives and text mining reservations of the page.
	Reservations Reservations     `json:"reservations,omitzero"`
	Origins      map[Field]Origin `json:"origins,omitempty"`
	// DateOnly reports that the page states only the day of publication.
	DateOnly bool `json:"date_only,omitempty"`
	// IsListing reports that the page is mostly a list of other articles, such as a
	// front page or search results.
	IsListing bool `json:"listing,omitempty"`
}

// Has reports whether a field was found.
func (a *Article) Has(f Field) bool {
	switch f {
	case FieldTitle:
		return a.Title != ""
	case FieldAuthors:
		return len(a.Authors) > 0
	case FieldPublished:
		return !a.Published.IsZero()
	case FieldUpdated:
		return !a.Updated.IsZero()
	case FieldLead:
		return a.Lead != ""
	case FieldBody:
		return a.Text != ""
	case FieldImage:
		return a.Image != ""
	case FieldSection:
		return a.Section != ""
	case FieldTags:
		return len(a.Tags) > 0
	case FieldLanguage:
		return a.Language != ""
	case FieldCanonical:
		return a.Canonical != ""
	case FieldSite:
		return a.Site != ""
	case FieldAccess:
		return a.Access != "" && a.Access != AccessUnknown
	}
	return false
}

// SetOrigin records the source of a field.
func (a *Article) SetOrigin(f Field, s Source, confidence float64) {
	if a.Origins == nil {
		a.Origins = make(map[Field]Origin, 12)
	}
	a.Origins[f] = Origin{Source: s, Confidence: confidence}
}
