package crawl

import (
	"math/rand/v2"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// Sites publish continuously. Every article is stored, extracted, indexed and found in
// time: 95% are stored within 20 minutes of production's clock, and all are found
// within 30. Half of the sites have neither feeds nor sitemaps, so an article is
// discovered only on a front page where a single card is new: if it were classified as
// unchanged, the article would be missing.
func TestCrawl_DiscoversArticlesInTime(t *testing.T) {
	const delay = 20 * time.Millisecond
	s := newStage(t, crawltest.Options{
		Sites: *sites, IPs: 4, Articles: 10, ArticlesPerHub: 25, PageBytes: 10_000,
		Traps: true,
	}, delay, *factor)
	s.Search = true
	for i := range *sites / 2 {
		s.world.Site(2*i + 1).HideLists()
	}
	s.seed(crawl.Home)
	for slot := range 2 {
		s.startWorker(slot)
	}
	s.schedule()
	s.readAndIndex()
	s.until(3*time.Minute, "the first look at all sites", func() bool { return len(s.missing()) == 0 })

	lot, r := rand.New(rand.NewPCG(1, 2)), s.reader()
	var fresh []crawltest.Article
	for until := time.Now().Add(*watch); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		for range max(*sites/40, 1) {
			site := s.world.Site(lot.IntN(*sites))
			if lot.IntN(3) == 0 {
				site.Churn()
			}
			a := site.Publish()
			fresh = append(fresh, a)
			r.open[a.URL] = a
		}
		r.look()
	}
	bound := 30 * time.Minute / time.Duration(s.Factor)
	s.until(2*bound, "the last article", func() bool {
		r.look()
		return len(r.open) == 0
	})
	stored, found := spreadOf(s.storedAfter(fresh)), spreadOf(r.ages)
	t.Logf("%d sites, %d articles: published to stored %s; times %d that is %s", *sites, len(fresh), stored, s.Factor,
		stored.times(s.Factor))
	t.Logf("published to searchable %s; times %d that is %s", found, s.Factor, found.times(s.Factor))
	if stored.p95 > 20*time.Minute/time.Duration(s.Factor) || found.max > bound {
		t.Errorf("stored p95 %s, found max %s: too late", stored.p95, found.max)
	}
	for i, sentence := range s.world.PolitenessViolations(delay, 2*time.Millisecond) {
		if i < 10 {
			t.Error(sentence)
		}
	}
}

// storedAfter returns the delay between publication and storage of each article.
func (s *stage) storedAfter(all []crawltest.Article) (ages []time.Duration) {
	s.Helper()
	for _, a := range all {
		var stored time.Time
		s.must(s.db.QueryRow(s.Context(), `select changed_at from urls where url = $1`, a.URL).Scan(&stored))
		ages = append(ages, stored.Sub(a.PublishedAt))
	}
	return ages
}
