package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
)

// The demo's own news sites are crawled, and what they publish meanwhile is
// found; without the demo they are gone, and with their seeds their articles.
func TestTheDemoCrawlsItsOwnSites(t *testing.T) {
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
	e2etest.Eventually(t, 4*time.Minute, "articles of all sites, one of them published meanwhile", func() bool {
		found := news()
		more := false
		for i := range 3 {
			n := found[fmt.Sprintf("site-%04d.test", i)]
			if n < 6 {
				return false
			}
			more = more || n > 6
		}
		return more
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
