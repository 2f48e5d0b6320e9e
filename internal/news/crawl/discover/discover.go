// Package discover extracts links from hub pages, feeds, sitemaps and OPML
// lists. It makes no requests. Its input is untrusted: the parsers accept
// broken documents and bound their output.
package discover

import (
	"errors"
	"time"

	"dateline/internal/news/article/dates"
	"dateline/internal/news/crawl/weburl"
)

// Kind is the likely type of a link's target.
type Kind string

// The kinds.
const (
	Article Kind = "article"
	Section Kind = "section" // front pages, categories, tags
	Feed    Kind = "feed"
	Sitemap Kind = "sitemap"
	Other   Kind = "other"
)

// Link is a link that may be fetched.
type Link struct {
	URL       weburl.URL
	Kind      Kind
	Title     string    // text of the link or entry
	Published time.Time // zero: unknown
	Modified  time.Time // zero: unknown
	// Score orders links of one kind; higher scores are fetched first.
	Score int
}

// HubPage is the content of a hub page.
type HubPage struct {
	Canonical weburl.URL // rel=canonical; zero: none
	Links     []Link     // unique, in the order of the page
	NoFollow  bool       // from the robots meta element
	NoIndex   bool
	// Only with Options.Prose.
	Title string
	Text  string
}

// FeedDoc is a parsed feed of any format.
type FeedDoc struct {
	Format string // rss, atom, rdf or json
	Title  string
	Home   weburl.URL    // the page of the feed
	TTL    time.Duration // recommended interval; zero: none
	Items  []Link
}

// SitemapDoc is a parsed sitemap or sitemap index.
type SitemapDoc struct {
	Sitemaps []Link // of an index, newest first where dates are known
	Pages    []Link
	IsNews   bool // uses the news extension
}

// Outline is a feed in an OPML list.
type Outline struct {
	Title  string
	Feed   string
	Home   string
	Folder []string // titles of the enclosing outlines
}

// Options apply to all parsers. The zero value is usable.
type Options struct {
	// Rules are the URL rules of the site.
	Rules weburl.Rules
	// Now is the time of the fetch, for relative dates.
	Now time.Time
	// Zone is the time zone of dates that name none; nil: UTC.
	Zone *time.Location
	// Prose also extracts the text of a page.
	Prose bool
	// Memo caches the links of a site across its pages; nil: no cache.
	Memo *Memo
	// MaxLinks limits the number of links; 0: 2,000 of a page, 5,000 of a feed,
	// 50,000 of a sitemap (the limit of sitemaps.org).
	MaxLinks int
}

func (o Options) linkLimit(fallback int) int {
	if o.MaxLinks > 0 {
		return o.MaxLinks
	}
	return fallback
}

func (o Options) dates() dates.Options { return dates.Options{Now: o.Now, Zone: o.Zone} }

// Errors for documents of another type.
var (
	ErrNotFeed    = errors.New("document is not a feed")
	ErrNotSitemap = errors.New("document is not a sitemap")
	ErrNotOPML    = errors.New("document is not an OPML list")
)
