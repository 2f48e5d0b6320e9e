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

// Without a browser that answers, pages are stored as they were served, and the
// domain tells of it.
func TestCrawl_StoresUnrenderedWithoutBrowser(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	browser, err := render.New(render.Options{URL: gone.URL})
	if err != nil {
		t.Fatal(err)
	}
	f := newFieldWith(t, crawltest.Options{Sites: 1, Articles: 2, Sections: 1, Scripts: true}, limits(), browser)
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	f.must(f.Store.SetDomainRendering(t.Context(), f.workspace.ID, site.Host(), true))
	f.drain(0)
	d, err := f.Store.GetCrawlDomain(t.Context(), site.Host())
	f.must(err)
	problems, err := f.Store.ListFetchErrors(t.Context(), d.ID, 10)
	f.must(err)
	told := map[string]string{}
	for _, p := range problems {
		told[p.URL] = p.Reason
	}
	for _, a := range site.Articles() {
		if page, ok := f.page(a); !ok || !strings.Contains(page, a.Title) || !strings.Contains(page, `<div id="than"></div>`) {
			t.Errorf("%s: stored %v", a.URL, ok)
		}
		if told[a.URL] != "stored unrendered: the page could not be rendered" {
			t.Errorf("%s: %q is told", a.URL, told[a.URL])
		}
	}
	f.wantPolite(delay)
}

// Where text is made by scripts, pages are stored as a browser shows them, of the
// domains that are set so, and as politely as all else.
func TestCrawl_RendersPagesOfConfiguredDomains(t *testing.T) {
	browser, err := render.New(render.Options{URL: enginetest.RemoteChromium(t), QuietPeriod: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	l := limits()
	l.FetchTimeout, l.LeaseTTL = 20*time.Second, 30*time.Second
	f := newFieldWith(t, crawltest.Options{Sites: 2, Articles: 2, Sections: 1, Scripts: true}, l, browser)
	f.seed(crawl.Home, f.world.Site(0).Home(), f.world.Site(1).Home())
	f.must(f.Store.SetDomainRendering(t.Context(), f.workspace.ID, f.world.Site(1).Host(), true))
	for i, rendered := range []bool{false, true} {
		f.drain(i)
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
				t.Errorf("%s was fetched of a site that is not rendered", r.Path)
			}
		}
	}
	if scripts < 2 {
		t.Errorf("%d scripts were fetched", scripts)
	}
	f.wantPolite(delay)
	// An edit that only the script shows is news, although the document is the same.
	site := f.world.Site(1)
	edited := site.Edit(1)
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where url = $1", edited.URL)
	f.must(err)
	f.drain(1)
	if page, _ := f.page(edited); !strings.Contains(page, "Cập nhật lần thứ 1") {
		t.Error("the edit was not seen")
	}
}
