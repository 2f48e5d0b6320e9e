package crawltest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/news/article/dates"
	"dateline/internal/news/crawl/change"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/robots"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/testing/crawltest"
)

// crawler is a minimal crawler built from the packages: no delays, no frontier.
type crawler struct {
	t       *testing.T
	world   *crawltest.World
	fetcher *fetch.Fetcher
	robots  *robots.Cache
	shapes  *discover.ShapeLimiter

	queue   []discover.Link
	seen    map[weburl.URL]bool
	pages   map[string]*fetch.Result // by final URL
	reasons map[string]string        // errors by path
}

func newCrawler(t *testing.T, w *crawltest.World, limits fetch.Limits) *crawler {
	f, err := fetch.New(fetch.Options{
		Product: "Dateline", Contact: "https://example.org/",
		AllowPrivate: w.AllowPrivate(), Resolver: w.Resolver(),
		Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return &crawler{
		t: t, world: w, fetcher: f,
		robots: robots.NewCache(robots.Options{Product: f.Product(), Source: f.FetchRobots}),
		shapes: discover.NewShapeLimiter(10),
		seen:   map[weburl.URL]bool{}, pages: map[string]*fetch.Result{}, reasons: map[string]string{},
	}
}

func (c *crawler) add(links ...discover.Link) {
	for _, link := range links {
		if c.seen[link.URL] {
			continue
		}
		c.seen[link.URL] = true
		reason := discover.TrapReason(link.URL, time.Now())
		if reason == "" && link.Kind != discover.Article {
			reason = c.shapes.Admit(link.URL)
		}
		if reason != "" {
			c.reasons[link.URL.Path()] = reason
			continue
		}
		c.queue = append(c.queue, link)
	}
}

func (c *crawler) allowed(ctx context.Context, address string) (bool, string) {
	u, err := weburl.Parse(address, weburl.Rules{})
	if err != nil {
		return false, err.Error()
	}
	policy, err := c.robots.Get(ctx, u.Origin())
	if err != nil {
		return false, err.Error()
	}
	verdict := policy.Check(u.RequestURI())
	return verdict.Allowed, verdict.Rule
}

func (c *crawler) run(seeds ...string) {
	for _, seed := range seeds {
		u, err := weburl.Parse(seed, weburl.Rules{})
		if err != nil {
			c.t.Fatal(err)
		}
		kind, _ := discover.Classify(u)
		c.add(discover.Link{URL: u, Kind: kind})
	}
	for len(c.queue) > 0 {
		link := c.queue[0]
		c.queue = c.queue[1:]
		kind := fetch.KindPage
		switch link.Kind {
		case discover.Feed:
			kind = fetch.KindFeed
		case discover.Sitemap:
			kind = fetch.KindSitemap
		}
		r, err := c.fetcher.Fetch(c.t.Context(), fetch.Request{URL: link.URL.String(), Kind: kind, Allowed: c.allowed})
		if err != nil {
			c.t.Fatal(err)
		}
		if r.Outcome != fetch.OK {
			c.reasons[link.URL.Path()] = string(r.Outcome) + ": " + r.Reason
			continue
		}
		final, err := weburl.Parse(r.FinalURL, weburl.Rules{})
		if err != nil {
			c.t.Fatal(err)
		}
		c.pages[final.String()] = r
		c.discover(link.Kind, final, r)
	}
}

func (c *crawler) discover(kind discover.Kind, at weburl.URL, r *fetch.Result) {
	o := discover.Options{Now: r.Started, Zone: dates.VietnamTime()}
	switch kind {
	case discover.Feed:
		feed, err := discover.ParseFeed(r.Text, at, o)
		if err != nil {
			c.t.Errorf("%s: %v", at, err)
		}
		c.add(feed.Items...)
	case discover.Sitemap:
		sitemap, err := discover.ParseSitemap(r.Text, at, o)
		if err != nil {
			c.t.Errorf("%s: %v", at, err)
		}
		c.add(sitemap.Sitemaps...)
		c.add(sitemap.Pages...)
	default:
		c.add(discover.ParseHub(r.Text, at, o).Links...)
	}
}

// Every article is found from the front page despite all traps. Each trap costs few
// requests and is reported with its reason. Paths disallowed by robots.txt are not
// requested.
func TestWorld_CrawlPastTraps(t *testing.T) {
	if testing.Short() {
		t.Skip("crawls for seconds; run without -short")
	}
	w, err := crawltest.New(crawltest.Options{Articles: 60, Traps: true, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	// Each hanging and each slow response costs these timeouts once. They are long
	// enough that pages of a busy machine are not cut off.
	c := newCrawler(t, w, fetch.Limits{HeaderTimeout: 4 * time.Second, Grace: time.Second, PageBytes: 1 << 20})
	c.run(w.Site(0).Home(), w.Site(0).URL("/sitemap.xml"))
	for _, a := range w.Articles() {
		r := c.pages[a.URL]
		if r == nil || !strings.Contains(string(r.Text), a.Title) {
			t.Errorf("%s was not found", a.URL)
		}
	}
	for path, n := range w.Fetches() {
		if n > 2 && !strings.HasSuffix(path, "/robots.txt") { // an article, and a redirect to it
			t.Errorf("%s was fetched %d times", path, n)
		}
	}
	for _, what := range w.PolitenessViolations(0, 0) {
		t.Error(what)
	}
	if requests := len(w.Log()); requests > 60+100 {
		t.Errorf("%d requests for 60 articles", requests)
	}
	for path, want := range map[string]string{
		"/loop/1": "trap: too many redirects: more than 10", "/huge": "too_big: the response exceeds the size limit",
		"/bomb": "too_big: ", "/drip": "timeout: the transfer is too slow",
		"/hang": "timeout: the request timed out", "/private/1": "blocked_by_robots: Disallow: /private/",
		"/tim-kiem": "blocked_by_robots: Disallow: /tim-kiem",
	} {
		if got := c.reasons[path]; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", path, got)
		}
	}
	calendar := ""
	for path, reason := range c.reasons {
		if strings.HasPrefix(path, "/lich/") && strings.HasPrefix(reason, "trap: ") {
			calendar = reason
		}
	}
	if calendar == "" {
		t.Error("the crawl did not leave the calendar")
	}
}

// A hub with one new card is never classified as unchanged, and one without always is.
func TestWorld_HubsChangeWithNews(t *testing.T) {
	w, err := crawltest.New(crawltest.Options{Sites: 3, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	c := newCrawler(t, w, fetch.Limits{})
	look := func(address string) (articles map[string]bool, digest change.Digest) {
		r, err := c.fetcher.Fetch(t.Context(), fetch.Request{URL: address})
		if err != nil || r.Outcome != fetch.OK {
			t.Fatalf("%+v %v", r, err)
		}
		at, err := weburl.Parse(r.FinalURL, weburl.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		articles = map[string]bool{}
		var urls []weburl.URL
		for _, link := range discover.ParseHub(r.Text, at,
			discover.Options{Now: r.Started, Zone: dates.VietnamTime()}).Links {
			if link.Kind == discover.Article {
				articles[link.URL.String()] = true
				urls = append(urls, link.URL)
			}
		}
		return articles, change.HubDigest(urls)
	}
	for _, s := range w.Sites() {
		before, was := look(s.Home())
		for round := range 30 {
			s.Churn()
			if _, is := look(s.Home()); is != was {
				t.Fatalf("round %d: a new template counts as news", round)
			}
			a := s.Publish()
			after, is := look(s.Home())
			added := 0
			for url := range after {
				if !before[url] {
					added++
				}
			}
			if is == was || added != 1 || !after[a.URL] {
				t.Fatalf("round %d: a new article was not detected", round)
			}
			before, was = after, is
		}
	}
}

// robots.txt is fetched once, also while a site fails.
func TestWorld_RobotsDuringFaults(t *testing.T) {
	w, err := crawltest.New(crawltest.Options{CrawlDelay: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	c, s := newCrawler(t, w, fetch.Limits{}), w.Site(0)
	s.Fail(http.StatusInternalServerError)
	for range 3 {
		if ok, why := c.allowed(t.Context(), s.Home()); ok || why != "robots.txt could not be fetched" {
			t.Errorf("while it fails: %v, %q", ok, why)
		}
	}
	if asked := len(w.Log()); asked != 1 {
		t.Errorf("got %d requests", asked)
	}
	s.Fail(0)
	c = newCrawler(t, w, fetch.Limits{})
	policy, err := c.robots.Get(t.Context(), s.URL(""))
	if err != nil || policy.CrawlDelay != 2*time.Second || len(policy.Sitemaps) != 1 ||
		policy.Sitemaps[0] != s.URL("/sitemap.xml") {
		t.Errorf("%+v %v", policy, err)
	}
}
