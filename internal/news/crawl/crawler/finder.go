package crawler

import (
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/weburl"
)

// PageFinder reads what was fetched.
type PageFinder struct {
	Zone *time.Location // where sites write dates without a zone; nil: UTC
}

// Find implements Finder. Of an article it reads the links only where they are
// wanted.
func (p PageFinder) Find(kind crawl.Kind, res *fetch.Result, rules weburl.Rules, memo *discover.Memo, links bool) (Finds, error) {
	at, err := weburl.Parse(res.Final, rules)
	if err != nil {
		return Finds{}, err
	}
	o := discover.Options{Rules: rules, Now: res.Started, Zone: p.Zone, Memo: memo}
	doc := res.Text
	if doc == nil {
		doc = res.Body
	}
	switch kind {
	case crawl.Feed:
		feed, err := discover.ParseFeed(doc, at, o)
		return Finds{Links: articles(feed.Items)}, err
	case crawl.Sitemap:
		sitemap, err := discover.ParseSitemap(doc, at, o)
		out := Finds{Links: articles(sitemap.Pages)}
		for _, l := range sitemap.Sitemaps {
			l.Kind = discover.Sitemap
			out.Links = append(out.Links, l)
		}
		return out, err
	}
	if links {
		o.Prose = kind == crawl.Article
		page := discover.Hub(doc, at, o)
		return Finds{Links: page.Links, NoFollow: page.NoFollow, Canonical: page.Canonical, Title: page.Title, Text: page.Text}, nil
	}
	prose := discover.ReadProse(doc)
	out := Finds{Title: prose.Title, Text: prose.Text}
	if u, err := at.Resolve(prose.Canonical, rules); err == nil && prose.Canonical != "" {
		out.Canonical = u
	}
	return out, nil
}

// articles takes the entries of a feed or sitemap for articles, unless they are
// plainly something else.
func articles(links []discover.Link) []discover.Link {
	for i := range links {
		if links[i].Kind == discover.Other || links[i].Kind == "" {
			links[i].Kind = discover.Article
		}
	}
	return links
}
