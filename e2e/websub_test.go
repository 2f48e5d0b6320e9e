package e2e

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/hubtest"
)

// TestWebSub_ArticlesAreFoundSecondsAfterTheirHubDelivers subscribes to the hub of a feed
// that is polled every hour. The subscription outlives a crash of the program.
func TestWebSub_ArticlesAreFoundSecondsAfterTheirHubDelivers(t *testing.T) {
	t.Parallel()
	hub := hubtest.Start(t)
	world, err := crawltest.New(crawltest.Options{Sites: 21, Articles: 3, Proxied: true, Hub: hub.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	site := world.Site(20) // each start deletes the seeds of the demo's sites, which have the first numbers
	d := newDateline(t, "DATELINE_WEBSUB=true", "DATELINE_CRAWL_PROXY_URL="+world.ProxyURL(),
		"DATELINE_ALLOW_PRIVATE_HOSTS="+hub.Host(), "DATELINE_CRAWL_IP_DELAY=0s")
	d.start()
	d.ready()
	if status := d.call(http.MethodPost, "/api/v1/seeds",
		map[string]any{
			"url": site.FeedURL(), "kind": "feed", "min_interval_seconds": 3600,
			"max_interval_seconds": 3600,
		}, nil); status != http.StatusCreated {
		t.Fatalf("making a seed: %d", status)
	}
	finds := func(a crawltest.Article) bool {
		var found struct {
			Hits []struct{ URL string }
		}
		d.call(http.MethodGet, "/api/v1/search?"+url.Values{"q": {`"` + a.Title + `"`}}.Encode(), nil, &found)
		return len(found.Hits) == 1 && found.Hits[0].URL == a.URL
	}
	e2etest.Eventually(t, 3*time.Minute, "the subscription", func() bool {
		return len(hub.Subscriptions(site.FeedURL())) == 1
	})
	for _, a := range site.Articles() {
		e2etest.Eventually(t, 2*time.Minute, a.Title+" to be found", func() bool { return finds(a) })
	}
	deliver := func() {
		t.Helper()
		fresh := site.Publish()
		start := time.Now()
		if got := hub.Publish(site.FeedURL(), "application/rss+xml",
			site.RSS([]crawltest.Article{fresh})); !slices.Equal(got, []int{http.StatusAccepted}) {
			t.Fatalf("got the responses %v to a delivery, want 202", got)
		}
		e2etest.Eventually(t, 3*time.Minute, "the delivered article to be found", func() bool { return finds(fresh) })
		t.Logf("found %s after the delivery", time.Since(start).Round(10*time.Millisecond))
	}
	deliver()
	deliver()
	d.kill()
	d.start()
	d.ready()
	deliver()
	if got := len(hub.Requests()); got != 1 {
		t.Errorf("got %d requests to the hub, want one: the subscription is kept", got)
	}
	var domain struct {
		Hubs []struct{ Feed, Hub, Status string }
	}
	d.call(http.MethodGet, "/api/v1/domains/"+site.Host(), nil, &domain)
	if len(domain.Hubs) != 1 || domain.Hubs[0].Feed != site.FeedURL() || domain.Hubs[0].Hub != hub.URL ||
		domain.Hubs[0].Status != "active" {
		t.Errorf("got the hubs %+v of the domain, want an active subscription", domain.Hubs)
	}
	if seen := d.scrape(); seen[`dateline_websub_subscriptions{state="active"}`] != 1 ||
		seen[`dateline_websub_articles_total`] < 1 {
		t.Errorf("got %v active subscriptions and %v delivered articles in the metrics, want one each",
			seen[`dateline_websub_subscriptions{state="active"}`], seen[`dateline_websub_articles_total`])
	}
}
