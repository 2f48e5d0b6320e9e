package activities_test

import (
	"testing"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seen"
)

// After data loss in Redis, the daily workflow rebuilds the filter from
// Postgres in batches.
func TestRebuildURLFilter_FromDatabase(t *testing.T) {
	a := newArchive(t)
	a.exec(`insert into crawl_domains (domain) select 'news-' || i || '.example' from generate_series(1, 40) i`)
	a.exec(
		`insert into urls (domain_id, id, url, kind, rank) select d.id, gen_random_uuid(), 'https://' || d.domain || '/' || i, 'article', 3
		from crawl_domains d, generate_series(1, 300) i where d.domain like 'news-%'`)
	a.exec("analyze urls")
	a.must(a.Redis.FlushDB(t.Context()).Err())
	value, err := a.env.ExecuteActivity(a.Activities.CrawlMaintenance.RebuildURLFilter)
	a.must(err)
	var urls int
	a.must(value.Get(&urls))
	known, err := a.Store.News.Frontier.ListURLKeys(t.Context(), crawl.URLKey{}, 20_000)
	a.must(err)
	if urls != len(known) || urls < 12_000 {
		t.Fatalf("got %d URLs, want %d", urls, len(known))
	}
	filter := &seen.Filter{Redis: a.Redis}
	maybe := func(keys []crawl.URLKey) (n int) {
		t.Helper()
		for len(keys) > 0 {
			part := keys[:min(len(keys), 500)]
			keys = keys[len(part):]
			known, err := filter.Add(t.Context(), part)
			a.must(err)
			for _, yes := range known {
				if yes {
					n++
				}
			}
		}
		return n
	}
	if n := maybe(known); n != len(known) {
		t.Errorf("got %d of %d known URLs in the filter, want all", n, len(known))
	}
	unknown := make([]crawl.URLKey, 2000)
	for i := range unknown {
		unknown[i] = crawl.URLKey{DomainID: known[0].DomainID, ID: uuid.New()}
	}
	if n := maybe(unknown); n > 20 {
		t.Errorf("got %d of %d unknown URLs in the filter, want at most 20", n, len(unknown))
	}
}
