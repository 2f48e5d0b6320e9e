// Package discover finds what there is to fetch: in hub pages, feeds, sitemaps
// and lists of feeds. It makes no requests. Everything that it reads was written
// by strangers: its parsers take broken input and are bounded.
package discover

import (
	"errors"
	"time"

	"dateline/internal/news/article/dates"
	"dateline/internal/news/crawl/weburl"
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
	Published time.Time // as far as was said; zero: unknown
	Modified  time.Time // zero: unknown
	// Score orders links of one kind: higher is fetched first.
	Score int
}

// HubPage is what a hub page links to.
type HubPage struct {
	Canonical weburl.URL // its rel=canonical; zero: none
	Links     []Link     // each URL once, in the order of the page
	NoFollow  bool       // its robots meta says that links are not to be followed
	NoIndex   bool
	// Of its prose, where Options ask for it.
	Title string
	Text  string
}

// FeedDoc is a feed in any of its formats.
type FeedDoc struct {
	Format string // rss, atom, rdf or json
	Title  string
	Home   weburl.URL    // the page that it belongs to
	TTL    time.Duration // how often to come back, as it says itself; zero: it does not
	Items  []Link
}

// SitemapDoc is a sitemap or an index of sitemaps.
type SitemapDoc struct {
	Sitemaps []Link // of an index, the newest first as far as it says
	Pages    []Link
	IsNews   bool // has entries of the news extension
}

// Outline is a feed of an OPML list.
type Outline struct {
	Title  string
	Feed   string
	Home   string
	Folder []string // the titles that it is filed under
}

// Options for all parsers. The zero value is usable.
type Options struct {
	// Rules are those of the site whose document is read.
	Rules weburl.Rules
	// Now is the time of the fetch: dates that count from now need it.
	Now time.Time
	// Zone is where the site writes dates without a zone; nil: UTC.
	Zone *time.Location
	// Prose has the text of a page read along with its links.
	Prose bool
	// Memo remembers the links of the site from page to page; nil: nothing does.
	Memo *Memo
	// MaxLinks is how many links are taken; 0: 2,000 of a page, 5,000 of a feed,
	// 50,000 of a sitemap (as sitemaps.org allows).
	MaxLinks int
}

func (o Options) linkLimit(otherwise int) int {
	if o.MaxLinks > 0 {
		return o.MaxLinks
	}
	return otherwise
}

func (o Options) dates() dates.Options { return dates.Options{Now: o.Now, Zone: o.Zone} }

// What a parser says of a document that is something else.
var (
	ErrNotFeed    = errors.New("this is no feed")
	ErrNotSitemap = errors.New("this is no sitemap")
	ErrNotOPML    = errors.New("this is no OPML list")
)
