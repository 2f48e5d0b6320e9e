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

// The Crawl-delay applies from the first page on.
func TestCrawl_HonorsCrawlDelayUpToLimit(t *testing.T) {
	requested := 150 * time.Millisecond
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 4, Sections: 1}, limits())
	// Crawl-delay is in seconds, with fractions.
	f.world.Site(0).SetRobots("User-agent: *\nCrawl-delay: 0.15\nDisallow: /private/\nDisallow: /tim-kiem\n")
	f.seed(crawl.Home, f.world.Site(0).Home())
	f.crawl(0)
	f.wantPolite(requested)
	d, err := f.Store.News.Domains.GetCrawlDomain(t.Context(), f.world.Site(0).Host())
	f.must(err)
	if d.CrawlDelay != requested {
		t.Errorf("got crawl delay %s, want %s", d.CrawlDelay, requested)
	}
	// A delay of an hour is limited.
	g := newFixture(t, crawltest.Options{Sites: 1, Articles: 1, Sections: 1},
		func() crawler.Limits { l := limits(); l.MaxRobotsDelay = 100 * time.Millisecond; return l }())
	g.world.Site(0).SetRobots("User-agent: Dateline\nCrawl-delay: 3600\n")
	g.seed(crawl.Home, g.world.Site(0).Home())
	if out := g.crawl(0); out.Stored == 0 {
		t.Errorf("got %+v, want stored pages", out)
	}
}

func TestCrawl_RetryAfterBlocksDomain(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		f := newFixture(t, crawltest.Options{Sites: 1, Articles: 5, Sections: 1}, limits())
		site := f.world.Site(0)
		f.seed(crawl.Home, site.Home())
		f.crawl(0)
		a := site.Publish()
		site.Throttle(status, 3*time.Second)
		f.crawl(0)
		before := len(f.world.Log())
		d, err := f.Store.News.Domains.GetCrawlDomain(t.Context(), site.Host())
		f.must(err)
		if d.NotBefore == nil || time.Until(*d.NotBefore) < time.Second {
			t.Fatalf("%d: got the domain blocked until %v, want for a second or more", status, d.NotBefore)
		}
		if due, err := f.Store.News.Domains.ListDueDomains(t.Context(), 500); err != nil || len(due) != 0 {
			t.Errorf("%d: got due domains %v (%v), want none", status, due, err)
		}
		// A run that starts nevertheless is stopped by the request slot.
		f.crawl(0)
		for _, r := range f.world.Log()[before:] {
			// The host estimates the database's clock; on a busy machine it is milliseconds off.
			if r.At.Before(d.NotBefore.Add(-20 * time.Millisecond)) {
				t.Errorf("%d: %s came %s too early", status, r.Path, d.NotBefore.Sub(r.At))
			}
		}
		f.wantPolite(delay)
		if !f.stored(a) {
			t.Errorf("%d: the throttled article is not stored", status)
		}
	}
}

// Four concurrent runs of one domain are as polite as one and store nothing
// twice.
func TestCrawl_ConcurrentRunsStayPolite(t *testing.T) {
	f := newFixture(t, crawltest.Options{Sites: 2, Articles: 15, Sections: 2, Traps: true},
		func() crawler.Limits { l := limits(); l.BatchSize = 4; return l }())
	f.seed(crawl.Home, f.world.Site(0).Home(), f.world.Site(1).Home())
	_, err := f.Store.News.Domains.EnqueueDueSeeds(t.Context(), 10)
	f.must(err)
	var all sync.WaitGroup
	for range 4 {
		for i := range 2 {
			all.Go(func() {
				for range 3 {
					if _, err := f.Crawler.Crawl(context.Background(), f.world.Site(i).Host(), nil,
						func(crawler.Result) {}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	// A request that timed out on a busy machine is repeated later than the runs
	// last: what is left is due now.
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where state = 'failed'")
	f.must(err)
	f.crawl(0)
	f.crawl(1)
	f.wantPolite(delay)
	for _, a := range f.world.Articles() {
		if !f.stored(a) {
			reason := "not in the frontier"
			_ = f.db.QueryRow(t.Context(), "select state || ', ' || last_error from urls where url = $1", a.URL).
				Scan(&reason)
			t.Errorf("%s is not stored: %s", a.URL, reason)
		}
	}
	if n := f.count("select count(*) from (select 1 from page_versions group by domain_id, url_id, raw_hash having " +
		"count(*) > 1) twice"); n != 0 {
		t.Errorf("%d pages were stored twice", n)
	}
}

// A request of a dead worker counts: its slot stays taken until the request
// must have ended.
func TestCrawl_RespectsSlotOfDeadWorker(t *testing.T) {
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 3, Sections: 1},
		func() crawler.Limits { l := limits(); l.LeaseTTL = time.Second; return l }())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.crawl(0)
	site.Publish()
	site.Slow(time.Second)
	// The state after a crash: the slot is taken and the lease is valid.
	_, err := f.db.Exec(t.Context(),
		"update crawl_slots set next_at = clock_timestamp() + interval '2 seconds', holder = gen_random_uuid() where "+
			"key like 'd:%'")
	f.must(err)
	takenUntil := time.Now().Add(2 * time.Second)
	before := len(f.world.Log())
	f.crawl(0)
	for _, r := range f.world.Log()[before:] {
		if r.At.Before(takenUntil.Add(-20 * time.Millisecond)) {
			t.Errorf("%s was requested while the slot was taken", r.Path)
		}
	}
}

func TestCrawl_StopReleasesUnfetchedURLs(t *testing.T) {
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 30, Sections: 1, ArticlesPerHub: 30}, limits())
	f.seed(crawl.Home, f.world.Site(0).Home())
	_, err := f.Store.News.Domains.EnqueueDueSeeds(t.Context(), 10)
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
		t.Errorf("got %+v, want some of the pages fetched", out)
	}
	if n := f.count("select count(*) from urls where lease is not null"); n != 0 {
		t.Errorf("got %d leased URLs, want 0", n)
	}
	if n := f.count("select count(*) from urls where due_at <= now()"); n == 0 {
		t.Error("got no due URLs, want the unfetched ones")
	}
}

// Pages that are disallowed by robots.txt are never requested, not even through
// a redirect. Failed pages are retried with a delay.
func TestCrawl_DeadAndFailedURLs(t *testing.T) {
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 6, Sections: 1}, limits())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.crawl(0)
	missing := site.Articles()[0]
	_, err := f.db.Exec(t.Context(), "update urls set due_at = now(), url = url || 'x' where url = $1", missing.URL)
	f.must(err)
	f.crawl(0) // the first 404 of a stored page may be a mistake
	if n := f.count("select count(*) from urls where state = 'failed' and last_status = 404 and " +
		"due_at > now()"); n != 1 {
		t.Errorf("got %d URLs with a retry scheduled, want 1", n)
	}
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where state = 'failed'")
	f.must(err)
	f.crawl(0)
	if n := f.count("select count(*) from urls where state = 'dead' and last_status = 404 and due_at > now() + " +
		"interval '20 hours'"); n != 1 {
		t.Errorf("got %d dead URLs, want 1", n)
	}
	site.Fail(http.StatusInternalServerError)
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where kind = 'article' and state = 'stored'")
	f.must(err)
	f.crawl(0)
	if n := f.count("select count(*) from urls where state = 'failed' and last_status = 500 and attempts = 1 and " +
		"due_at > now()"); n == 0 {
		t.Error("got no failed URLs with a retry scheduled")
	}
	if n := f.count("select count(*) from seeds where last_error <> ''"); n != 1 {
		t.Errorf("got %d seeds with an error, want 1", n)
	}
	site.Fail(0)
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where state = 'failed'")
	f.must(err)
	f.crawl(0)
	if n := f.count("select count(*) from urls where state = 'failed'"); n != 0 {
		t.Errorf("got %d failed URLs after the site recovered, want 0", n)
	}
	for _, r := range f.world.Log() {
		if strings.HasPrefix(r.Path, "/private/") || strings.HasPrefix(r.Path, "/tim-kiem") {
			t.Errorf("%s was requested", r.Path)
		}
	}
}
