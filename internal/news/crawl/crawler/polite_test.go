package crawler_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/testing/crawltest"
)

// What a site asks for in its robots.txt is waited for from its first page on.
func TestCrawl_HonorsCrawlDelayUpToLimit(t *testing.T) {
	asked := 150 * time.Millisecond
	f := newField(t, crawltest.Options{Sites: 1, Articles: 4, Sections: 1}, limits())
	// Crawl-delay is in seconds; fractions are read too.
	f.world.Site(0).SetRobots("User-agent: *\nCrawl-delay: 0.15\nDisallow: /private/\nDisallow: /tim-kiem\n")
	f.seed(crawl.Home, f.world.Site(0).Home())
	f.drain(0)
	f.wantPolite(asked)
	d, err := f.Store.GetCrawlDomain(t.Context(), f.world.Site(0).Host())
	f.must(err)
	if d.CrawlDelay != asked {
		t.Errorf("noted is %s", d.CrawlDelay)
	}
	// Who asks for an hour gets the cap.
	g := newField(t, crawltest.Options{Sites: 1, Articles: 1, Sections: 1}, func() crawler.Limits { l := limits(); l.MaxRobotsDelay = 100 * time.Millisecond; return l }())
	g.world.Site(0).SetRobots("User-agent: Dateline\nCrawl-delay: 3600\n")
	g.seed(crawl.Home, g.world.Site(0).Home())
	if out := g.drain(0); out.Stored == 0 {
		t.Errorf("%+v", out)
	}
}

func TestCrawl_RetryAfterBlocksDomain(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		f := newField(t, crawltest.Options{Sites: 1, Articles: 5, Sections: 1}, limits())
		site := f.world.Site(0)
		f.seed(crawl.Home, site.Home())
		f.drain(0)
		a := site.Publish()
		site.Throttle(status, 3*time.Second)
		f.drain(0)
		asked := len(f.world.Log())
		d, err := f.Store.GetCrawlDomain(t.Context(), site.Host())
		f.must(err)
		if d.NotBefore == nil || time.Until(*d.NotBefore) < time.Second {
			t.Fatalf("%d: the domain is left alone until %v", status, d.NotBefore)
		}
		if due, err := f.Store.ListDueDomains(t.Context(), 500); err != nil || len(due) != 0 {
			t.Errorf("%d: due are %v, %v", status, due, err)
		}
		// Whoever drains it all the same is recorded back at the gate.
		f.drain(0)
		for _, r := range f.world.Log()[asked:] {
			if r.At.Before(d.NotBefore.Add(-2 * time.Millisecond)) {
				t.Errorf("%d: %s came %s too early", status, r.Path, d.NotBefore.Sub(r.At))
			}
		}
		f.wantPolite(delay)
		if !f.stored(a) {
			t.Errorf("%d: the article that was throttled was lost", status)
		}
	}
}

// Four workers that drain one domain by mistake are as polite as one, and store
// nothing twice.
func TestCrawl_ConcurrentRunsStayPolite(t *testing.T) {
	f := newField(t, crawltest.Options{Sites: 2, Articles: 15, Sections: 2, Traps: true}, func() crawler.Limits { l := limits(); l.BatchSize = 4; return l }())
	f.seed(crawl.Home, f.world.Site(0).Home(), f.world.Site(1).Home())
	_, err := f.Store.EnqueueDueSeeds(t.Context(), 10)
	f.must(err)
	var all sync.WaitGroup
	for range 4 {
		for i := range 2 {
			all.Go(func() {
				for range 3 {
					if _, err := f.Crawler.Crawl(context.Background(), f.world.Site(i).Host(), nil, func(crawler.Result) {}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	f.wantPolite(delay)
	for _, a := range f.world.Articles() {
		if !f.stored(a) {
			t.Errorf("%s is not stored", a.URL)
		}
	}
	if n := f.count("select count(*) from (select 1 from page_versions group by domain_id, url_id, raw_hash having count(*) > 1) twice"); n != 0 {
		t.Errorf("%d pages were stored twice", n)
	}
}

// A request that was begun counts, although its worker died: the gate stays
// closed until that request must be over.
func TestCrawl_RespectsSlotOfDeadWorker(t *testing.T) {
	f := newField(t, crawltest.Options{Sites: 1, Articles: 3, Sections: 1}, func() crawler.Limits { l := limits(); l.LeaseTTL = time.Second; return l }())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.drain(0)
	site.Publish()
	site.Slow(time.Second)
	// As a dead worker leaves it: the gate closed, the lease running.
	_, err := f.db.Exec(t.Context(), "update crawl_slots set next_at = clock_timestamp() + interval '2 seconds', holder = gen_random_uuid() where key like 'd:%'")
	f.must(err)
	closed := time.Now().Add(2 * time.Second)
	before := len(f.world.Log())
	f.drain(0)
	for _, r := range f.world.Log()[before:] {
		if r.At.Before(closed.Add(-20 * time.Millisecond)) {
			t.Errorf("%s came while the gate was closed", r.Path)
		}
	}
}

func TestCrawl_StopReleasesUnfetchedURLs(t *testing.T) {
	f := newField(t, crawltest.Options{Sites: 1, Articles: 30, Sections: 1, ArticlesPerHub: 30}, limits())
	f.seed(crawl.Home, f.world.Site(0).Home())
	_, err := f.Store.EnqueueDueSeeds(t.Context(), 10)
	f.must(err)
	stop := make(chan struct{})
	go func() {
		for len(f.world.Log()) < 6 {
			time.Sleep(5 * time.Millisecond)
		}
		close(stop)
	}()
	out, err := f.Crawler.Crawl(t.Context(), f.world.Site(0).Host(), stop, func(crawler.Result) {})
	f.must(err)
	if out.Fetched == 0 || out.Fetched > 25 || out.NextDue == nil {
		t.Errorf("%+v", out)
	}
	if n := f.count("select count(*) from urls where lease is not null"); n != 0 {
		t.Errorf("%d URLs are still leased", n)
	}
	if n := f.count("select count(*) from urls where due_at <= now()"); n == 0 {
		t.Error("nothing is due any more")
	}
}

// What is refused by robots.txt is not asked for, not even at the end of a
// redirect; sites that fail are tried again and not at once.
func TestCrawl_DeadAndFailedURLs(t *testing.T) {
	f := newField(t, crawltest.Options{Sites: 1, Articles: 6, Sections: 1}, limits())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.drain(0)
	gone := site.Articles()[0]
	_, err := f.db.Exec(t.Context(), "update urls set due_at = now(), url = url || 'x' where url = $1", gone.URL)
	f.must(err)
	f.drain(0) // of a page that was there before, this may be a mistake
	if n := f.count("select count(*) from urls where state = 'failed' and last_status = 404 and due_at > now()"); n != 1 {
		t.Errorf("%d URLs are asked for once more", n)
	}
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where state = 'failed'")
	f.must(err)
	f.drain(0)
	if n := f.count("select count(*) from urls where state = 'dead' and last_status = 404 and due_at > now() + interval '20 hours'"); n != 1 {
		t.Errorf("%d URLs are dead", n)
	}
	site.Fail(http.StatusInternalServerError)
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where kind = 'article' and state = 'stored'")
	f.must(err)
	f.drain(0)
	if n := f.count("select count(*) from urls where state = 'failed' and last_status = 500 and attempts = 1 and due_at > now()"); n == 0 {
		t.Error("no URL waits for another try")
	}
	if n := f.count("select count(*) from seeds where last_error <> ''"); n != 1 {
		t.Error("the seed does not tell of the problem")
	}
	site.Fail(0)
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where state = 'failed'")
	f.must(err)
	f.drain(0)
	if n := f.count("select count(*) from urls where state = 'failed'"); n != 0 {
		t.Errorf("%d URLs have not recovered", n)
	}
	for _, r := range f.world.Log() {
		if strings.HasPrefix(r.Path, "/private/") || strings.HasPrefix(r.Path, "/tim-kiem") {
			t.Errorf("%s was asked for", r.Path)
		}
	}
}
