package pipeline_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/news/article"
	"dateline/internal/news/pipeline"
)

func TestRun_StoresAnArticle(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 1)
	want := p.next()
	d.hand(want.url, want.html)
	require.Equal(t, pipeline.Stats{Pages: 1, Articles: 1}, d.read())
	got := d.articles("paper.example")
	require.Len(t, got, 1)
	a := got[0]
	require.Equal(t, want.title, a.Title)
	require.Equal(t, []string{want.author}, a.Authors)
	require.True(t, want.published.Equal(*a.Published), "%s", a.Published)
	require.Contains(t, a.Text, want.body)
	require.Contains(t, a.HTML, "<p>")
	require.Equal(t, want.url, a.CanonicalURL)
	require.Equal(t, "en", a.Language)
	require.Equal(t, "paper.example", a.Domain)
	require.NotEmpty(t, a.Origins)
	require.Equal(t, uuid.Version(7), a.ID.Version())
	_, err := d.pages.Get(t.Context(), a.ObjectKey, "")
	require.NoError(t, err, "the raw page has the article's key")
	require.Equal(t, 1, d.count("select count(*) from article_changes where article_id = $1 and kind = 'upsert'", a.ID))
	require.Zero(t, d.count("select count(*) from crawled_pages"))

	// Processing the page again, as after a crash, changes nothing.
	d.hand(want.url, want.html)
	require.Equal(t, pipeline.Stats{Pages: 1}, d.read())
	require.Equal(t, 1, d.count("select count(*) from article_revisions"))
	require.Equal(t, 1, d.count("select count(*) from article_changes"))
	// Other workspaces do not see it.
	_, err = d.News.Articles.Article(t.Context(), uuid.Must(uuid.NewV7()), a.ID)
	var refused *apperr.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, apperr.KindNotFound, refused.Kind)
}

// Access and reservations are stored, limit what is indexed and given out, and change with
// the page.
func TestRun_StoresAccessAndReservations(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 5)
	at, html := "https://paper.example/harbour.html", plain("Harbour opens", "", p.paragraphs(5)...)
	with := func(head string) string { return strings.Replace(html, "</head>", head+"</head>", 1) }
	articles := &pipeline.Service{Store: d.Extraction(), Pages: d.pages}
	who := workspace.Principal{WorkspaceID: d.workspace.ID}

	d.hand(at,
		with(
			`<meta property="article:content_tier" content="locked"><meta name="robots" content="noindex, noarchive, nosnippet, noai"><meta name="tdm-reservation" content="1"><meta name="tdm-policy" content="https://paper.example/tdm.json">`))
	require.Equal(t, 1, d.read().Articles)
	a := d.articles("paper.example")[0]
	require.Equal(t, article.AccessPaid, a.Access)
	require.Equal(t, article.Reservations{
		NoIndex: true, NoArchive: true, NoSnippet: true, NoAI: true, TDM: true,
		TDMPolicy: "https://paper.example/tdm.json",
	}, a.Reservations)
	docs, err := d.News.Searches.SearchDocuments(t.Context(), []uuid.UUID{a.ID})
	require.NoError(t, err)
	require.Empty(t, docs, "an article with noindex is not in search")
	_, err = articles.Raw(t.Context(), who, a.ID, 0)
	var refused *apperr.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "noarchive", refused.Code)

	d.hand(at, with(`<meta name="tdm-reservation" content="1">`))
	d.read()
	docs, err = d.News.Searches.SearchDocuments(t.Context(), []uuid.UUID{a.ID})
	require.NoError(t, err)
	require.Len(t, docs, 1)
	require.Equal(t, a.Title, docs[0].Title)
	require.Empty(t, docs[0].Body+docs[0].Lead, "only the title of a reserved text is searched")
	require.True(t, docs[0].NoEmbedding)

	d.hand(at, html)
	d.read()
	a = d.articles("paper.example")[0]
	require.Equal(t, article.AccessUnknown, a.Access)
	require.Zero(t, a.Reservations)
	docs, err = d.News.Searches.SearchDocuments(t.Context(), []uuid.UUID{a.ID})
	require.NoError(t, err)
	require.Equal(t, a.Text, docs[0].Body)
	require.False(t, docs[0].NoEmbedding)
	_, err = articles.Raw(t.Context(), who, a.ID, 0)
	require.NoError(t, err)
	require.Equal(t, 3, d.count("select count(*) from article_changes where article_id = $1", a.ID),
		"each change reaches the index")
	require.EqualValues(t, 1, a.Version, "the content did not change")
}

func TestRun_RevisionsListChangedFields(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 2)
	paras := p.paragraphs(5)
	at := "https://paper.example/mayor.html"
	d.hand(at, plain("Mayor resigns after vote", "", paras...))
	d.read()
	d.hand(at, plain("Mayor resigns after lost vote", "", append(paras, p.sentence())...))
	d.read()
	d.hand(at, strings.Replace(plain("Mayor resigns after lost vote", "", paras...), "</head>",
		`<meta property="og:description" content="The mayor of the harbour town has resigned.">`+"</head>", 1))
	d.read()
	got := d.articles("")
	require.Len(t, got, 1)
	require.EqualValues(t, 3, got[0].Version)
	all, err := d.News.Articles.Revisions(t.Context(), got[0].ID, 99, 10)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, []string{"lead", "body"}, all[0].Changed)
	require.Equal(t, []string{"title", "body"}, all[1].Changed)
	require.Empty(t, all[2].Changed)
	require.True(t, all[0].SeenAt.After(all[1].SeenAt) && all[1].SeenAt.After(all[2].SeenAt))
	first, err := d.News.Articles.Revision(t.Context(), got[0].ID, 1)
	require.NoError(t, err)
	require.Equal(t, "Mayor resigns after vote", first.Title)
	require.Equal(t, strings.Join(paras, "\n\n"), first.Text)
	require.Equal(t, 3, d.count("select count(*) from article_changes"))

	// An older version of the page is ignored.
	d.at = d.at.Add(-10 * time.Minute)
	d.hand(at, plain("Mayor resigns after vote", "", paras...))
	d.read()
	require.EqualValues(t, 3, d.articles("")[0].Version)
}

func TestRun_CanonicalURLs(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 3)
	paras := p.paragraphs(5)
	main, print, other := "https://paper.example/a.html", "https://paper.example/print/a",
		"https://paper.example/b.html"
	d.hand(print, plain("The bridge is open", main, paras...))
	d.read()
	first := d.articles("")
	require.Len(t, first, 1)
	require.Equal(t, main, first[0].CanonicalURL)
	require.Equal(t, print, first[0].URL)
	// The canonical page is the same article.
	d.hand(main, plain("The bridge is open", main, paras...))
	d.read()
	got := d.articles("")
	require.Equal(t, ids(first), ids(got))
	require.Equal(t, main, got[0].URL)
	// The other URL again changes nothing.
	d.hand(print, plain("The bridge is open", main, paras...))
	d.read()
	require.Equal(t, ids(first), ids(d.articles("")))
	require.Equal(t, main, d.articles("")[0].URL)
	// A template that declares the same canonical URL on every page does not merge
	// different stories.
	d.hand(other, plain("A school is closed", main, p.paragraphs(5)...))
	d.read()
	got = d.articles("")
	require.Len(t, got, 2)
	i := slices.IndexFunc(got, func(a pipeline.StoredArticle) bool { return a.Title == "A school is closed" })
	require.Equal(t, other, got[i].CanonicalURL)
	// Canonical URLs of other sites are ignored.
	d.hand("https://paper.example/c.html", plain("A museum moves", "https://elsewhere.example/c", p.paragraphs(5)...))
	d.read()
	require.Len(t, d.articles(""), 3)
}

// A page that declares its canonical URL later moves its article, and a page that turns
// out to be a copy is deleted, from the index too.
func TestRun_CanonicalURLsThatComeLate(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 4)
	paras := p.paragraphs(5)
	main, amp := "https://paper.example/a.html", "https://paper.example/amp/a"
	d.hand(main, plain("The harbour freezes", "", paras...))
	d.hand(amp, plain("The harbour freezes", "", paras...))
	d.read()
	got := d.articles("")
	require.Len(t, got, 2)
	require.Equal(t, got[0].Group, got[1].Group, "the same story")
	removedID := got[slices.IndexFunc(got, func(a pipeline.StoredArticle) bool { return a.URL == amp })].ID
	d.hand(amp, plain("The harbour freezes", main, paras...))
	d.read()
	got = d.articles("")
	require.Len(t, got, 1)
	require.Equal(t, main, got[0].URL)
	require.Equal(t, 1, d.count("select count(*) from article_changes where article_id = $1 and kind = 'delete'",
		removedID))
}

// The same story on several sites, stored concurrently, is one group.
func TestAlsoReportedBy_ListsNearDuplicates(t *testing.T) {
	hosts := []string{"one.example", "two.example", "three.example", "four.example"}
	d, p := newFixture(t, hosts...), newPaper("one.example", 5)
	paras := p.paragraphs(14)
	for i, h := range hosts {
		d.hand("https://"+h+"/agency.html",
			plain("Ferry service resumes", "", append(slices.Clone(paras), "Edited at desk "+h+".")...))
		d.hand("https://"+h+"/own.html", plain("Our own story "+string(rune('A'+i)), "", p.paragraphs(14)...))
	}
	d.consumer.MaxParallel = 8
	d.read()
	groups := map[uuid.UUID]int{}
	for _, a := range d.articles("") {
		groups[a.Group]++
	}
	require.Len(t, groups, 5)
	for _, a := range d.articles("two.example") {
		others, err := d.News.Articles.AlsoReportedBy(t.Context(), d.workspace.ID, a, 10)
		require.NoError(t, err)
		if a.Title != "Ferry service resumes" {
			require.Empty(t, others)
			continue
		}
		require.Len(t, others, 3)
		for _, o := range others {
			require.Equal(t, "Ferry service resumes", o.Title)
			require.NotEqual(t, "two.example", o.Domain)
			require.LessOrEqual(t, o.Distance, 6)
		}
	}
}

// Pages without an article and pages that fail are counted separately and block nothing.
func TestRun_NonArticlesAndFailures(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 6)
	d.hand("https://paper.example/video/1", `<html><body><h1>Video</h1><p>Watch this.</p></body></html>`)
	d.hand("https://paper.example/list", "<html><head><title>All</title></head><body><h1>All</h1>"+
		strings.Repeat(p.others(), 10)+"</body></html>")
	d.hand("https://paper.example/deep", strings.Repeat("<div><b>", 5000)+"text")
	s := p.next()
	d.hand(s.url, s.html)
	d.hand("https://paper.example/gone", "<p>gone</p>")
	_, err := d.db.Exec(t.Context(), "update crawled_pages set object_key = 'pages/none.zst' where url like '%/gone'")
	require.NoError(t, err)
	require.Equal(t, pipeline.Stats{Pages: 5, Articles: 1, NonArticles: 2, Failed: 2}, d.read())
	h, err := d.News.Articles.ExtractionHealth(t.Context(), d.domain("paper.example").ID)
	require.NoError(t, err)
	require.EqualValues(t, []int64{1, 2, 2}, []int64{h.Articles, h.NonArticles, h.Failed})
	require.NotEmpty(t, h.LastError)
}

// Characters that Postgres cannot store are removed.
func TestOddText(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 7)
	html := strings.Replace(plain("Odd signs", "", p.paragraphs(5)...), "<h1>",
		`<script type="application/ld+json">{"@type":"NewsArticle","headline":"Odd\u0000 signs","author":{"@type":"Person","name":"Mai\u0000 Lan"},"keywords":["\u0000","a\u0000b"]}</script><h1>`, 1)
	d.hand("https://paper.example/odd", html)
	require.Equal(t, 1, d.read().Articles)
	for _, text := range append(d.articles("")[0].Tags, d.articles("")[0].Title) {
		require.NotContains(t, text, "\x00")
	}
}

// A worker that loses its lease changes nothing.
func TestALeaseThatWasLost(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 8)
	s := p.next()
	d.hand(s.url, s.html)
	slow, err := d.News.Domains.LeaseCrawledPages(t.Context(), 10, 0)
	require.NoError(t, err)
	require.Len(t, slow, 1)
	fast, err := d.News.Domains.LeaseCrawledPages(t.Context(), 10, time.Minute)
	require.NoError(t, err)
	require.Len(t, fast, 1)
	var results [2]pipeline.SaveResult
	var all sync.WaitGroup
	for i, c := range []pipeline.Extraction{d.extractionOf(slow[0]), d.extractionOf(fast[0])} {
		all.Go(func() {
			var err error
			results[i], err = d.News.Articles.SaveExtraction(t.Context(), c)
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.True(t, results[0].LeaseLost)
	require.False(t, results[1].LeaseLost)
	require.Equal(t, 1, d.count("select count(*) from articles"))
	require.Equal(t, 1, d.count("select pages::int from site_monitors"))
}

// A page that kills every worker counts as failed.
func TestRun_PageThatKillsWorkersCountsAsFailed(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 9)
	s := p.next()
	d.hand(s.url, s.html)
	for range 5 {
		taken, err := d.News.Domains.LeaseCrawledPages(t.Context(), 10, 0) // and never comes back
		require.NoError(t, err)
		require.Len(t, taken, 1)
	}
	require.Equal(t, pipeline.Stats{Pages: 1, Failed: 1}, d.read())
	h, err := d.News.Articles.ExtractionHealth(t.Context(), d.domain("paper.example").ID)
	require.NoError(t, err)
	require.Contains(t, h.LastError, "workers died")
}

// A time without zone uses the time zone of the site: that of its country, or the
// configured one.
func TestRun_AppliesSiteTimeZone(t *testing.T) {
	d, p := newFixture(t, "paper.example", "bao.vn"), newPaper("paper.example", 70)
	page := func(paras []string) string {
		return strings.Replace(plain("The harbour freezes", "", paras...), "2026-03-06T10:00:00Z",
			"2026-03-06 10:00:00", 1)
	}
	published := func(host string) string {
		d.hand("https://"+host+"/a.html", page(p.paragraphs(6)))
		d.read()
		return d.articles(host)[0].Published.UTC().Format(time.RFC3339)
	}
	require.Equal(t, "2026-03-06T10:00:00Z", published("paper.example"))
	require.Equal(t, "2026-03-06T03:00:00Z", published("bao.vn"))
	for _, host := range []string{"paper.example", "bao.vn"} {
		d.must(d.News.Articles.UpdateExtractionSettings(t.Context(), d.domain(host), d.workspace.ID, "America/New_York", true))
		d.sites.Invalidate(t.Context(), d.domain(host).ID)
		require.Equal(t, "2026-03-06T15:00:00Z", published(host))
	}
}
