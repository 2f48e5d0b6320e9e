package crawler_test

import (
	"strings"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/testing/crawltest"
)

// A run waits for URLs that are due within seconds, because another activity
// costs more. It does not wait for later ones, nor while the domain is paused.
func TestCrawl_WaitsForURLsDueSoon(t *testing.T) {
	l := limits()
	l.MaxIdleWait = 5 * time.Second
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 3, Sections: 1}, l)
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.crawl(0)
	soon, later := site.Articles()[0], site.Articles()[1]
	due := func(in string) {
		t.Helper()
		_, err := f.db.Exec(t.Context(),
			"update urls set due_at = now() + interval '10 minutes' where due_at is not null")
		f.must(err)
		_, err = f.db.Exec(t.Context(), "update urls set due_at = now() + $2::text::interval where url = $1", soon.URL,
			in)
		f.must(err)
	}
	requests := func(a crawltest.Article) (n int) {
		for _, r := range f.world.Log() {
			if strings.HasSuffix(a.URL, r.Path) {
				n++
			}
		}
		return n
	}
	due("2 seconds")
	out, err := f.Crawler.Crawl(t.Context(), site.Host(), nil, func(crawler.Result) {})
	f.must(err)
	if out.Fetched != 1 || requests(soon) != 2 || requests(later) != 1 || out.NextDue == nil {
		t.Errorf("got %+v; %d requests for the URL due soon, %d for the later one, want 2 and 1", out, requests(soon),
			requests(later))
	}
	due("3 seconds")
	go func() {
		_, _ = f.Store.News.Domains.ApplyDomainCommand(t.Context(), f.workspace.ID, site.Host(), crawl.Pause, "a test")
	}()
	out, err = f.Crawler.Crawl(t.Context(), site.Host(), nil, func(crawler.Result) {})
	f.must(err)
	if out.Fetched != 0 || !out.Paused {
		t.Errorf("paused domain: got %+v, want nothing fetched", out)
	}
}
