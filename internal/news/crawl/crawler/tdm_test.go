package crawler_test

import (
	"testing"
	"time"

	"dateline/internal/news/article"
	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// A site reserves its rights in tdmrep.json, which is read once with robots.txt. The rule
// that applies to a page is stored with it.
func TestCrawl_StoresTheReservationOfTheSite(t *testing.T) {
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 4, Sections: 1}, limits())
	site := f.world.Site(0)
	site.SetTDM(`[{"location": "/*.html$", "tdm-reservation": 1, "tdm-policy": "https://paper.example/policy.json"}]`)
	f.seed(crawl.Home, site.Home())
	f.crawl(0)
	f.wantPolite(delay)
	requests := 0
	for _, r := range f.world.Log() {
		if r.Path == "/.well-known/tdmrep.json" {
			requests++
		}
	}
	if requests != 1 {
		t.Errorf("got %d requests for tdmrep.json, want 1", requests)
	}
	pages, err := f.Store.News.Domains.LeaseCrawledPages(t.Context(), 100, time.Minute)
	f.must(err)
	if len(pages) != 4 {
		t.Fatalf("got %d articles, want 4", len(pages))
	}
	for _, c := range pages {
		p, _, err := f.Store.News.Articles.PageOf(t.Context(), c)
		f.must(err)
		if reserved, policy := p.Header.Get(article.SiteTDMReservation),
			p.Header.Get(article.SiteTDMPolicy); reserved != "1" || policy != "https://paper.example/policy.json" {
			t.Errorf("%s: got %q and %q, want a reservation with its policy", c.URL, reserved, policy)
		}
	}
}
