// Package article says what an article is: the fields that are read from a page, where each
// came from and how sure its reading is. Package extract reads any page, package selector
// reads the pages of a site that was learned.
package article

import "time"

// Source says where the value of a field came from.
type Source string

// Sources, from the most deliberate statement of a publisher to the weakest guess.
const (
	FromSelector  Source = "selector"   // the site's learned or edited configuration
	FromJSONLD    Source = "json-ld"    // schema.org in a script of the page
	FromOpenGraph Source = "open-graph" // og: and article: properties
	FromMicrodata Source = "microdata"  // itemprop attributes
	FromMeta      Source = "meta"       // other meta and link elements
	FromHTML      Source = "html"       // headings, bylines, time elements, the body itself
	FromText      Source = "text"       // worked out from the words, such as the language
	FromURL       Source = "url"        // the address of the page
	FromLLM       Source = "llm"        // copied from the page by a language model, as the last resort
)

// Field names one field of an article, for sources, confidences, selectors and health scores.
type Field string

// The fields.
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
)

// Origin is where a field came from and how sure that is, from 0 (a guess) to 1 (several
// statements of the page agree).
type Origin struct {
	Source     Source  `json:"source"`
	Confidence float64 `json:"confidence"`
}

// Article is what was read from one page. Times are in UTC; a time that is not known is zero.
type Article struct {
	Title     string           `json:"title"`
	Authors   []string         `json:"authors,omitempty"`
	Published time.Time        `json:"published,omitzero"`
	Updated   time.Time        `json:"updated,omitzero"`
	Lead      string           `json:"lead,omitempty"`
	Text      string           `json:"text"` // paragraphs with an empty line between them
	HTML      string           `json:"html"` // the same, sanitised, with absolute addresses
	Image     string           `json:"image,omitempty"`
	Section   string           `json:"section,omitempty"`
	Tags      []string         `json:"tags,omitempty"`
	Language  string           `json:"language,omitempty"` // ISO 639-1, such as vi
	Canonical string           `json:"canonical,omitempty"`
	Site      string           `json:"site,omitempty"`
	Origins   map[Field]Origin `json:"origins,omitempty"`
	// DateOnly says that the page names the day of publication and no time of day.
	DateOnly bool `json:"date_only,omitempty"`
	// IsListing says that the page is rather a list of other articles than one of its own: a
	// front page, a section, the results of a search.
	IsListing bool `json:"listing,omitempty"`
}

// Has says whether a field was found.
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
	}
	return false
}

// SetOrigin notes where a field came from.
func (a *Article) SetOrigin(f Field, s Source, confidence float64) {
	if a.Origins == nil {
		a.Origins = make(map[Field]Origin, 12)
	}
	a.Origins[f] = Origin{Source: s, Confidence: confidence}
}
