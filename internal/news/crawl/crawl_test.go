package crawl_test

import (
	"testing"
	"time"

	"dateline/internal/news/crawl"
)

func TestCompilePatterns_Match(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/the-thao/", "/tin/the-thao/bong-da.html", true},
		{"^/the-thao/", "/tin/the-thao/a.html", false},
		{"^/tin/*.html$", "/tin/a/b.html", true},
		{"^/tin/*.html$", "/tin/a.html?p=1", false},
		{".html$", "/axhtml", false},
		{"a+b(c", "/a+b(c", true},
		{"/video", "/VIDEO", false},
		{"?page=", "/tin?page=2", true},
	} {
		if got := crawl.CompilePatterns([]string{c.pattern})[0].MatchString(c.path); got != c.want {
			t.Errorf("pattern %s, path %s: got match %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

func FuzzCompilePatterns(f *testing.F) {
	for _, p := range []string{"/the-thao/", "^/tin/*.html$", "*", "^$", "\\E(a+)+", "[", "\xff"} {
		f.Add(p)
	}
	f.Fuzz(func(_ *testing.T, pattern string) {
		for _, p := range crawl.CompilePatterns([]string{pattern}) {
			p.MatchString("/tin/the-thao/bong-da.html?page=2")
		}
	})
}

func TestRevisitPolicy_IntervalsStayWithinBounds(t *testing.T) {
	p := crawl.DefaultRevisitPolicy()
	interval := p.HubInterval
	for range 10 {
		interval = crawl.NextHubInterval(interval, true, p.MinHubInterval, p.MaxHubInterval)
	}
	if interval != 5*time.Minute {
		t.Errorf("hub with news: got %s, want 5m", interval)
	}
	if next := crawl.NextHubInterval(interval, false, p.MinHubInterval, p.MaxHubInterval); next <= interval {
		t.Errorf("hub without news: got %s after %s, want more", next, interval)
	}
	for range 20 {
		interval = crawl.NextHubInterval(interval, false, p.MinHubInterval, p.MaxHubInterval)
	}
	if interval != 20*time.Minute {
		t.Errorf("hub without news: got %s, want 20m", interval)
	}
	interval = p.NextPageInterval(0, true)
	for range 20 {
		interval = p.NextPageInterval(interval, false)
	}
	if want := 30 * 24 * time.Hour; interval != want {
		t.Errorf("unchanged page: got %s, want %s", interval, want)
	}
	if got := p.NextPageInterval(interval, true); got != time.Hour {
		t.Errorf("changed page: got %s, want 1h", got)
	}
}

func TestRevisitPolicy_RetryDelayGrows(t *testing.T) {
	p := crawl.DefaultRevisitPolicy()
	var last time.Duration
	for attempts := 1; attempts < 8; attempts++ {
		wait, dead := p.RetryDelay(attempts)
		if dead || wait <= last {
			t.Errorf("attempt %d: got %s (dead %v), want more than %s", attempts, wait, dead, last)
		}
		last = wait
	}
	if wait, dead := p.RetryDelay(8); !dead || wait != p.DeadInterval {
		t.Errorf("attempt 8: got %s (dead %v), want %s (dead true)", wait, dead, p.DeadInterval)
	}
}

// Homes come before sections, sections before new articles, those before deep or
// old ones, and everything new before refreshes.
func TestRanks_Order(t *testing.T) {
	order := []int{
		crawl.HubRank(crawl.Home), crawl.HubRank(crawl.Section), crawl.HubRank(crawl.Feed),
		crawl.DiscoveryRank(crawl.Home, 1, 0, 50), crawl.DiscoveryRank(crawl.Home, 2, 0, 50),
		crawl.DiscoveryRank(crawl.Sitemap, 1, 0, 50),
		crawl.RetryRank(crawl.Article),
		crawl.RefreshRank(time.Hour), crawl.RefreshRank(24 * time.Hour), crawl.RefreshRank(30 * 24 * time.Hour),
	}
	for i := 1; i < len(order); i++ {
		if order[i] <= order[i-1] || order[i] > crawl.MaxRank {
			t.Errorf("ranks %v: rank %d must be above the one before, up to %d", order, i, crawl.MaxRank)
		}
	}
	if high, normal := crawl.DiscoveryRank(crawl.Home, 2, 0, 90), crawl.DiscoveryRank(crawl.Home, 2, 0,
		50); high >= normal {
		t.Errorf("priority 90: got rank %d, want below %d", high, normal)
	}
	if low, normal := crawl.DiscoveryRank(crawl.Home, 1, 0, 10), crawl.DiscoveryRank(crawl.Home, 1, 0,
		50); low <= normal {
		t.Errorf("priority 10: got rank %d, want above %d", low, normal)
	}
}
