package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

// The demo's news sites are crawled, and new articles are found. Without the demo, its
// seeds and articles are removed.
func TestDemo_CrawlsItsSites(t *testing.T) {
	t.Parallel()
	d := newDateline(t, "DATELINE_CRAWL_DELAY=100ms")
	d.start("--demo")
	d.ready()
	news := func() map[string]int {
		var list struct {
			Articles []struct {
				URL string `json:"url"`
			} `json:"articles"`
		}
		d.call(http.MethodGet, "/api/v1/articles?limit=100", nil, &list)
		found := map[string]int{}
		for _, a := range list.Articles {
			host, _, _ := strings.Cut(strings.TrimPrefix(a.URL, "http://"), ":")
			found[host]++
		}
		return found
	}
	hosts := []string{"site-0000.test", "site-0001.test", "site-0002.test"}
	e2etest.Eventually(t, 2*time.Minute, "articles of all sites", func() bool {
		found := news()
		return !slices.ContainsFunc(hosts, func(host string) bool { return found[host] < 6 })
	})
	// The next visit is a minute later; an editor can request one immediately.
	asked := time.Now()
	e2etest.Eventually(t, 2*time.Minute, "an article that was published later", func() bool {
		if time.Since(asked) > 3*time.Second {
			asked = time.Now()
			for _, host := range hosts {
				d.call(http.MethodPost, "/api/v1/domains/"+host+"/run", nil, nil)
			}
		}
		found := news()
		return slices.ContainsFunc(hosts, func(host string) bool { return found[host] > 6 })
	})
	seeds := func() int {
		var list struct {
			Seeds []struct {
				URL string `json:"url"`
			} `json:"seeds"`
		}
		d.call(http.MethodGet, "/api/v1/seeds", nil, &list)
		return len(list.Seeds)
	}
	if n := seeds(); n != 3 {
		t.Errorf("%d seeds", n)
	}
	d.stop()
	d.start()
	d.ready()
	if n := seeds(); n != 0 {
		t.Errorf("%d seeds of the demo are left", n)
	}
	if found := news(); len(found) != 0 {
		t.Errorf("articles of sites without seeds are shown: %v", found)
	}
}
