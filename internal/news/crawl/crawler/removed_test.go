package crawler_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// recrawl fetches all stored pages again.
func (f *fixture) recrawl() {
	f.t.Helper()
	_, err := f.db.Exec(f.t.Context(), "update urls set due_at = now() where kind = 'article' and due_at is not null")
	f.must(err)
	f.crawl(0)
}

// queued returns the pages queued for extraction and clears the queue.
func (f *fixture) queued() (out []crawl.CrawledPage) {
	f.t.Helper()
	all, err := f.Store.News.Domains.LeaseCrawledPages(f.t.Context(), 100, time.Minute)
	f.must(err)
	var ids []int64
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	f.must(f.Store.News.Domains.DeleteCrawledPages(f.t.Context(), ids))
	return all
}

// A removal is reported once it is certain: immediately for 410, the second time for
// 404. A page that returns is reported like a new version.
func TestCrawl_ReportsRemovedPages(t *testing.T) {
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 6, Sections: 1}, limits())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.crawl(0)
	f.queued()
	all := site.Articles()
	mistaken, missing, intended := all[0], all[1], all[2]
	site.Remove(mistaken.Number, http.StatusNotFound)
	site.Remove(missing.Number, http.StatusNotFound)
	site.Remove(intended.Number, http.StatusGone)
	f.recrawl()
	wantRemoved := func(want ...crawltest.Article) {
		t.Helper()
		got := f.queued()
		if len(got) != len(want) {
			t.Fatalf("got %+v, want %d removed pages", got, len(want))
		}
		for _, c := range got {
			named := slices.ContainsFunc(want, func(a crawltest.Article) bool { return a.URL == c.URL })
			if !c.Removed || !named || c.FetchedAt.IsZero() || c.ObjectKey != "" {
				t.Errorf("got unexpected page %+v", c)
			}
		}
	}
	wantRemoved(intended)
	site.Remove(mistaken.Number, http.StatusOK)
	f.recrawl()
	wantRemoved(missing, intended) // checked again after a month
	site.Remove(missing.Number, http.StatusOK)
	f.recrawl()
	for _, c := range f.queued() {
		if back := c.URL == missing.URL; c.Removed == back || back && (c.ObjectKey == "" || c.IsFirstVersion) {
			t.Errorf("got unexpected page %+v", c)
		}
	}
	if !f.stored(missing) || !f.stored(mistaken) {
		t.Error("restored pages are not stored")
	}
}

// A page that redirects permanently is reported as removed, with its target.
// One that redirects temporarily is retried.
func TestCrawl_ReportsMovedPages(t *testing.T) {
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 6, Sections: 1}, limits())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.crawl(0)
	f.queued()
	was := site.Articles()[3]
	now := site.Move(was.Number)
	f.recrawl()
	var removed, added []crawl.CrawledPage
	for _, c := range f.queued() {
		if c.Removed {
			removed = append(removed, c)
		} else {
			added = append(added, c)
		}
	}
	if len(removed) != 1 || len(added) != 1 {
		t.Fatalf("got removed %+v and added %+v, want one of each", removed, added)
	}
	if removed[0].URL != was.URL || removed[0].MovedTo != added[0].URLID {
		t.Errorf("got removed page %+v, want %s moved to %s", removed[0], was.URL, added[0].URLID)
	}
	if added[0].URL != now.URL {
		t.Errorf("got added page %s, want %s", added[0].URL, now.URL)
	}
	away := site.Articles()[4]
	site.Remove(away.Number, http.StatusFound)
	f.recrawl()
	if pages := f.queued(); len(pages) != 0 {
		t.Errorf("temporary redirect: got %+v, want nothing reported", pages)
	}
	if n := f.count("select count(*) from urls where url = $1 and state = 'failed' and due_at > now() and "+
		"last_error <> ''", away.URL); n != 1 {
		t.Error("temporary redirect: no retry is scheduled")
	}
}
