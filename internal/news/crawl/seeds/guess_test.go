package seeds

import (
	"testing"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
)

func TestGuessKind_ByAddress(t *testing.T) {
	for path, want := range map[string]crawl.Kind{
		"/": crawl.Home, "/the-thao": crawl.Section, "/the-thao/": crawl.Section, "/?lang=vi": crawl.Section,
		"/tin-hom-nay.htm": crawl.Section,
		"/sitemap.xml":     crawl.Sitemap, "/sitemap_index.xml": crawl.Sitemap, "/post-sitemap2.xml": crawl.Sitemap,
		"/sitemap-news.xml.gz": crawl.Sitemap,
		"/news.xml":            crawl.Feed, "/feed/": crawl.Feed, "/rss": crawl.Feed, "/rss/tin-moi.rss": crawl.Feed,
		"/index.rdf": crawl.Feed, "/blog/atom.xml": crawl.Feed,
	} {
		u, err := weburl.Parse("https://news.example"+path, weburl.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		if got := guessKind(u); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
