package crawler_test

import (
	"slices"
	"strings"
	"testing"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// A parameter that does not change a site's pages is learned from them: after
// that a page is known, fetched and stored under one name.
func TestCrawl_LearnsURLParameters(t *testing.T) {
	f := newField(t, crawltest.Options{Sites: 1, Articles: 6, Sections: 1, NoiseParameter: "nguon"}, limits())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.drain(0)
	twice := f.count("select count(*) from urls where kind = 'article' and url like '%nguon=%'")
	if twice == 0 {
		t.Fatal("nothing is known by two names: there is nothing to learn")
	}
	d, err := f.Store.GetCrawlDomain(t.Context(), site.Host())
	f.must(err)
	if !slices.Equal(d.Rules.Drop, []string{"nguon"}) || len(d.Rules.Keep) != 0 {
		t.Fatalf("learned is %+v", d.Rules)
	}
	// What is new is fetched once, under its own name.
	asked := len(f.world.Log())
	a := site.Publish()
	f.drain(0)
	if !f.stored(a) {
		t.Error("the new article is not stored")
	}
	times := 0
	for _, r := range f.world.Log()[asked:] {
		if strings.Contains(r.Path, "nguon=") {
			t.Errorf("%s was asked for", r.Path)
		}
		if strings.HasSuffix(a.URL, r.Path) {
			times++
		}
	}
	if times != 1 {
		t.Errorf("the new article was asked for %d times", times)
	}
	// What was known by two names is looked at under one.
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where kind = 'article'")
	f.must(err)
	asked = len(f.world.Log())
	f.drain(0)
	for _, r := range f.world.Log()[asked:] {
		if strings.Contains(r.Path, "nguon=") {
			t.Errorf("%s was asked for again", r.Path)
		}
	}
	if n := f.count("select count(*) from urls where url like '%nguon=%' and (due_at is not null or state <> 'excluded')"); n != 0 {
		t.Errorf("%d old names are still in use", n)
	}
	f.wantPolite(delay)
}
