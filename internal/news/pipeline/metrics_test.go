package pipeline_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/telemetry"
	"dateline/internal/news/pipeline"
	"dateline/internal/news/search/indexer"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/notify/pubsub"
)

func meter(t *testing.T) *telemetry.Telemetry {
	t.Helper()
	tel, err := telemetry.Start(t.Context(), telemetry.Options{Service: "test"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = tel.Stop(context.Background()) })
	return tel
}

// served returns the value of a metric as scraped by Prometheus, or 0.
func served(tel *telemetry.Telemetry, metric string) float64 {
	w := httptest.NewRecorder()
	tel.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(metric) + ` (\S+)`).FindStringSubmatch(w.Body.String())
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	return n
}

// Results of extraction, fields and selector changes are counted.
func TestRun_RecordsMetrics(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 60)
	tel := meter(t)
	d.consumer.Meter, d.learner.Meter = tel.Articles, tel.Articles
	d.hand("https://paper.example/video/1", `<html><body><h1>Video</h1><p>Watch this.</p></body></html>`)
	d.hand("https://paper.example/deep", "<div>"+string(make([]byte, 9<<20)))
	for range 25 {
		s := p.next()
		d.hand(s.url, s.html)
		d.read()
	}
	count := func(result string) float64 {
		return served(tel, `dateline_articles_parsed_total{result="`+result+`"}`)
	}
	require.EqualValues(t, 1, count("no_article"))
	require.EqualValues(t, 1, count("failed"))
	require.EqualValues(t, 25, count("generic")+count("selectors"))
	require.EqualValues(t, d.count("select count(*) from articles where selector_version > 0"), count("selectors"))
	require.NotZero(t, count("generic"))
	require.EqualValues(t, count("selectors"),
		served(tel, `dateline_article_fields_total{field="body",result="filled"}`))
	require.EqualValues(t, 1, served(tel, `dateline_selector_changes_total{change="learned"}`))

	// A member activates selectors that match the teasers: they are wrong and are rolled
	// back. Then the template changes, and they match nothing.
	service := &pipeline.Service{Store: d.Extraction(), Pages: d.pages, Sites: d.sites, Learners: learners{d}, Log: d.log}
	who := workspace.Principal{WorkspaceID: d.workspace.ID, UserID: uuid.Must(uuid.NewV7()), Role: workspace.Owner}
	_, _, err := service.AddSelectors(t.Context(), who, "paper.example",
		pipeline.SelectorDraft{Config: teasers(), Activate: true}, idempotency.Key{})
	require.NoError(t, err)
	for range 12 {
		s := p.next()
		d.hand(s.url, s.html)
		d.read()
	}
	require.NotZero(t, served(tel, `dateline_article_fields_total{field="body",result="wrong"}`))
	require.EqualValues(t, 1, served(tel, `dateline_selector_changes_total{change="rolled_back"}`))
	p.redesign = true
	for range 25 {
		s := p.next()
		d.hand(s.url, s.html)
		d.read()
	}
	require.NotZero(t, served(tel, `dateline_article_fields_total{field="body",result="empty"}`))
	again := d.count("select count(*) from site_selectors where created_by = 'learner' and version > 1")
	require.NotZero(t, again)
	require.EqualValues(t, again, served(tel, `dateline_selector_changes_total{change="relearned"}`))
}

// Freshness is recorded once, for new articles that were published while their site was
// crawled and state the time of publication.
func TestSync_RecordsFreshness(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 61)
	tel := meter(t)
	now := time.Now().UTC()
	d.at = now.Add(-30 * time.Minute)
	_, err := d.db.Exec(t.Context(), "update crawl_domains set created_at = $1", now.Add(-2*time.Hour))
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	x := &indexer.Indexer{
		Store: d.News.Searches, Engine: pgsearch.New(d.Pool(), pgsearch.Options{Log: log}),
		Events: pubsub.NewBus(d.redis, log), Meter: tel.Crawl, Log: log,
	}
	index := func() {
		_, err := x.Sync(t.Context(), func(int) {})
		require.NoError(t, err)
	}
	page := func(when string, paras ...string) string {
		return regexp.MustCompile(`2026-03-06T10:00:00Z`).ReplaceAllString(plain("The harbour freezes", "", paras...),
			when)
	}
	text := p.paragraphs(8)
	d.hand("https://paper.example/new.html", page(now.Add(-time.Hour).Format(time.RFC3339), text...))
	d.hand("https://paper.example/old.html", page(now.Add(-3*time.Hour).Format(time.RFC3339), p.paragraphs(8)...))
	d.hand("https://paper.example/day.html", page(now.Format(time.DateOnly), p.paragraphs(8)...))
	require.Equal(t, 3, d.read().Articles)
	require.Zero(t, served(tel, `dateline_crawl_freshness_seconds_count{stage="searchable"}`))
	index()
	require.EqualValues(t, 1, served(tel, `dateline_crawl_freshness_seconds_count{stage="searchable"}`))
	require.InDelta(t, 3600, served(tel, `dateline_crawl_freshness_seconds_sum{stage="searchable"}`), 300)
	d.hand("https://paper.example/new.html",
		page(now.Add(-time.Hour).Format(time.RFC3339), append(text, p.sentence())...))
	require.Equal(t, 1, d.read().Articles)
	index()
	require.EqualValues(t, 1, served(tel, `dateline_crawl_freshness_seconds_count{stage="searchable"}`),
		"a new version is not a new article")
	var left pipeline.Stats
	require.Equal(t, left, d.read())
}
