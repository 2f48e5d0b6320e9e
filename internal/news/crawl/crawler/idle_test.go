package crawler_test

import (
	"strings"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/testing/crawltest"
)

// A drain waits for what is due within seconds, as ending and beginning anew
// costs more. It does not wait for what is due later, nor when it is paused.
func TestCrawl_WaitsForURLsDueSoon(t *testing.T) {
	l := limits()
	l.MaxIdleWait = 5 * time.Second
	f := newField(t, crawltest.Options{Sites: 1, Articles: 3, Sections: 1}, l)
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.drain(0)
	soon, later := site.Articles()[0], site.Articles()[1]
	due := func(in string) {
		t.Helper()
		_, err := f.db.Exec(t.Context(), "update urls set due_at = now() + interval '10 minutes' where due_at is not null")
		f.must(err)
		_, err = f.db.Exec(t.Context(), "update urls set due_at = now() + $2::text::interval where url = $1", soon.URL, in)
		f.must(err)
	}
	asked := func(a crawltest.Article) (n int) {
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
	if out.Fetched != 1 || asked(soon) != 2 || asked(later) != 1 || out.NextDue == nil {
		t.Errorf("%+v; asked for %d times, and %d for what was due later", out, asked(soon), asked(later))
	}
	due("3 seconds")
	go func() {
		_, _ = f.Store.ApplyDomainCommand(t.Context(), f.workspace.ID, site.Host(), crawl.Pause, "a test")
	}()
	out, err = f.Crawler.Crawl(t.Context(), site.Host(), nil, func(crawler.Result) {})
	f.must(err)
	if out.Fetched != 0 || !out.Paused {
		t.Errorf("paused: %+v", out)
	}
}
