package activities_test

import (
	"testing"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seen"
)

// After Redis lost all, the workflow of every day fills the filter anew with all
// that Postgres knows, portion by portion.
func TestRebuildURLFilter_FromDatabase(t *testing.T) {
	a := newArchive(t)
	a.exec(`insert into crawl_domains (domain) select 'news-' || i || '.example' from generate_series(1, 40) i`)
	a.exec(`insert into urls (domain_id, id, url, kind, rank) select d.id, gen_random_uuid(), 'https://' || d.domain || '/' || i, 'article', 3
		from crawl_domains d, generate_series(1, 300) i where d.domain like 'news-%'`)
	a.exec("analyze urls")
	a.must(a.Redis.FlushDB(t.Context()).Err())
	value, err := a.env.ExecuteActivity(a.Activities.Maintenance.RebuildURLFilter)
	a.must(err)
	var told int
	a.must(value.Get(&told))
	known, err := a.Store.ListURLKeys(t.Context(), crawl.URLKey{}, 20_000)
	a.must(err)
	if told != len(known) || told < 12_000 {
		t.Fatalf("%d URLs are told, %d are known", told, len(known))
	}
	filter := &seen.Filter{Redis: a.Redis}
	maybe := func(names []crawl.URLKey) (n int) {
		t.Helper()
		for len(names) > 0 {
			part := names[:min(len(names), 500)]
			names = names[len(part):]
			answers, err := filter.Add(t.Context(), part)
			a.must(err)
			for _, yes := range answers {
				if yes {
					n++
				}
			}
		}
		return n
	}
	if n := maybe(known); n != len(known) {
		t.Errorf("of %d known URLs the filter knows %d", len(known), n)
	}
	strangers := make([]crawl.URLKey, 2000)
	for i := range strangers {
		strangers[i] = crawl.URLKey{DomainID: known[0].DomainID, ID: uuid.New()}
	}
	if n := maybe(strangers); n > 20 {
		t.Errorf("of %d URLs that nobody saw the filter knows %d", len(strangers), n)
	}
}
