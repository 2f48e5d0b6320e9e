package crawler_test

import (
	"testing"

	"dateline/internal/news/crawl"
)

// A seed is what its document is, whatever its address and kind say.
func TestCrawl_DetectsKindOfSeed(t *testing.T) {
	const (
		feed    = `<?xml version="1.0"?><!-- news --><rss version="2.0"><channel><item><title>A</title><link>SITE/tin/a</link></item></channel></rss>`
		atom    = `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/tin/a"/></entry></feed>`
		sitemap = `<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet href="/s.xsl"?><sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"><sm:url><sm:loc>SITE/tin/a-b-c-d-e-f</sm:loc></sm:url></sm:urlset>`
		index   = `<sitemapindex><sitemap><loc>SITE/more.xml</loc></sitemap></sitemapindex>`
		page    = `<!doctype html><html><body><h2><a href="/tin/a-b-c-d-e-1000001.html">A long headline of seven words here</a></h2></body></html>`
		json    = `{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "SITE/tin/a"}]}`
	)
	for name, c := range map[string]struct {
		path, contentType, doc string
		given, want            crawl.Kind
		found                  int // URLs
	}{
		"RSS":                    {"/tin-tuc", "application/rss+xml", feed, crawl.Section, crawl.Feed, 1},
		"RSS at the root":        {"/", "application/xml", feed, crawl.Home, crawl.Feed, 1},
		"Atom as text":           {"/tin-tuc", "text/plain", atom, crawl.Section, crawl.Feed, 1},
		"Atom as HTML":           {"/tin-tuc", "text/html", atom, crawl.Section, crawl.Feed, 1},
		"JSON Feed":              {"/feed.json", "application/json", json, crawl.Section, crawl.Feed, 1},
		"sitemap":                {"/trang", "application/xml", sitemap, crawl.Section, crawl.Sitemap, 1},
		"sitemap that seems RSS": {"/news.xml", "text/xml", sitemap, crawl.Feed, crawl.Sitemap, 1},
		"RSS that seems sitemap": {"/sitemap.xml", "text/xml", feed, crawl.Sitemap, crawl.Feed, 1},
		"sitemap index":          {"/maps", "application/xml", index, crawl.Section, crawl.Sitemap, 1},
		"list of addresses": {
			"/urls", "text/plain", "SITE/tin/a-b-c-d-e-f\nSITE/tin/b-c-d-e-f-g\n", crawl.Section, crawl.Sitemap, 2,
		},
		"page that seems a feed":  {"/news.xml", "text/html", page, crawl.Feed, crawl.Section, 1},
		"page":                    {"/tin-tuc", "text/html", page, crawl.Section, crawl.Section, 1},
		"XHTML as XML":            {"/tin-tuc", "application/xml", page, crawl.Section, crawl.Section, 1},
		"nothing of these":        {"/data", "application/json", `{"a": 1}`, crawl.Section, crawl.Section, 0},
		"nothing of these in XML": {"/data", "application/xml", `<opml/>`, crawl.Section, crawl.Section, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f, site, _ := newLocalFixture(t)
			site.serve(c.path, c.contentType, c.doc)
			f.seed(c.given, site.url+c.path)
			out := f.crawlDomain(site.domain)
			if n := f.count("select count(*) from seeds where kind = $1 and (last_error = '') = $2", string(c.want),
				c.found > 0); n != 1 || out.Found != c.found {
				t.Errorf("got %d seeds of kind %s and %d URLs, want 1 and %d", n, c.want, out.Found, c.found)
			}
		})
	}
}

// An error page in the place of a feed does not make the seed a section.
func TestCrawl_ErrorPageDoesNotChangeKind(t *testing.T) {
	f, site, _ := newLocalFixture(t)
	site.serve("/rss", "text/xml", `<rss><channel><item><link>SITE/tin/a</link></item></channel></rss>`)
	f.seed(crawl.Section, site.url+"/rss")
	f.crawlDomain(site.domain)
	site.serve("/rss", "text/html", "<!doctype html><html><p>Back soon")
	f.crawlDomain(site.domain)
	if n := f.count("select count(*) from seeds where kind = 'feed'"); n != 1 {
		t.Errorf("got %d seeds of kind feed, want 1", n)
	}
}

// Two of eight articles have short addresses: they are fetched at depth 1, and a list is not
// followed.
func TestCrawl_FetchesArticlesWithShortSlugs(t *testing.T) {
	paths := []string{
		"/posts/tram-bom-tu-dong-o-ba-tri/", "/posts/the-night-ferry-to-halden-sound/",
		"/posts/lop-hoc-ve-dem-cua-nguoi-tho/", "/posts/a-library-that-lends-out-its-tools/",
		"/posts/cho-noi-vang-dan-tren-song/", "/posts/why-the-old-mill-turns-again/", "/posts/moss-that-counts-rain/",
		"/posts/night-ferry-returns/",
	}
	for name, kind := range map[string]crawl.Kind{"/sitemap.xml": crawl.Sitemap, "/": crawl.Home} {
		t.Run(string(kind), func(t *testing.T) {
			f, site, _ := newLocalFixture(t)
			var page, sitemap string
			for _, path := range paths {
				site.serve(path, "text/html", "<h1>"+path+"</h1><p>Text of the article.")
				page += `<li><a href="` + path + `">` + path[7:] + ` headline of the article</a>`
				sitemap += "<url><loc>SITE" + path + "</loc></url>"
			}
			if kind == crawl.Sitemap {
				site.serve(name, "text/xml", "<urlset>"+sitemap+"<url><loc>SITE/posts/</loc></url></urlset>")
			} else {
				site.serve(name, "text/html", "<html><nav><a href=/posts/>Posts</a></nav><ul>"+page)
			}
			f.seed(kind, site.url+name)
			f.crawlDomain(site.domain)
			for _, path := range paths {
				if n := site.requested(path); n != 1 {
					t.Errorf("%s: got %d requests, want 1", path, n)
				}
			}
			if n := site.requested("/posts/"); n != 0 {
				t.Errorf("got %d requests for the list, want 0", n)
			}
		})
	}
}
