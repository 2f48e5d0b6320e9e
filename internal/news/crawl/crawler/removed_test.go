package crawler_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/testing/crawltest"
)

// again has all that was stored asked for once more.
func (f *field) again() {
	f.t.Helper()
	_, err := f.db.Exec(f.t.Context(), "update urls set due_at = now() where kind = 'article' and due_at is not null")
	f.must(err)
	f.drain(0)
}

// handed takes what the reader of pages is told of next.
func (f *field) handed() (out []crawl.CrawledPage) {
	f.t.Helper()
	all, err := f.Store.LeaseCrawledPages(f.t.Context(), 100, time.Minute)
	f.must(err)
	var ids []int64
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	f.must(f.Store.DeleteCrawledPages(f.t.Context(), ids))
	return all
}

// A page that is withdrawn is told of when that is sure: at once for 410, the
// second time for 404. When it is back, it is told of like a new version.
func TestCrawl_ReportsRemovedPages(t *testing.T) {
	f := newField(t, crawltest.Options{Sites: 1, Articles: 6, Sections: 1}, limits())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.drain(0)
	f.handed()
	all := site.Articles()
	mistaken, missing, meant := all[0], all[1], all[2]
	site.Remove(mistaken.Number, http.StatusNotFound)
	site.Remove(missing.Number, http.StatusNotFound)
	site.Remove(meant.Number, http.StatusGone)
	f.again()
	wantGone := func(want ...crawltest.Article) {
		t.Helper()
		got := f.handed()
		if len(got) != len(want) {
			t.Fatalf("told of %+v", got)
		}
		for _, c := range got {
			named := slices.ContainsFunc(want, func(a crawltest.Article) bool { return a.URL == c.URL })
			if !c.Removed || !named || c.FetchedAt.IsZero() || c.ObjectKey != "" {
				t.Errorf("told of %+v", c)
			}
		}
	}
	wantGone(meant)
	site.Remove(mistaken.Number, http.StatusOK)
	f.again()
	wantGone(missing, meant) // asked for again after a month
	site.Remove(missing.Number, http.StatusOK)
	f.again()
	for _, c := range f.handed() {
		if back := c.URL == missing.URL; c.Removed == back || back && (c.ObjectKey == "" || c.IsFirstVersion) {
			t.Errorf("told of %+v", c)
		}
	}
	if !f.stored(missing) || !f.stored(mistaken) {
		t.Error("what is back is not stored")
	}
}

// A page that leads elsewhere for good is gone, and its reader is told where to.
// One that leads elsewhere for now is asked for again.
func TestCrawl_ReportsMovedPages(t *testing.T) {
	f := newField(t, crawltest.Options{Sites: 1, Articles: 6, Sections: 1}, limits())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.drain(0)
	f.handed()
	was := site.Articles()[3]
	now := site.Move(was.Number)
	f.again()
	var gone, fresh []crawl.CrawledPage
	for _, c := range f.handed() {
		if c.Removed {
			gone = append(gone, c)
		} else {
			fresh = append(fresh, c)
		}
	}
	if len(gone) != 1 || len(fresh) != 1 || gone[0].URL != was.URL || fresh[0].URL != now.URL || gone[0].MovedTo != fresh[0].URLID {
		t.Errorf("told of %+v and %+v", gone, fresh)
	}
	away := site.Articles()[4]
	site.Remove(away.Number, http.StatusFound)
	f.again()
	if told := f.handed(); len(told) != 0 {
		t.Errorf("told of %+v", told)
	}
	if n := f.count("select count(*) from urls where url = $1 and state = 'failed' and due_at > now() and last_error <> ''", away.URL); n != 1 {
		t.Error("the page is not tried again")
	}
}
