// Package discover finds what there is to fetch: in hub pages, feeds, sitemaps
// and lists of feeds. It makes no requests. Everything that it reads was written
// by strangers: its parsers take broken input and are bounded.
package discover

import (
	"time"

	"dateline/internal/crawl/weburl"
)

// Kind is what a link seems to lead to.
type Kind string

// The kinds.
const (
	Article Kind = "article"
	Section Kind = "section" // a hub: front pages, categories, tags
	Feed    Kind = "feed"
	Sitemap Kind = "sitemap"
	Other   Kind = "other"
)

// Link is something that may be fetched.
type Link struct {
	URL       weburl.URL
	Kind      Kind
	Title     string    // as the link or the entry names it
	Published time.Time // when it was published, as far as was said; zero: unknown
	Modified  time.Time // when it changed last; zero: unknown
	// Score orders links of one kind: higher is fetched first.
	Score int
}

// HubPage is what a hub page links to.
type HubPage struct {
	Canonical weburl.URL // its rel=canonical; zero: none
	Links     []Link     // each URL once: articles, sections, feeds, sitemaps
	NoFollow  bool       // its robots meta says that links are not to be followed
	NoIndex   bool
}

// FeedDoc is a feed in any of its formats.
type FeedDoc struct {
	Format string // rss, atom, rdf or json
	Title  string
	Home   weburl.URL // the page that it belongs to
	Every  time.Duration
	Items  []Link
	Broken string // what stopped the parser early; empty: nothing
}

// SitemapDoc is a sitemap or an index of sitemaps.
type SitemapDoc struct {
	Sitemaps []Link // of an index
	Pages    []Link
	News     bool // has entries of the news extension
	Broken   string
}

// Outline is a feed of an OPML list.
type Outline struct {
	Title  string
	Feed   string
	Home   string
	Folder []string // the titles that it is filed under
}
