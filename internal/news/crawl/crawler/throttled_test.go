package crawler_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"dateline/internal/news/crawl"
)

// A run of a site that asked somebody else for a pause, such as a watch, ends at once.
func TestCrawl_EndsDuringPauseOfSite(t *testing.T) {
	f, site, _ := newLocalFixture(t)
	site.serve("/", "text/html", "<p>Home")
	f.seed(crawl.Home, site.url+"/")
	f.crawlDomain(site.domain)
	_, err := f.db.Exec(t.Context(),
		"update crawl_slots set next_at = clock_timestamp() + interval '30 minutes', holder = null")
	f.must(err)
	before, start := site.requested("/"), time.Now()
	f.crawlDomain(site.domain)
	if took := time.Since(start); took > f.Limits.FetchTimeout {
		t.Errorf("took %s, want less than a fetch may take", took)
	}
	if n := f.count("select count(*) from crawl_domains where not_before > now() + interval '25 minutes'"); n != 1 ||
		site.requested("/") != before {
		t.Errorf("got %d blocked domains and %d requests, want 1 and 0", n, site.requested("/")-before)
	}
	if n := f.count("select count(*) from urls where lease is not null"); n != 0 {
		t.Errorf("got %d leased URLs, want 0", n)
	}
}

// Links that another site throttles, answers with nothing, or keeps from its robots.txt,
// stop neither the run nor the domain that links to them.
func TestCrawl_ThrottledRedirectTargetBlocksOnlyItself(t *testing.T) {
	throttle := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1800")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	hangUp := func(w http.ResponseWriter, _ *http.Request) {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = c.Close()
		}
	}
	for name, c := range map[string]struct {
		path  string
		serve http.HandlerFunc
	}{
		"page throttled":       {"/tin", throttle},
		"robots.txt throttled": {"/robots.txt", throttle},
		"connections closed":   {"/tin", hangUp},
	} {
		t.Run(name, func(t *testing.T) {
			f, site, other := newLocalFixture(t)
			other.pages[c.path] = c.serve
			var list string
			for _, path := range []string{
				"/a-2026-1000001.html", "/b-2026-1000002.html", "/c-2026-1000003.html",
				"/d-2026-1000004.html", "/e-2026-1000005.html", "/f-2026-1000006.html",
			} {
				list += "<url><loc>SITE" + path + "</loc></url>"
				site.pages[path] = func(w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, other.url+"/tin", http.StatusFound)
				}
			}
			site.serve("/sitemap.xml", "text/xml",
				"<urlset>"+list+"<url><loc>SITE/z-2026-1000009.html</loc></url></urlset>")
			site.serve("/z-2026-1000009.html", "text/html", "<h1>Z</h1><p>Text of the article.")
			f.seed(crawl.Sitemap, site.url+"/sitemap.xml")
			start := time.Now()
			f.crawlDomain(site.domain)
			if n := f.count("select count(*) from urls where state = 'stored' and url like '%/z-2026%'"); n != 1 {
				t.Errorf("got %d articles stored of the site that redirects, want 1", n)
			}
			if n := f.count("select count(*) from crawl_domains where not_before > now()"); n != 0 {
				t.Errorf("got %d blocked domains, want 0", n)
			}
			if took := time.Since(start); took > 2*f.Limits.FetchTimeout {
				t.Errorf("took %s, want no waiting for the other site", took)
			}
		})
	}
}

// A 304 may bring new validators (RFC 9111, section 4.3.4).
func TestCrawl_UpdatesValidators(t *testing.T) {
	f, site, _ := newLocalFixture(t)
	var asked []string
	site.pages["/"] = func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("If-None-Match")+" "+r.Header.Get("If-Modified-Since"))
		w.Header().Set("Content-Type", "text/html")
		switch len(asked) {
		case 1:
			w.Header().Set("ETag", `W/"v2"`)
			_, _ = w.Write([]byte("<p>Petrol"))
			return
		case 2:
			w.Header().Set("ETag", `"v3"`)
		case 3:
			w.Header().Set("Last-Modified", "Fri, 06 Mar 2026 09:15:00 GMT")
		}
		w.WriteHeader(http.StatusNotModified)
	}
	f.seed(crawl.Home, site.url+"/")
	for range 4 {
		f.crawlDomain(site.domain)
	}
	want := []string{" ", `W/"v2" `, `"v3" `, `"v3" Fri, 06 Mar 2026 09:15:00 GMT`}
	if !slices.Equal(asked, want) {
		t.Errorf("got the conditions %q, want %q", asked, want)
	}
}
