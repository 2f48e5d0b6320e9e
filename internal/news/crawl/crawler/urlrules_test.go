package crawler_test

import (
	"slices"
	"strings"
	"testing"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// Parameters that do not change the pages are learned. From then on, every page
// has one URL.
func TestCrawl_LearnsURLParameters(t *testing.T) {
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 6, Sections: 1, NoiseParameter: "nguon"}, limits())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.crawl(0)
	twice := f.count("select count(*) from urls where kind = 'article' and url like '%nguon=%'")
	if twice == 0 {
		t.Fatal("got no URLs with the parameter: there is nothing to learn")
	}
	d, err := f.Store.News.Domains.GetCrawlDomain(t.Context(), site.Host())
	f.must(err)
	if !slices.Equal(d.Rules.Drop, []string{"nguon"}) || len(d.Rules.Keep) != 0 {
		t.Fatalf("got rules %+v, want nguon dropped", d.Rules)
	}
	// New pages are fetched once, without the parameter.
	before := len(f.world.Log())
	a := site.Publish()
	f.crawl(0)
	if !f.stored(a) {
		t.Error("the new article is not stored")
	}
	times := 0
	for _, r := range f.world.Log()[before:] {
		if strings.Contains(r.Path, "nguon=") {
			t.Errorf("%s was requested", r.Path)
		}
		if strings.HasSuffix(a.URL, r.Path) {
			times++
		}
	}
	if times != 1 {
		t.Errorf("got %d requests for the new article, want 1", times)
	}
	// Known pages are refreshed without the parameter.
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where kind = 'article'")
	f.must(err)
	before = len(f.world.Log())
	f.crawl(0)
	for _, r := range f.world.Log()[before:] {
		if strings.Contains(r.Path, "nguon=") {
			t.Errorf("%s was requested again", r.Path)
		}
	}
	if n := f.count("select count(*) from urls where url like '%nguon=%' and (due_at is not null or state <> " +
		"'excluded')"); n != 0 {
		t.Errorf("got %d URLs with the parameter in use, want 0", n)
	}
	f.wantPolite(delay)
}
