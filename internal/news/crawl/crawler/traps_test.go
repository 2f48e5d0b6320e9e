package crawler_test

import (
	"strings"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// A crawl that follows every link ends. Traps cost a few requests each and are
// reported. Pages that are disallowed by robots.txt are not requested, even if
// they look like articles.
func TestCrawl_BoundsAndReportsTraps(t *testing.T) {
	l := limits()
	l.FetchTimeout = 3 * time.Second
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 12, Sections: 1, Traps: true}, l)
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	_, err := f.db.Exec(t.Context(), "update seeds set max_depth = 5")
	f.must(err)
	f.crawl(0)
	for _, a := range site.Articles() {
		if !f.stored(a) {
			t.Errorf("%s is not stored", a.URL)
		}
	}
	d, err := f.Store.News.Domains.GetCrawlDomain(t.Context(), site.Host())
	f.must(err)
	problems, err := f.Store.News.Domains.ListFetchErrors(t.Context(), d.ID, 100)
	f.must(err)
	reasons := map[string]string{}
	for _, p := range problems {
		reasons[strings.TrimPrefix(p.URL, strings.TrimSuffix(site.Home(), "/"))] = p.Reason
	}
	for path, want := range map[string]string{
		"/loop/1": "trap: too many redirects: more than 10", "/huge": "too_big: the response exceeds the size limit",
		"/bomb": "too_big: ",
		"/drip": "timeout: ", "/hang": "timeout: ", "/private/1": "blocked_by_robots: Disallow: /private/",
		"/private/bai-viet-noi-bo-khong-danh-cho-ai-4899999.html": "blocked_by_robots: Disallow: /private/",
	} {
		if !strings.HasPrefix(reasons[path], want) {
			t.Errorf("%s: got error %q, want %q", path, reasons[path], want)
		}
	}
	endless := 0
	for _, why := range reasons {
		if why == "trap: too many sections like "+site.Host()+"/kho/N" {
			endless++
		}
	}
	if endless == 0 {
		t.Error("endless lists are not reported")
	}
	requests, lists := map[string]int{}, map[string]bool{}
	for _, r := range f.world.Log() {
		first, _, _ := strings.Cut(strings.Trim(r.Path, "/"), "/")
		first, _, _ = strings.Cut(first, ";")
		first, _, _ = strings.Cut(first, "?")
		if requests[first]++; first == "kho" {
			lists[r.Path] = true
		}
	}
	if len(lists) != l.MaxSimilarSections {
		t.Errorf("got %d lists of lists requested, want %d", len(lists), l.MaxSimilarSections)
	}
	// Months are not articles and are not followed; all session IDs lead to one
	// page; failed pages are retried a few times.
	for path, bounds := range map[string][2]int{
		"lich": {0, 0}, "phien": {1, 3}, "loop": {11, 44}, "huge": {1, 1},
		"bomb": {1, 1}, "drip": {1, 4}, "hang": {1, 4},
	} {
		if n := requests[path]; n < bounds[0] || n > bounds[1] {
			t.Errorf("/%s: got %d requests, want %d to %d", path, n, bounds[0], bounds[1])
		}
	}
	if d.Bytes > 32<<20 {
		t.Errorf("got %d bytes, want at most 32 MiB", d.Bytes)
	}
	if n := len(f.world.Log()); n > 250 {
		t.Errorf("got %d requests, want at most 250", n)
	}
	f.wantPolite(delay)
}
