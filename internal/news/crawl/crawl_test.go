package crawl_test

import (
	"testing"
	"time"

	"dateline/internal/news/crawl"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/the-thao/", "/tin/the-thao/bong-da.html", true}, {"^/the-thao/", "/tin/the-thao/a.html", false}, {"^/tin/*.html$", "/tin/a/b.html", true},
		{"^/tin/*.html$", "/tin/a.html?p=1", false}, {".html$", "/axhtml", false}, {"a+b(c", "/a+b(c", true}, {"/video", "/VIDEO", false}, {"?page=", "/tin?page=2", true},
	} {
		if got := crawl.CompilePatterns([]string{c.pattern})[0].MatchString(c.path); got != c.want {
			t.Errorf("%s on %s: %v", c.pattern, c.path, got)
		}
	}
}

func FuzzPatterns(f *testing.F) {
	for _, p := range []string{"/the-thao/", "^/tin/*.html$", "*", "^$", "\\E(a+)+", "[", "\xff"} {
		f.Add(p)
	}
	f.Fuzz(func(_ *testing.T, pattern string) {
		for _, p := range crawl.CompilePatterns([]string{pattern}) {
			p.MatchString("/tin/the-thao/bong-da.html?page=2")
		}
	})
}

func TestIntervalsStayBetweenTheirBounds(t *testing.T) {
	p := crawl.DefaultRevisitPolicy()
	every := p.HubInterval
	for range 10 {
		every = crawl.NextHubInterval(every, true, p.MinHubInterval, p.MaxHubInterval)
	}
	if every != 5*time.Minute {
		t.Errorf("with news every %s", every)
	}
	if next := crawl.NextHubInterval(every, false, p.MinHubInterval, p.MaxHubInterval); next <= every {
		t.Errorf("without news %s after %s", next, every)
	}
	for range 20 {
		every = crawl.NextHubInterval(every, false, p.MinHubInterval, p.MaxHubInterval)
	}
	if every != 20*time.Minute {
		t.Errorf("without news every %s", every)
	}
	again := p.NextPageInterval(0, true)
	for range 20 {
		again = p.NextPageInterval(again, false)
	}
	if again != 30*24*time.Hour || p.NextPageInterval(again, true) != time.Hour {
		t.Errorf("a page that never changes every %s", again)
	}
}

func TestWhatFailsIsTriedLaterAndLater(t *testing.T) {
	p := crawl.DefaultRevisitPolicy()
	var last time.Duration
	for tries := 1; tries < 8; tries++ {
		wait, dead := p.RetryDelay(tries)
		if dead || wait <= last {
			t.Errorf("try %d: %s after %s, dead %v", tries, wait, last, dead)
		}
		last = wait
	}
	if wait, dead := p.RetryDelay(8); !dead || wait != p.DeadInterval {
		t.Errorf("%s %v", wait, dead)
	}
}

// Homes go before sections, those before news, news before what is deep or old,
// and everything new before what is fetched again.
func TestRanks(t *testing.T) {
	order := []int{crawl.HubRank(crawl.Home), crawl.HubRank(crawl.Section), crawl.HubRank(crawl.Feed), crawl.DiscoveryRank(crawl.Home, 1, 0, 50), crawl.DiscoveryRank(crawl.Home, 2, 0, 50),
		crawl.DiscoveryRank(crawl.Sitemap, 1, 0, 50), crawl.RetryRank(crawl.Article), crawl.RefreshRank(time.Hour), crawl.RefreshRank(24 * time.Hour), crawl.RefreshRank(30 * 24 * time.Hour)}
	for i := 1; i < len(order); i++ {
		if order[i] <= order[i-1] || order[i] > crawl.MaxRank {
			t.Errorf("place %d of %v", i, order)
		}
	}
	if crawl.DiscoveryRank(crawl.Home, 2, 0, 90) >= crawl.DiscoveryRank(crawl.Home, 2, 0, 50) || crawl.DiscoveryRank(crawl.Home, 1, 0, 10) <= crawl.DiscoveryRank(crawl.Home, 1, 0, 50) {
		t.Error("a seed's priority makes no difference")
	}
}
