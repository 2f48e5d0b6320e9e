package crawl

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// Four workers crawl, and every few seconds one of them is killed, while sites
// ask to be left alone, and link to what they refuse. Every page is stored in the
// end, and the sites' own log tells of nothing but pauses.
func TestCrawl_SurvivesKilledWorkers(t *testing.T) {
	const delay = 300 * time.Millisecond
	each := max(*survivors / *sites, 1)
	s := newStage(t, crawltest.Options{Sites: *sites, IPs: 4, Articles: each, ArticlesPerHub: each, PageBytes: 20_000, Traps: true}, delay, 20)
	s.seed(crawl.Home)
	for place := range 4 {
		s.hire(place)
	}
	s.schedule()
	kills := 0
	stopped, ended := make(chan struct{}), make(chan struct{})
	stop := sync.OnceFunc(func() { close(stopped); <-ended })
	defer stop()
	go func() {
		defer close(ended)
		for {
			select {
			case <-stopped:
				return
			case <-time.After(4 * time.Second):
			}
			s.kill(kills % 4)
			s.hire(kills % 4)
			s.world.Site(kills%*sites).Throttle([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}[kills%2], 3*time.Second)
			kills++
		}
	}()
	patience := 3*time.Minute + time.Duration(each)*2*time.Second
	told := time.Now()
	s.until(patience, "the end of the crawl", func() bool {
		// A count is cheap; the list is made when it may be empty.
		left := len(s.world.Articles()) - s.count("select count(*) from urls where kind = 'article' and raw_hash <> ''")
		if left <= 0 {
			left = len(s.missing())
		}
		if time.Since(told) > 15*time.Second {
			told = time.Now()
			t.Logf("%d pages are missing", left)
		}
		return left == 0
	})
	stop()
	requests, again, throttled := s.world.Log(), 0, 0
	last := map[string]time.Time{}
	for _, r := range requests {
		if !r.PauseUntil.IsZero() {
			throttled++
		}
		url := r.Host + r.Path
		if before, ok := last[url]; ok && r.Path != "/robots.txt" {
			again++
			if r.At.Sub(before) < delay {
				t.Errorf("%s was fetched again after %s", url, r.At.Sub(before))
			}
		}
		last[url] = r.At
	}
	for i, sentence := range s.world.PolitenessViolations(delay, 2*time.Millisecond) {
		if i < 10 {
			t.Error(sentence)
		}
	}
	t.Logf("%d pages of %d sites, %d kills, %d requests, %d of them for a URL once more (hubs and what a killed worker had not recorded), %d answered with Retry-After",
		*survivors, *sites, kills, len(requests), again, throttled)
	if kills < 2 {
		t.Errorf("only %d workers were killed: the crawl is too small to show anything", kills)
	}
}
