package crawler_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/render"
	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/enginetest"
)

// Without a reachable browser, pages are stored as served, and the domain
// reports it.
func TestCrawl_StoresUnrenderedWithoutBrowser(t *testing.T) {
	offline := httptest.NewServer(http.NotFoundHandler())
	offline.Close()
	browser, err := render.New(render.Options{URL: offline.URL})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixtureWith(t, crawltest.Options{Sites: 1, Articles: 2, Sections: 1, Scripts: true}, limits(), browser)
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.must(f.Store.News.Domains.SetDomainRendering(t.Context(), f.workspace.ID, site.Host(), true))
	f.crawl(0)
	d, err := f.Store.News.Domains.GetCrawlDomain(t.Context(), site.Host())
	f.must(err)
	problems, err := f.Store.News.Domains.ListFetchErrors(t.Context(), d.ID, 10)
	f.must(err)
	reasons := map[string]string{}
	for _, p := range problems {
		reasons[p.URL] = p.Reason
	}
	for _, a := range site.Articles() {
		if page, ok := f.page(a); !ok || !strings.Contains(page, a.Title) ||
			!strings.Contains(page, `<div id="than"></div>`) {
			t.Errorf("%s: stored %v", a.URL, ok)
		}
		if reasons[a.URL] != "unrendered: the page could not be rendered" {
			t.Errorf("%s: got error %q", a.URL, reasons[a.URL])
		}
	}
	f.wantPolite(delay)
}

// Pages of domains with rendering are stored as rendered, as politely as all
// others.
func TestCrawl_RendersPagesOfConfiguredDomains(t *testing.T) {
	browser, err := render.New(render.Options{URL: enginetest.RemoteChromium(t), QuietPeriod: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	l := limits()
	l.FetchTimeout, l.LeaseTTL = 20*time.Second, 30*time.Second
	f := newFixtureWith(t, crawltest.Options{Sites: 2, Articles: 2, Sections: 1, Scripts: true}, l, browser)
	f.seed(crawl.Home, f.world.Site(0).Home(), f.world.Site(1).Home())
	f.must(f.Store.News.Domains.SetDomainRendering(t.Context(), f.workspace.ID, f.world.Site(1).Host(), true))
	for i, rendered := range []bool{false, true} {
		f.crawl(i)
		for _, a := range f.world.Site(i).Articles() {
			page, ok := f.page(a)
			text, _, _ := strings.Cut(a.Body, "\n\n")
			if !ok || strings.Contains(page, `<p class="Normal">`+text+"</p>") != rendered {
				t.Errorf("%s: stored %v, want it rendered: %v", a.URL, ok, rendered)
			}
		}
	}
	scripts := 0
	for _, r := range f.world.Log() {
		if strings.HasPrefix(r.Path, "/js/") {
			scripts++
			if r.Site == 0 {
				t.Errorf("%s was fetched from a site without rendering", r.Path)
			}
		}
	}
	if scripts < 2 {
		t.Errorf("got %d scripts fetched, want at least 2", scripts)
	}
	f.wantPolite(delay)
	// An edit that only the script shows is detected, although the document is
	// unchanged.
	site := f.world.Site(1)
	edited := site.Edit(1)
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where url = $1", edited.URL)
	f.must(err)
	f.crawl(1)
	if page, _ := f.page(edited); !strings.Contains(page, "Cập nhật lần thứ 1") {
		t.Error("the edit is not stored")
	}
}
