package crawl

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dateline/internal/crawl"
	"dateline/internal/crawl/crawltest"
)

// Sites publish all the while. Every article is stored in time: 95 of 100 within
// 20 minutes of production's clock, all within 30. Half of the sites have neither
// feeds nor sitemaps, so that nothing is found there but by a front page on which
// one card is new: were one called unchanged, its article would be missing.
func TestNewArticlesAreStoredInTime(t *testing.T) {
	const delay = 20 * time.Millisecond
	s := newStage(t, crawltest.Options{Sites: *sites, IPs: 4, Articles: 10, OnHub: 25, PageBytes: 10_000, Traps: true}, delay, *factor)
	for i := range *sites / 2 {
		s.world.Site(2*i + 1).HideLists()
	}
	s.seed(crawl.Home)
	for place := range 2 {
		s.hire(place)
	}
	s.schedule()
	s.until(3*time.Minute, "the first look at all sites", func() bool { return len(s.missing()) == 0 })

	lot := rand.New(rand.NewPCG(1, 2))
	var fresh []crawltest.Published
	for until := time.Now().Add(*watch); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		for range max(*sites/40, 1) {
			site := s.world.Site(lot.IntN(*sites))
			if lot.IntN(3) == 0 {
				site.Churn()
			}
			fresh = append(fresh, site.Publish())
		}
	}
	bound := 30 * time.Minute / time.Duration(s.Factor)
	s.until(2*bound, "the last article", func() bool { return len(s.missing()) == 0 })
	var ages []time.Duration
	for _, a := range fresh {
		var stored time.Time
		s.must(s.db.QueryRow(t.Context(), `select changed_at from urls where url = $1`, a.URL).Scan(&stored))
		ages = append(ages, stored.Sub(a.At))
	}
	slices.Sort(ages)
	p95, most := ages[len(ages)*95/100], ages[len(ages)-1]
	t.Logf("%d sites, %d articles: published to stored p50 %s, p95 %s, max %s; times %d that is %s, %s, %s", *sites, len(ages),
		ages[len(ages)/2], p95, most, s.Factor, ages[len(ages)/2]*time.Duration(s.Factor), p95*time.Duration(s.Factor), most*time.Duration(s.Factor))
	if p95 > 20*time.Minute/time.Duration(s.Factor) || most > bound {
		t.Errorf("p95 %s, max %s: too late", p95, most)
	}
	for i, sentence := range s.world.Impolite(delay, 2*time.Millisecond) {
		if i < 10 {
			t.Error(sentence)
		}
	}
}
