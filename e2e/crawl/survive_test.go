package crawl

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// Four workers crawl, and every few seconds one is killed, while sites throttle and
// link to pages that robots.txt disallows. In the end every page is stored, and the
// sites' logs show no politeness violations.
func TestCrawl_SurvivesKilledWorkers(t *testing.T) {
	const delay = 300 * time.Millisecond
	each := max(*survivors / *sites, 1)
	maxKills := max(each*2/3, 4)
	s := newStage(t, crawltest.Options{
		Sites: *sites, IPs: 4, Articles: each, ArticlesPerHub: each, PageBytes: 20_000,
		Traps: true,
	}, delay, 20)
	s.seed(crawl.Home)
	for slot := range 4 {
		s.startWorker(slot)
	}
	s.schedule()
	kills := 0
	stopped, ended := make(chan struct{}), make(chan struct{})
	stop := sync.OnceFunc(func() { close(stopped); <-ended })
	defer stop()
	go func() {
		defer close(ended)
		// After a death, its domains wait up to 20 s for their retry (crawlOptions). With a
		// death every 4 s the last pages may wait for as long as workers are killed.
		for kills < maxKills {
			select {
			case <-stopped:
				return
			case <-time.After(4 * time.Second):
			}
			s.killWorker(kills % 4)
			s.startWorker(kills % 4)
			s.world.Site(kills%*sites).
				Throttle([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}[kills%2], 3*time.Second)
			kills++
		}
	}()
	timeout := 3*time.Minute + time.Duration(each)*2*time.Second
	loggedAt := time.Now()
	s.until(timeout, "the end of the crawl", func() bool {
		// Counting is cheap; read the list only when it may be empty.
		left := len(s.world.Articles()) - s.count("select count(*) from urls where kind = 'article' and raw_hash <> ''")
		if left <= 0 {
			left = len(s.missing())
		}
		if time.Since(loggedAt) > 15*time.Second {
			loggedAt = time.Now()
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
	t.Logf("%d pages of %d sites, %d kills, %d requests, %d of them for a repeated URL (hubs, and requests that a "+
		"killed worker had not recorded), %d answered with Retry-After",
		*survivors, *sites, kills, len(requests), again, throttled)
	if kills < 2 {
		t.Errorf("only %d workers were killed: use a longer crawl, or this test proves little", kills)
	}
}
