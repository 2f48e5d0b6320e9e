package api_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/pagestore"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/news/pipeline"
	"dateline/internal/testing/enginetest"
)

const articlesPath = "/api/v1/articles"

// paragraphs returns text about one word that shares few words with text about another
// one.
func paragraphs(word string, n int) (out []string) {
	for i := range n {
		text := fmt.Sprintf("It rose for the %d. time this year, and the town council met at night to speak about "+
			"what it had seen on the banks", i+1)
		out = append(out, strings.ReplaceAll(text, " ", " "+word+" ")+".")
	}
	return out
}

// article extracts a page like the worker. Its domain has selectors.
func (s *server) article(domain, path string, paras []string) pipeline.StoredArticle {
	s.t.Helper()
	ctx := s.t.Context()
	html :=
		`<!doctype html><html lang="en"><head><title>The river rises</title><meta property="article:published_time" content="2026-03-07T10:00:00+07:00"></head><body><article><h1>The river rises</h1>` +
			`<b class="who">Mai Lan</b><p>` + strings.Join(paras, "</p><p>") +
			`</p></article><script>alert(1)</script></body></html>`
	d, u, did := s.extract(domain, path, html)
	if did.Failed+did.NonArticles+did.Deferred > 0 {
		s.t.Fatalf("%+v", did)
	}
	if s.Count("select count(*) from site_selectors where domain_id = $1", d.ID) == 0 {
		_, _, err := s.Store.News.Articles.AddSelectors(ctx, d, s.Workspace.ID,
			pipeline.Selectors{
				CreatedBy: pipeline.CreatedByMember, State: pipeline.Active,
				Config: selector.Config{Variants: []selector.Variant{{Name: "a", Body: []string{"//article"}}}},
			},
			idempotency.Key{})
		s.Must(err)
	}
	list, err := s.Store.News.Articles.Articles(ctx, pipeline.ArticleQuery{
		Workspace: s.Workspace.ID, Domain: domain, To: time.Now().Add(time.Hour), Before: time.Now().Add(time.Hour),
		Limit: 100,
	})
	s.Must(err)
	i := slices.IndexFunc(list, func(e pipeline.ArticleSummary) bool { return e.URL == u.String() })
	if i < 0 {
		s.t.Fatalf("%s is not among %+v", u, list)
	}
	one, err := s.Store.News.Articles.Article(ctx, s.Workspace.ID, list[i].ID)
	s.Must(err)
	return one
}

// extract stores a page of a domain as if it was crawled, and extracts it.
func (s *server) extract(domain, path, html string) (crawl.Domain, weburl.URL, pipeline.Stats) {
	s.t.Helper()
	ctx := s.t.Context()
	d, err := s.Store.News.Domains.GetCrawlDomain(ctx, domain)
	s.Must(err)
	u, err := weburl.Parse("https://"+domain+path, weburl.Rules{})
	s.Must(err)
	raw, err := pagestore.New(s.Objects)
	s.Must(err)
	key := crawl.ObjectKey(domain, crawl.URLID(u), pagestore.Hash([]byte(html)))
	_, err = raw.Put(ctx, key, []byte(html))
	s.Must(err)
	s.Exec(
		`insert into crawled_pages (domain_id, url_id, fetched_at, url, object_key, found_at, is_first_version) values ($1, $2, clock_timestamp(), $3, $4, clock_timestamp(), true)`, d.ID, crawl.URLID(u), u.String(), key)
	return d, u, s.extractQueued()
}

// extractQueued extracts the queued pages.
func (s *server) extractQueued() pipeline.Stats {
	s.t.Helper()
	raw, err := pagestore.New(s.Objects)
	s.Must(err)
	log := slog.New(slog.DiscardHandler)
	sites := &pipeline.SiteCache{Store: s.Store.News.Articles, Redis: enginetest.RedisClient(s.t, s.RedisURL), Log: log}
	crawler := &pipeline.Consumer{
		Store: s.Store.Extraction(), Extractor: &pipeline.Extractor{Pages: raw, Sites: sites},
		Learners: s.temporal, Log: log,
		Timing: pipeline.Timing{PollInterval: time.Millisecond, IdleTimeout: 20 * time.Millisecond},
	}
	did, err := crawler.Run(s.t.Context(), nil, func(pipeline.Stats) {})
	s.Must(err)
	return did
}

// Fetched pages without an article are listed with the reason until one is found on them.
func TestDomain_ExplainsPagesWithoutArticle(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.seeded("one.example")
	s.extract("one.example", "/short",
		`<html><head><title>The river rises</title></head><body><h1>The river rises</h1><p>More about this will follow here in a few minutes.</p></body></html>`)
	s.extract("one.example", "/empty", `<html><body><script>start()</script></body></html>`)
	pages := func() map[string]string {
		var d spec.Domain
		s.decode(s.send("GET", domainsPath+"/one.example", nil), 200, &d)
		out := map[string]string{}
		for _, p := range *d.WithoutArticle {
			require.NotEmpty(t, p.Detail)
			out[p.Url] = string(p.Reason)
		}
		return out
	}
	require.Equal(t, map[string]string{
		"https://one.example/short": "too_short",
		"https://one.example/empty": "no_text",
	}, pages())
	s.article("one.example", "/short", paragraphs("river", 12))
	require.Equal(t, map[string]string{"https://one.example/empty": "no_text"}, pages())
	var health spec.Extraction
	s.decode(s.send("GET", domainsPath+"/one.example/extraction", nil), 200, &health)
	require.Equal(t, map[string]int64{"too_short": 1, "no_text": 1}, health.NoArticleReasons)
	require.EqualValues(t, 2, health.NonArticles)
}

func TestArticles_EntriesOfALiveBlog(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.seeded("one.example")
	id := s.article("one.example", "/live.html", paragraphs("river", 12)).ID
	get := func() spec.Article {
		var a spec.Article
		s.decode(s.send("GET", articlesPath+"/"+id.String(), nil), 200, &a)
		return a
	}
	require.NotNil(t, get().LiveEntries)
	require.Empty(t, get().LiveEntries, "not a live blog")
	s.Exec(`update articles set live_entries = '[{"key": "b", "time": "2026-03-07T10:00:00Z", "title": "It rises", "text":
		"By a meter.", "html": "<p>By a meter.</p>"}, {"key": "a", "text": "It rains.", "html": "<p>It rains.</p>"}]'
		where id = $1`, id)
	at, title := time.Date(2026, 3, 7, 10, 0, 0, 0, time.UTC), "It rises"
	require.Equal(t, []spec.LiveEntry{
		{Key: "b", At: &at, Title: &title, Text: "By a meter.", Html: "<p>By a meter.</p>"},
		{Key: "a", Text: "It rains.", Html: "<p>It rains.</p>"},
	}, get().LiveEntries)
}

// An article whose page was removed has removed_at, keeps its text, and is listed
// separately.
func TestArticles_Removed(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.seeded("one.example")
	removed := s.article("one.example", "/a.html", paragraphs("river", 12))
	there := s.article("one.example", "/b.html", paragraphs("engine", 12))
	s.Exec("insert into crawled_pages (domain_id, url_id, fetched_at, url, object_key, found_at, is_first_version, "+
		"removed) select domain_id, page_id, clock_timestamp(), url, '', first_seen_at, false, true from articles "+
		"where id = $1", removed.ID)
	s.article("one.example", "/b.html", paragraphs("engine", 13))
	ids := func(query string) (out []uuid.UUID) {
		var list spec.ArticlePage
		s.decode(s.send("GET", articlesPath+query, nil), 200, &list)
		for _, a := range list.Articles {
			require.Equal(t, query == "?removed=true", a.RemovedAt != nil)
			out = append(out, a.Id)
		}
		return out
	}
	require.Equal(t, []uuid.UUID{there.ID}, ids(""))
	require.Equal(t, []uuid.UUID{removed.ID}, ids("?removed=true"))
	var a spec.Article
	s.decode(s.send("GET", articlesPath+"/"+removed.ID.String(), nil), 200, &a)
	require.NotNil(t, a.RemovedAt)
	require.Equal(t, removed.Text, a.Text)
	var revisions spec.ArticleRevisionPage
	s.decode(s.send("GET", articlesPath+"/"+removed.ID.String()+"/revisions", nil), 200, &revisions)
	require.Len(t, revisions.Revisions, 1)
}

func (s *server) seeded(domains ...string) {
	s.t.Helper()
	for _, d := range domains {
		var made spec.Seed
		s.decode(s.send("POST", seedsPath, object{"url": "https://" + d + "/"}), 201, &made)
	}
}

func TestArticles_ListAndGet(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.seeded("one.example", "two.example")
	paras := paragraphs("river", 12)
	first := s.article("one.example", "/a.html", paras)
	s.article("two.example", "/b.html", append(slices.Clone(paras), "By our desk."))
	s.article("one.example", "/c.html", paragraphs("engine", 5))
	s.article("one.example", "/a.html", append(slices.Clone(paras[1:]), "A new end."))

	var a spec.Article
	s.decode(s.send("GET", articlesPath+"/"+first.ID.String(), nil), 200, &a)
	require.Equal(t, "The river rises", a.Title)
	require.Equal(t, "2026-03-07T03:00:00Z", a.PublishedAt.Format(time.RFC3339))
	require.EqualValues(t, 2, a.Version)
	require.NotContains(t, a.Html, "script")
	require.NotEmpty(t, a.Origins["title"].Source)

	var revisions spec.ArticleRevisionPage
	s.decode(s.send("GET", articlesPath+"/"+first.ID.String()+"/revisions?limit=1", nil), 200, &revisions)
	require.Len(t, revisions.Revisions, 1)
	require.Contains(t, revisions.Revisions[0].Changed, "body")
	s.decode(s.send("GET", fmt.Sprintf("%s/%s/revisions?cursor=%d", articlesPath, first.ID, *revisions.NextCursor),
		nil), 200, &revisions)
	require.Len(t, revisions.Revisions, 1)
	require.EqualValues(t, 1, revisions.Revisions[0].Version)
	var revision spec.ArticleRevision
	s.decode(s.send("GET", articlesPath+"/"+first.ID.String()+"/revisions/2", nil), 200, &revision)
	require.Equal(t, []string{"A new end."}, *revision.Added)
	require.Equal(t, paras[:1], *revision.Removed)

	var similar spec.SimilarArticles
	s.decode(s.send("GET", articlesPath+"/"+first.ID.String()+"/similar", nil), 200, &similar)
	require.Len(t, similar.Articles, 1)
	require.Equal(t, "two.example", similar.Articles[0].Article.Domain)

	require.Nil(t, a.RemovedAt)

	var list spec.ArticlePage
	var seen []string
	for next := ""; ; {
		list = spec.ArticlePage{}
		s.decode(s.send("GET", articlesPath+"?limit=1"+next, nil), 200, &list)
		for _, one := range list.Articles {
			seen = append(seen, one.Url)
		}
		if list.NextCursor == nil {
			break
		}
		next = "&cursor=" + *list.NextCursor
	}
	slices.Sort(seen)
	require.Equal(t, []string{"https://one.example/a.html", "https://one.example/c.html", "https://two.example/b.html"},
		seen)
	list = spec.ArticlePage{}
	s.decode(s.send("GET", articlesPath+"?domain=two.example&from=2026-03-07T00:00:00Z&to=2026-03-08T00:00:00Z", nil),
		200, &list)
	require.Len(t, list.Articles, 1)
	list = spec.ArticlePage{}
	s.decode(s.send("GET", articlesPath+"?to=2026-03-07T00:00:00Z", nil), 200, &list)
	require.Empty(t, list.Articles)

	raw := s.send("GET", articlesPath+"/"+first.ID.String()+"/raw", nil)
	require.Equal(t, 200, raw.StatusCode)
	require.Contains(t, string(raw.body), "<script>alert(1)")
	require.Contains(t, raw.Header.Get("Content-Disposition"), "attachment")

	for version, has := range map[string]string{"1": paras[0], "2": "A new end."} {
		old := s.send("GET", articlesPath+"/"+first.ID.String()+"/raw?version="+version, nil)
		require.Equal(t, 200, old.StatusCode)
		require.Contains(t, string(old.body), has)
	}
	s.refused(s.send("GET", articlesPath+"/"+first.ID.String()+"/raw?version=9", nil), 404, "revision_not_found")

	s.refused(s.send("GET", articlesPath+"?domain=three.example", nil), 404, "domain_not_found")
	s.refused(s.send("GET", articlesPath+"/"+someID().String(), nil), 404, "article_not_found")
	s.refused(s.send("GET", articlesPath+"/"+first.ID.String()+"/revisions/9", nil), 404, "revision_not_found")
	_, _, token := s.Found("Rivals")
	s.refused(s.send("GET", articlesPath+"/"+first.ID.String(), nil, "Authorization", "Bearer "+token), 404,
		"article_not_found")
}

func TestSelectors_AddAndActivate(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.seeded("one.example")
	s.article("one.example", "/a.html", paragraphs("river", 6))
	path := domainsPath + "/one.example"
	config := object{
		"variants": []object{
			{"name": "articles", "body": []string{"//article"}, "drop": []string{".//h1"}, "fields": object{
				"authors": []string{"//b[@class='who']"},
			}},
		},
	}

	var shown spec.SelectorPreview
	s.decode(s.send("POST", path+"/selectors/preview", object{"config": config}), 200, &shown)
	require.Len(t, shown.Pages, 1)
	require.Equal(t, []string{"Mai Lan"}, *shown.Pages[0].Authors)
	require.Equal(t, "selector", (*shown.Pages[0].Origins)["authors"].Source)
	taken := map[string]spec.PathMatches{}
	for _, p := range shown.Pages[0].Paths {
		taken[p.Field] = p
	}
	require.Equal(t, []string{"Mai Lan"}, taken["authors"].Values)
	require.Equal(t, 1, taken["body"].Matches)
	require.Contains(t, taken["drop"].Values[0], "The river rises")

	var made spec.Selectors
	answer := s.send("POST", path+"/selectors", object{"config": config, "note": "names the author"}, "Idempotency-Key",
		"k")
	s.decode(answer, 201, &made)
	require.Equal(t, 2, made.Version)
	require.Equal(t, spec.SelectorsState("candidate"), made.State)
	require.Equal(t, "/api/v1/domains/one.example/selectors/2", answer.Header.Get("Location"))
	again := s.send("POST", path+"/selectors", object{"config": config, "note": "names the author"}, "Idempotency-Key",
		"k")
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))

	s.decode(s.send("POST", path+"/selectors/2/activate", nil), 200, &made)
	require.Equal(t, spec.SelectorsState("active"), made.State)
	got := s.article("one.example", "/d.html", paragraphs("bridge", 6))
	require.Equal(t, []string{"Mai Lan"}, got.Authors)
	require.Equal(t, 2, got.SelectorVersion)
	var now spec.Extraction
	s.decode(s.send("GET", path+"/extraction", nil), 200, &now)
	require.Equal(t, 2, now.SelectorVersion)
	require.EqualValues(t, 1, now.Health["authors"])
	s.decode(s.send("POST", path+"/selectors/roll-back", nil), 200, &now)
	require.Equal(t, 1, now.SelectorVersion)
	var list spec.SelectorsPage
	s.decode(s.send("GET", path+"/selectors", nil), 200, &list)
	require.Len(t, list.Selectors, 2)
	require.Equal(t, spec.SelectorsState("rolled_back"), list.Selectors[0].State)
	require.Equal(t, "rolled_back_by_member", list.Selectors[0].EndReason.Code)
	require.Equal(t, 2, s.Count("select count(*) from post_events where type in ('selectors_learned', "+
		"'selectors_rolled_back') and actor like 'user:%'"))

	s.decode(s.send("POST", path+"/selectors/learn", nil), 202, &now)
	require.Equal(t, spec.ExtractionRequestedAction("learn"), *now.RequestedAction)
	require.Contains(t, s.temporal.crawls, "learn one.example")
	s.decode(s.send("PATCH", path+"/extraction", object{"time_zone": "Europe/Paris", "learning_enabled": false}), 200,
		&now)
	require.Equal(t, "Europe/Paris", now.TimeZone)
	require.False(t, now.LearningEnabled)

	s.refused(s.send("PATCH", path+"/extraction", object{"time_zone": "Mars/Base"}), 422, "invalid_request",
		"time_zone")
	for _, bad := range []object{
		{"body": []string{"//div["}},
		{"body": []string{"//a/following::b"}},
		{"body": []string{}},
		{"body": []string{"//a"}, "fields": object{"colour": []string{"//b"}}},
	} {
		bad["name"] = "bad"
		s.refused(s.send("POST", path+"/selectors", object{"config": object{"variants": []object{bad}}}), 422,
			"invalid_request", "config")
	}
	s.refused(s.send("GET", path+"/selectors/9", nil), 404, "selectors_not_found")

	// A workspace that shares a domain with others cannot change its selectors.
	_, rival, token := s.Found("Rivals")
	s.refused(s.send("GET", path+"/selectors", nil, "Authorization", "Bearer "+token), 404, "domain_not_found")
	s.decode(s.send("POST", seedsPath, object{"url": "https://one.example/sport"}, "Authorization", "Bearer "+token),
		201, &spec.Seed{})
	require.NotEqual(t, s.Workspace.ID, rival.WorkspaceID)
	s.refused(s.send("POST", path+"/selectors", object{"config": config}), 409, "shared_domain")
	s.refused(s.send("POST", path+"/selectors/1/activate", nil), 409, "shared_domain")
	s.decode(s.send("GET", path+"/selectors", nil, "Authorization", "Bearer "+token), 200, &list)
}

// Editors see what of a page is not part of its text, and why, and mark it: the article changes at once.
func TestExtractionMarks(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.seeded("one.example", "two.example")
	paras := paragraphs("river", 6)
	a := s.article("one.example", "/a.html", paras)
	other := s.article("two.example", "/b.html", paragraphs("lake", 6))
	path := domainsPath + "/one.example/extraction"

	var list spec.ExtractedPages
	s.decode(s.send("GET", path+"/pages", nil), 200, &list)
	require.Len(t, list.Pages, 1)
	require.Equal(t, a.ID, list.Pages[0].ArticleId)
	require.Equal(t, "The river rises", list.Pages[0].Title)
	require.GreaterOrEqual(t, list.Pages[0].BlocksInText, 6)
	require.Nil(t, list.Pages[0].Blocks)
	page := func() map[string]spec.PageBlock {
		var p spec.ExtractedPage
		s.decode(s.send("GET", path+"/pages/"+a.ID.String(), nil), 200, &p)
		out := map[string]spec.PageBlock{}
		for _, b := range *p.Blocks {
			out[b.Text] = b
		}
		return out
	}
	before := page()
	require.Equal(t, spec.PageBlockReason("title"), *before["The river rises"].Reason)
	require.True(t, before[paras[2]].InText)
	require.Equal(t, "body > article > p", before[paras[2]].Elements[0])

	var h spec.Extraction
	s.decode(s.send("POST", path+"/marks", object{"text": paras[2], "is_body": false}), 200, &h)
	require.Len(t, h.Marks, 1)
	require.Equal(t, paras[2][:200], *h.Marks[0].Text)
	after := page()[paras[2]]
	require.False(t, after.InText)
	require.True(t, after.IsMarked)
	require.Equal(t, spec.PageBlockReason("marked"), *after.Reason)
	require.Equal(t, 1, s.extractQueued().Articles, "the article is extracted again")
	stored, err := s.Store.News.Articles.Article(t.Context(), s.Workspace.ID, a.ID)
	require.NoError(t, err)
	require.NotContains(t, stored.Text, paras[2])
	require.Contains(t, stored.Text, paras[3])

	// Selectors are tested with it.
	var shown spec.SelectorPreview
	s.decode(s.send("POST", domainsPath+"/one.example/selectors/preview", object{"config": object{
		"variants": []object{{"name": "articles", "body": []string{"//article"}}},
	}}), 200, &shown)
	require.Equal(t, []spec.MarkContradiction{{Text: paras[2]}}, *shown.Pages[0].Contradictions)

	// The same text replaces its mark; without marks, all is as before.
	s.decode(s.send("POST", path+"/marks", object{"text": strings.ToUpper(paras[2]), "is_body": true}), 200, &h)
	require.Len(t, h.Marks, 1)
	require.True(t, h.Marks[0].IsBody)
	s.decode(s.send("DELETE", path+"/marks/"+h.Marks[0].Id, nil), 200, &h)
	require.Empty(t, h.Marks)
	require.Equal(t, before, page())
	s.refused(s.send("DELETE", path+"/marks/t1", nil), 404, "mark_not_found")

	for _, bad := range []object{
		{"is_body": true},
		{"is_body": true, "text": "a", "element": "p"},
		{"is_body": true, "text": "…!"},
		{"is_body": true, "element": " > "},
	} {
		s.refused(s.send("POST", path+"/marks", bad), 422, "invalid_request")
	}
	s.refused(s.send("GET", path+"/pages/"+other.ID.String(), nil), 404, "article_not_found")
	_, _, token := s.Found("Rivals")
	s.refused(s.send("GET", path+"/pages", nil, "Authorization", "Bearer "+token), 404, "domain_not_found")
}
