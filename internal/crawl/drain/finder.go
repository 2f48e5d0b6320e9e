package drain

import (
	"bytes"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/crawl"
	"dateline/internal/crawl/discover"
	"dateline/internal/crawl/fetch"
	"dateline/internal/crawl/weburl"
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
	var out Finds
	if links {
		page := discover.Hub(doc, at, o)
		out.Links, out.NoFollow, out.Canonical = page.Links, page.NoFollow, page.Canonical
	}
	if kind == crawl.Article {
		var canonical string
		out.Title, out.Text, canonical = paragraphs(doc)
		if u, err := at.Resolve(canonical, rules); err == nil && canonical != "" {
			out.Canonical = u
		}
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

// paragraphs is the text of a page's headings and paragraphs: what tells whether
// an article changed. Menus, counters and scripts, which change all the time,
// are no paragraphs; what a reader sees is found with care by the parser. It
// gives the canonical URL too, as the page writes it.
func paragraphs(doc []byte) (title, text, canonical string) {
	tokens := html.NewTokenizer(bytes.NewReader(doc))
	var headline, body strings.Builder
	var into *strings.Builder
	skip := 0
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return headline.String(), body.String(), canonical
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := tokens.TagName()
			switch atom.Lookup(name) {
			case atom.P:
				into = &body
			case atom.H1:
				into = &headline
			case atom.Link:
				if canonical == "" && more {
					canonical = canonicalOf(tokens)
				}
			case atom.Script, atom.Style, atom.Noscript, atom.Nav, atom.Footer, atom.Aside, atom.Form:
				skip++
			}
		case html.EndTagToken:
			name, _ := tokens.TagName()
			switch atom.Lookup(name) {
			case atom.P, atom.H1, atom.Div, atom.Article, atom.Section, atom.Td, atom.Li:
				if into != nil {
					into.WriteByte('\n')
				}
				into = nil
			case atom.Script, atom.Style, atom.Noscript, atom.Nav, atom.Footer, atom.Aside, atom.Form:
				skip = max(skip-1, 0)
			}
		case html.TextToken:
			if into != nil && skip == 0 {
				into.Write(tokens.Text())
			}
		}
	}
}

// canonicalOf is the address of a link element that names the canonical URL.
func canonicalOf(tokens *html.Tokenizer) (href string) {
	canonical := false
	for more := true; more; {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		switch string(key) {
		case "rel":
			canonical = strings.EqualFold(string(value), "canonical")
		case "href":
			href = strings.TrimSpace(string(value))
		}
	}
	if !canonical {
		return ""
	}
	return href
}
