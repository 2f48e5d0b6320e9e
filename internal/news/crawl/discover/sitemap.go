package discover

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"dateline/internal/news/crawl/weburl"
)

const maxPages = 50_000

// ParseSitemap parses a sitemap, a sitemap index, a news sitemap, a plain list
// of URLs, or a feed used as a sitemap (sitemaps.org/protocol.html). URLs on
// other registered domains are left out, as a sitemap speaks only for its own.
func ParseSitemap(doc []byte, at weburl.URL, o Options) (SitemapDoc, error) {
	s := &sitemap{options: o, at: at, seen: map[weburl.URL]bool{}}
	if head := bytes.TrimLeft(doc, "\uFEFF \t\r\n"); bytes.HasPrefix(head, []byte("http")) {
		s.lines(head)
		s.promote()
		return s.doc, nil
	}
	if !s.read(doc) {
		feed, err := ParseFeed(doc, at, o)
		if err != nil {
			return SitemapDoc{}, ErrNotSitemap
		}
		for _, item := range feed.Items {
			s.add(&s.doc.Pages, item)
		}
	}
	s.promote()
	// Sitemaps without a date stay in order, after those with one.
	slices.SortStableFunc(s.doc.Sitemaps, func(a, b Link) int { return b.Modified.Compare(a.Modified) })
	return s.doc, nil
}

// sitemap is the state of parsing a sitemap.
type sitemap struct {
	options Options
	at      weburl.URL
	doc     SitemapDoc
	seen    map[weburl.URL]bool
}

func (s *sitemap) lines(doc []byte) {
	for line := range bytes.Lines(doc) {
		line = bytes.TrimSpace(line)
		if u, err := s.at.Resolve(string(line), s.options.Rules); err == nil && bytes.HasPrefix(line, []byte("http")) {
			s.add(&s.doc.Pages, s.page(Link{URL: u}))
		}
		if len(s.doc.Pages) >= s.options.linkLimit(maxPages) {
			return
		}
	}
}

// read parses XML and reports whether the document is a sitemap.
func (s *sitemap) read(doc []byte) (isSitemap bool) {
	xml, dates := newXMLReader(doc), s.options.dates()
	var current *Link
	var loc, name string // of current
	var space string     // of the sitemap's own elements
	index := false
	for {
		t := xml.next()
		if t.done || len(s.doc.Pages)+len(s.doc.Sitemaps) >= s.options.linkLimit(maxPages) {
			return isSitemap
		}
		if t.start == nil {
			if current != nil && t.end == name {
				s.finish(current, loc, index)
				current, loc = nil, ""
			}
			continue
		}
		e := t.start
		ended := ""
		text := func() (text string) {
			text, ended = xml.content(e, name)
			return text
		}
		switch {
		case !isSitemap:
			isSitemap, index, space = e.name == "urlset" || e.name == "sitemapindex", e.name == "sitemapindex", e.space
		case e.space == newsSpace && current != nil && e.name == "publication_date":
			current.Published, s.doc.IsNews = dates.Time(text()), true
		case e.space == newsSpace && current != nil && e.name == "title":
			current.Title = stripTags(text())
		case e.isForeign:
		case e.space != "" && e.space != space && !strings.Contains(e.space, "/schemas/sitemap/"):
			// Images, videos and other extensions have locations and titles of their own.
			xml.markForeign()
		case e.name == "url" || e.name == "sitemap":
			if current != nil { // it lacks an end tag
				s.finish(current, loc, index)
			}
			current, loc, name = &Link{}, "", e.full()
		case current == nil:
		case e.name == "loc":
			loc = text()
		case e.name == "lastmod":
			current.Modified = dates.Time(text())
		}
		if ended != "" {
			s.finish(current, loc, index)
			current, loc = nil, ""
		}
	}
}

func (s *sitemap) finish(current *Link, loc string, index bool) {
	loc = strings.TrimSpace(loc)
	u, err := s.at.Resolve(loc, s.options.Rules)
	if err != nil || loc == "" {
		return
	}
	current.URL = u
	if index {
		current.Kind = Sitemap
		current.Score = sitemapScore(u)
		s.add(&s.doc.Sitemaps, *current)
		return
	}
	s.add(&s.doc.Pages, s.page(*current))
}

// promote decides about pages whose own URLs do not show whether they are articles.
func (s *sitemap) promote() {
	neighbors := make([]neighbor, len(s.doc.Pages))
	for i := range s.doc.Pages {
		link := &s.doc.Pages[i]
		neighbors[i].link = link
		if _, _, isCertain := classify(link.URL); !isCertain {
			neighbors[i].isOpen, neighbors[i].family = true, family(link.URL, hasArticleNumber(link.URL))
		}
	}
	promoteNeighbors(neighbors)
}

// page adds what the URL shows.
func (s *sitemap) page(link Link) Link {
	kind, score := Classify(link.URL)
	if !link.Published.IsZero() { // the news extension is only for articles
		kind = Article
	} else {
		link.Published = DateInURL(link.URL, s.options.Zone)
	}
	link.Kind, link.Score = kind, score
	return link
}

func (s *sitemap) add(to *[]Link, link Link) {
	if link.URL.Domain() != s.at.Domain() || s.seen[link.URL] {
		return
	}
	s.seen[link.URL] = true
	*to = append(*to, link)
}

// sitemapScore ranks sitemaps of news before those of old articles, and those
// of images last.
func sitemapScore(u weburl.URL) int {
	name := strings.ToLower(u.RequestURI())
	switch {
	case strings.Contains(name, "news"), strings.Contains(name, "latest"), strings.Contains(name, "moi-nhat"),
		strings.Contains(name, "today"):
		return 2
	case strings.Contains(name, "image"), strings.Contains(name, "video"), strings.Contains(name, "tag"),
		strings.Contains(name, "author"), strings.Contains(name, "categor"):
		return -1
	case !DateInURL(u, time.UTC).IsZero():
		return 1
	}
	return 0
}
