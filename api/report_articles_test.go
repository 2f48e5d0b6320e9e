package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/newsroom"
	"dateline/internal/audience/site"
	"dateline/internal/infra/timezone"
	"dateline/internal/testing/enginetest"
)

// The views of a page are those of the article with its canonical URL, for each of
// its authors. A corrected author is reflected.
func TestSiteReport_Articles(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.Domains = []string{"one.example"} })
	s.seeded("one.example")
	first, second := s.article("one.example", "/a.html", paragraphs("river", 12)), s.article("one.example", "/b.html",
		paragraphs("engine", 12))
	s.Exec("update articles set authors = '{An,Bình}', section = 'World', tags = '{flood}', published_at = "+
		"clock_timestamp() where id = $1", first.ID)
	s.Exec("update articles set authors = '{An}', section = 'Sport', tags = '{}', published_at = clock_timestamp() - "+
		"interval '50 hours' where id = $1", second.ID)
	send := func(path string, body object) {
		t.Helper()
		if a := s.send("POST", path, body, "Authorization", "", "User-Agent",
			"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Accept-Language",
			"vi"); a.StatusCode != http.StatusAccepted {
			t.Errorf("%s: %s %s", path, a.Status, a.body)
		}
	}
	host := "https://one.example"
	view := func(reader, page, referrer string) {
		t.Helper()
		hit := object{
			"site": w.WriteKey, "url": host + page, "referrer": referrer, "user": reader,
			"view": reader + page,
		}
		send("/v1/view", hit)
		hit["engaged"], hit["scroll"] = 0, 100
		send("/v1/heartbeat", hit)
	}
	view("a", "/a.html?utm_source=x", "https://www.facebook.com/")
	view("a", "/b.html", host+"/a.html")
	view("b", "/a.html/", "")
	view("c", "/contact", "")
	f := flush.Flusher{
		Counter: counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{}), Store: s.Store.Audience.Views,
		Log:      slog.New(slog.DiscardHandler),
		Articles: &newsroom.Indexer{Store: s.Store.Audience.Reports, SocialSources: []string{"facebook.com"}},
	}
	update := func() {
		t.Helper()
		for range 2 { // the first one seeds a new installation
			_, err := f.Flush(t.Context(), func() {})
			s.Must(err)
		}
		_, err := f.Maintain(t.Context(), func() {})
		s.Must(err)
	}
	update()

	zone, err := timezone.Load(w.TimeZone)
	s.Must(err)
	day := func(ago int) string { return time.Now().In(zone).AddDate(0, 0, -ago).Format(time.DateOnly) }
	base := "/api/v1/sites/" + w.ID.String()
	days := base + "/report?from=" + day(1) + "&to=" + day(-1)
	number := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	rows := func(query string) string {
		t.Helper()
		var r spec.SiteReport
		s.decode(s.send("GET", days+query, nil), 200, &r)
		text := ""
		for _, row := range r.Tables[0].Rows {
			n := row.Totals
			text += fmt.Sprint(row.Value, " ", number(n.Views), number(n.Visitors), number(n.Visits),
				number(n.Recirculation), number(n.SocialViews), number(n.Articles), number(n.EngagedViews))
			if n.CompletionRate != nil {
				text += fmt.Sprint(" ", *n.CompletionRate)
			}
			if row.Article != nil {
				text += " " + row.Article.Id.String()
			}
			text += ", "
		}
		return text + number(r.Tables[0].WithoutArticle)
	}
	// Views, visitors, visits, recirculation, social views, articles and engaged views.
	for query, want := range map[string]string{
		"&by=authors":   "An 3321113 1, Bình 2221112 1, 1",
		"&by=sections":  "World 2221112 1, Sport 1100001 1, 1",
		"&by=tags":      "flood 2221112 1, 1",
		"&by=ages":      "0 22211-2 1, 2-6 11000-1 1, 1",
		"&by=published": "/a.html 2221--2 1 " + first.ID.String() + ", -",
		"&by=pages&filter=author:An": "/a.html 2221--2 1 " + first.ID.String() + ", /b.html 1100--1 1 " +
			second.ID.String() + ", -",
		"&by=pages&filter=section:Sport":                  "/b.html 1100--1 1 " + second.ID.String() + ", -",
		"&by=pages&filter=tag:flood":                      "/a.html 2221--2 1 " + first.ID.String() + ", -",
		"&by=pages&filter=author:An&filter=section:World": "/a.html 2221--2 1 " + first.ID.String() + ", -",
		// An article of both authors counts once.
		"&by=pages&filter=author:An&filter=author:Bình": "/a.html 2221--2 1 " + first.ID.String() + ", /b.html 1100--1 1 " +
			second.ID.String() + ", -",
		"&by=pages&filter=tag:flood&filter=page:/b.html": "-",
		"&by=months&filter=section:World":                rows("&by=months&filter=tag:flood"),
	} {
		if got := rows(query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	var r spec.SiteReport
	s.decode(s.send("GET", days+"&filter=author:An", nil), 200, &r)
	if got, want := number(r.Period.Totals.Views)+" "+number(r.Period.Totals.SocialViews)+" "+
		number(r.Period.Totals.EngagedViews), "3 1 3"; got != want {
		t.Errorf("an author: got %q, want %q", got, want)
	}
	if len(r.Unavailable) == 0 || r.Unavailable[0].Code != "article_pages" {
		t.Errorf("an author: unavailable: got %v, want article_pages", r.Unavailable)
	}
	s.refused(s.send("GET", days+"&by=sections&filter=author:An", nil), 400, "report_not_computable", "by")
	s.refused(s.send("GET", days+"&by=authors&filter=country:VN", nil), 400, "report_not_computable", "by")

	csv := s.send("GET", days+"&by=sections&format=csv", nil)
	if got, want := withoutMark(t,
		csv.body),
		"sections,views,visitors,visits,recirculation,social_views,articles,engaged_views,median_seconds,completed_views\n"; !strings.HasPrefix(got, want) || !strings.Contains(got, "\nWorld,2,2,2,1,1,1,2,1,2\n") {
		t.Errorf("CSV: got %q, want %q and a row of World", got, want)
	}

	var recent spec.RecentArticles
	s.decode(s.send("GET", base+"/recent-articles", nil), 200, &recent)
	if len(recent.New) != 1 || len(recent.Read) != 2 || recent.New[0].Page != "/a.html" {
		t.Errorf("recent articles: got %+v, want /a.html of two", recent)
	}
	if got, want := [...]int64{int64(recent.Published), recent.PublishedViews, recent.Views}, [...]int64{
		1, 2,
		3,
	}; got != want {
		t.Errorf("published articles, their views and all views: got %v, want %v", got, want)
	}

	s.Exec("update articles set authors = '{Chi}', updated_at = clock_timestamp() where id = $1", first.ID)
	update()
	if got, want := rows("&by=authors"), "Chi 2221112 1, An 1100001 1, 1"; got != want {
		t.Errorf("after a correction: got %q, want %q", got, want)
	}
}
