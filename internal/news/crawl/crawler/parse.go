package crawler

import (
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/weburl"
)

// PageParser extracts links, text and metadata from fetched pages.
type PageParser struct {
	Zone *time.Location // time zone of dates that name none
}

// Parse implements Parser. It reads the links of an article only on request.
func (p PageParser) Parse(
	kind crawl.Kind, res *fetch.Result, rules weburl.Rules, memo *discover.Memo, links bool,
) (ParsedPage, error) {
	at, err := weburl.Parse(res.FinalURL, rules)
	if err != nil {
		return ParsedPage{}, err
	}
	o := discover.Options{Rules: rules, Now: res.Started, Zone: p.Zone, Memo: memo}
	doc := res.Text
	if doc == nil {
		doc = res.Body
	}
	switch kind {
	case crawl.Feed:
		feed, err := discover.ParseFeed(doc, at, o)
		return ParsedPage{Links: asArticles(feed.Items)}, err
	case crawl.Sitemap:
		sitemap, err := discover.ParseSitemap(doc, at, o)
		out := ParsedPage{Links: asArticles(sitemap.Pages)}
		for _, l := range sitemap.Sitemaps {
			l.Kind = discover.Sitemap
			out.Links = append(out.Links, l)
		}
		return out, err
	}
	if links {
		o.Prose = kind == crawl.Article
		page := discover.ParseHub(doc, at, o)
		return ParsedPage{
			Links: page.Links, NoFollow: page.NoFollow, Canonical: page.Canonical, Title: page.Title,
			Text: page.Text,
		}, nil
	}
	prose := discover.ParseProse(doc)
	out := ParsedPage{Title: prose.Title, Text: prose.Text}
	if u, err := at.Resolve(prose.Canonical, rules); err == nil && prose.Canonical != "" {
		out.Canonical = u
	}
	return out, nil
}

// asArticles treats the entries of a feed or sitemap as articles unless their
// URLs clearly say otherwise.
func asArticles(links []discover.Link) []discover.Link {
	for i := range links {
		if links[i].Kind == discover.Other || links[i].Kind == "" {
			links[i].Kind = discover.Article
		}
	}
	return links
}
