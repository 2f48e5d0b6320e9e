package e2e

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/e2etest"
)

// TestCrawl_NewsIsFound crawls a site whose new articles are found by the search. Its
// selectors are learned, and all of that is in the metrics.
func TestCrawl_NewsIsFound(t *testing.T) {
	t.Parallel()
	world, err := crawltest.New(crawltest.Options{Sites: 1, Articles: 10, Sections: 2, Proxied: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	site := world.Site(0)
	d := newDateline(t, "DATELINE_CRAWL_PROXY_URL="+world.ProxyURL(), "DATELINE_CRAWL_DELAY=100ms",
		"DATELINE_CRAWL_IP_DELAY=0s")
	d.start()
	d.ready()
	if status := d.call(http.MethodPost, "/api/v1/seeds", map[string]any{"url": site.Home()},
		nil); status != http.StatusCreated {
		t.Fatalf("making a seed: %d", status)
	}
	finds := func(a crawltest.Article) bool {
		var found struct {
			Hits []struct{ URL string }
		}
		d.call(http.MethodGet, "/api/v1/search?"+url.Values{"q": {`"` + a.Title + `"`}}.Encode(), nil, &found)
		return len(found.Hits) == 1 && found.Hits[0].URL == a.URL
	}
	for _, a := range site.Articles() {
		e2etest.Eventually(t, 2*time.Minute, a.Title+" to be found", func() bool { return finds(a) })
	}
	e2etest.Eventually(t, 2*time.Minute, "selectors to be learned", func() bool {
		var extraction struct {
			Version int `json:"selector_version"`
		}
		d.call(http.MethodGet, "/api/v1/domains/"+site.Host()+"/extraction", nil, &extraction)
		return extraction.Version > 0
	})
	// A site's selectors are cached for up to a minute, and invalidated when they
	// change.
	fresh := site.Publish()
	d.call(http.MethodPost, "/api/v1/domains/"+site.Host()+"/run", nil, nil)
	e2etest.Eventually(t, 2*time.Minute, "the new article to be found", func() bool { return finds(fresh) })

	// Articles are found before the metrics include them.
	var seen map[string]float64
	e2etest.Eventually(t, 90*time.Second, "the new article to be in the metrics", func() bool {
		seen = d.scrape()
		return seen[`dateline_crawl_freshness_seconds_count{stage="searchable"}`] > 0
	})
	for metric, least := range map[string]float64{
		`dateline_articles_parsed_total{result="generic"}`:                      1,
		`dateline_articles_parsed_total{result="selectors"}`:                    1,
		`dateline_article_fields_total{field="body",result="filled"}`:           1,
		`dateline_selector_changes_total{change="learned"}`:                     1,
		`dateline_searches_total{mode="hybrid",result="ok"}`:                    11,
		`dateline_search_duration_seconds_count{mode="hybrid"}`:                 11,
		`dateline_crawl_freshness_seconds_count{stage="stored"}`:                1,
		`dateline_crawl_freshness_seconds_count{stage="searchable"}`:            1,
		`dateline_articles_pending{stage="parse"}`:                              0,
		`dateline_articles_pending{stage="index"}`:                              0,
		`dateline_articles_pending{stage="story"}`:                              0,
		`dateline_story_articles_total{result="founded"}`:                       1,
		`dateline_articles_oldest_pending_seconds{stage="index"}`:               0,
		`dateline_crawl_pages_total{kind="article",result="new"}`:               11,
		`dateline_crawl_freshness_seconds_bucket{stage="searchable",le="+Inf"}`: 1,
	} {
		value, served := seen[metric]
		if !served || value < least {
			t.Errorf("%s is %v (served: %v), want at least %v", metric, value, served, least)
		}
	}
}
