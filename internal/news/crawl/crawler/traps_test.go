package crawler_test

import (
	"strings"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// A crawl that follows every link comes to an end: traps cost a few requests
// each, and the domain tells of them. What robots.txt refuses is not asked for,
// however much it looks like an article.
func TestCrawl_BoundsAndReportsTraps(t *testing.T) {
	l := limits()
	l.FetchTimeout = 3 * time.Second
	f := newField(t, crawltest.Options{Sites: 1, Articles: 12, Sections: 1, Traps: true}, l)
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	_, err := f.db.Exec(t.Context(), "update seeds set max_depth = 5")
	f.must(err)
	f.drain(0)
	for _, a := range site.Articles() {
		if !f.stored(a) {
			t.Errorf("%s is not stored", a.URL)
		}
	}
	d, err := f.Store.GetCrawlDomain(t.Context(), site.Host())
	f.must(err)
	problems, err := f.Store.ListFetchErrors(t.Context(), d.ID, 100)
	f.must(err)
	told := map[string]string{}
	for _, p := range problems {
		told[strings.TrimPrefix(p.URL, strings.TrimSuffix(site.Home(), "/"))] = p.Reason
	}
	for path, want := range map[string]string{
		"/loop/1": "trap: too many redirects: more than 10", "/huge": "too_big: the response exceeds the size limit", "/bomb": "too_big: ",
		"/drip": "timeout: ", "/hang": "timeout: ", "/private/1": "blocked_by_robots: Disallow: /private/",
		"/private/bai-viet-noi-bo-khong-danh-cho-ai-4899999.html": "blocked_by_robots: Disallow: /private/",
	} {
		if !strings.HasPrefix(told[path], want) {
			t.Errorf("%s: %q is told, want %q", path, told[path], want)
		}
	}
	endless := 0
	for _, why := range told {
		if why == "trap: too many sections like "+site.Host()+"/kho/N" {
			endless++
		}
	}
	if endless == 0 {
		t.Error("lists without end are not told of")
	}
	asked, lists := map[string]int{}, map[string]bool{}
	for _, r := range f.world.Log() {
		first, _, _ := strings.Cut(strings.Trim(r.Path, "/"), "/")
		first, _, _ = strings.Cut(first, ";")
		first, _, _ = strings.Cut(first, "?")
		if asked[first]++; first == "kho" {
			lists[r.Path] = true
		}
	}
	if len(lists) != l.MaxSimilarSections {
		t.Errorf("%d lists of lists were asked for, want %d", len(lists), l.MaxSimilarSections)
	}
	// Months are no articles and not followed; there is one page for all session
	// ids; what fails is tried a few times, ever later.
	for what, bounds := range map[string][2]int{"lich": {0, 0}, "phien": {1, 3}, "loop": {11, 44}, "huge": {1, 1}, "bomb": {1, 1}, "drip": {1, 4}, "hang": {1, 4}} {
		if n := asked[what]; n < bounds[0] || n > bounds[1] {
			t.Errorf("/%s was asked for %d times, want %d to %d", what, n, bounds[0], bounds[1])
		}
	}
	if d.Bytes > 32<<20 {
		t.Errorf("%d bytes came", d.Bytes)
	}
	if n := len(f.world.Log()); n > 250 {
		t.Errorf("%d requests", n)
	}
	f.wantPolite(delay)
}
