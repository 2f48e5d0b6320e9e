package pipeline_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"dateline/activities"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/article"
	"dateline/internal/news/article/score"
	"dateline/internal/news/pipeline"
	"dateline/internal/notify/webhook"
	"dateline/internal/testing/temporaltest"
	"dateline/worker"
	"dateline/workflows"
	"dateline/workflows/starter"
)

// work runs a worker that extracts and learns, on a real Temporal server.
func (d *fixture) work() {
	t := d.t
	t.Helper()
	address := temporaltest.Start(t)
	c := temporaltest.Dial(t, address, func(*client.Options) {})
	d.consumer.Learners = &starter.Starter{Client: c, Namespace: temporaltest.Namespace}
	d.consumer.Timing = pipeline.Timing{PollInterval: 10 * time.Millisecond, RetryDelay: 10 * time.Millisecond}
	w := worker.NewQueue(c, workflows.CrawlQueue, worker.Activities{
		Crawl:            &activities.Crawl{MaxDomains: 1},
		CrawlMaintenance: &activities.CrawlMaintenance{},
		Articles:         &activities.Articles{Consumer: d.consumer, Learner: d.learner, Waiting: d.News.Articles},
	})
	d.must(w.Start())
	t.Cleanup(w.Stop)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID:        workflows.ExtractArticlesSchedule,
		TaskQueue: workflows.CrawlQueue,
	}, workflows.ExtractArticlesWorkflow)
	d.must(err)
	t.Cleanup(func() { _ = c.TerminateWorkflow(context.Background(), run.GetID(), "", "the test is over") })
}

// settled waits until the queue and all requested actions are done.
func (d *fixture) settled() {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		return d.count("select (select count(*) from crawled_pages) + (select count(*) from site_monitors where "+
			"requested_action <> 'none')") == 0
	}, time.Minute, 10*time.Millisecond, "pages wait, or selectors")
}

// take queues a story and returns its article.
func (d *fixture) take(s generatedArticle) pipeline.StoredArticle {
	d.t.Helper()
	d.hand(s.url, s.html)
	d.settled()
	var id uuid.UUID
	d.must(d.db.QueryRow(d.t.Context(), "select id from articles where url = $1", s.url).Scan(&id))
	a, err := d.News.Articles.Article(d.t.Context(), d.workspace.ID, id)
	d.must(err)
	return a
}

// bySelectors reports whether the selectors recognized the newest page.
func (d *fixture) bySelectors() bool {
	d.t.Helper()
	return d.count("select count(*) from site_monitors where (monitor->'recent'->-1->>'body')::boolean") > 0
}

// A site changes its template. Extraction quality stays high, and selectors are
// relearned automatically within 20 pages; the event contains the reason. A bad version
// that is activated afterwards is rolled back.
func TestSelectors_RecoverAutomatically(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 7)
	d.work()
	var back int // pages from the redesign until selectors match again
	for i := range 60 {
		p.redesign = i >= 30
		want := p.next()
		got := d.take(want)
		f1 := score.CompareBody(want.body, got.Text).F1()
		require.Greater(t, f1, 0.9, "page %d", i)
		if d.bySelectors() && p.redesign && back == 0 {
			back = i - 29
		}
		if i >= 10 && i < 30 || i >= 50 {
			require.True(t, d.bySelectors(), "page %d is extracted with selectors", i)
			require.InDelta(t, 1, f1, 0.001, "page %d", i)
			require.Equal(t, []string{want.author}, got.Authors, "page %d", i)
			require.True(t, want.published.Equal(*got.Published), "page %d", i)
		}
	}
	require.Positive(t, back)
	require.LessOrEqual(t, back, 20)
	t.Logf("selectors match again with page %d of the new template", back)
	events := d.events()
	require.Len(t, events, 2)
	require.Equal(t, "The site has no selectors yet.", events[0].Data.Reason)
	require.Equal(t, "selectors_learned", events[1].Type)
	require.Equal(t, "body", events[1].Data.Field)
	require.Equal(t, "paper.example", events[1].Data.Domain)
	require.Equal(t, []int{2, 1}, []int{events[1].Data.Version, events[1].Data.Previous})
	require.Regexp(t,
		`The selectors of version 1 found the body on \d of the last \d+ pages. The site may have changed its template.`, events[1].Data.Reason)
	require.Equal(t, "dateline", events[1].Actor)
	require.Equal(t, "domain.selectors_learned", webhook.TypeOf(events[1].Type))
	versions, err := d.News.Articles.ListSelectors(t.Context(), d.domain("paper.example").ID, 100, 10)
	require.NoError(t, err)
	require.Len(t, versions, 2)
	require.Equal(t, []pipeline.State{pipeline.Active, pipeline.Retired}, []pipeline.State{
		versions[0].State, versions[1].State,
	})
	require.Contains(t, versions[1].EndReason.Text, "found the body on")
	require.Greater(t, versions[0].Scores[article.FieldBody], 0.9)

	// A member activates selectors that match the teasers below the text.
	service := &pipeline.Service{
		Store: d.Extraction(), Pages: d.pages, Sites: d.sites, Learners: d.consumer.Learners, Log: d.log,
	}
	who := workspace.Principal{WorkspaceID: d.workspace.ID, UserID: uuid.Must(uuid.NewV7()), Role: workspace.Owner}
	bad, _, err := service.AddSelectors(t.Context(), who, "paper.example",
		pipeline.SelectorDraft{Config: teasers(), Note: "try this", Activate: true}, idempotency.Key{})
	require.NoError(t, err)
	require.Equal(t, 3, bad.Version)
	pages := 0
	for range 15 {
		want := p.next()
		got := d.take(want)
		pages++
		if events = d.events(); events[len(events)-1].Type == "selectors_rolled_back" {
			break
		}
		require.NotEmpty(t, got.Text)
	}
	require.Len(t, events, 4)
	last := events[3]
	require.Equal(t, "selectors_rolled_back", last.Type)
	require.LessOrEqual(t, pages, 10)
	require.Equal(t, "Version 3 finds the body on 0% of pages, the previous version 2 found it on 100%.",
		last.Data.Reason)
	require.Equal(t, []int{2, 3}, []int{last.Data.Version, last.Data.Previous})
	bad, err = d.News.Articles.SelectorsVersion(t.Context(), d.domain("paper.example").ID, 3)
	require.NoError(t, err)
	require.Equal(t, pipeline.RolledBack, bad.State)
	for range 3 {
		want := p.next()
		got := d.take(want)
		require.True(t, d.bySelectors())
		require.Equal(t, 2, got.SelectorVersion)
		require.InDelta(t, 1, score.CompareBody(want.body, got.Text).F1(), 0.001)
	}
	require.Equal(t, 4, len(d.events()), "one event for each change")
	for _, key := range d.redis.Keys(t.Context(), "dateline:site-reading:*").Val() {
		require.Contains(t, d.redis.Get(t.Context(), key).Val(), `"version":2`, "the cache has the active version")
	}
}

// A site without a learnable template keeps using generic extraction, and the event
// contains the reason.
func TestLearn_NothingToLearn(t *testing.T) {
	d, p := newFixture(t, "paper.example"), newPaper("paper.example", 17)
	for range 12 {
		s := p.next()
		d.hand(s.url, s.html)
		d.read()
	}
	require.Len(t, d.events(), 1)
	// Now every page has a different template.
	for i := range 24 {
		class := strings.ToUpper(string(rune('a'+i))) + "x" + strings.Repeat("q", i%3)
		d.hand("https://paper.example/odd-"+class, `<html><head><title>`+p.sentence()+
			`</title></head><body><div class="`+class+`1"><h1>`+p.sentence()+`</h1><div class="k`+class+`9"><p>`+
			strings.Join(p.paragraphs(6), "</p><p>")+`</p></div></div></body></html>`)
		d.read()
	}
	require.Len(t, d.articles(""), 36, "all of them are read")
	events := d.events()
	require.Equal(t, "selectors_failed", events[len(events)-1].Type)
	require.NotEmpty(t, events[len(events)-1].Data.LearnError)
	require.Contains(t, events[len(events)-1].Data.Reason, "found the body on")
	require.LessOrEqual(t, len(events), 5, "it is not tried on every page")
}
