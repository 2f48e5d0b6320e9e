package crawl

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"time"

	"go.temporal.io/sdk/client"

	"dateline/activities"
	"dateline/api"
	"dateline/internal/news/pipeline"
	"dateline/internal/news/search/indexer"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/news/search/savedsearch"
	"dateline/internal/notify/pubsub"
	"dateline/internal/publishing/media"
	"dateline/internal/testing/crawlrig"
	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/temporaltest"
	"dateline/worker"
	"dateline/workflows"
	"dateline/workflows/starter"
)

// alsoSearch has a worker process extract and index what it stores, as in production.
// It polls every second, whatever the speed factor.
func alsoSearch(c client.Client, rig *crawlrig.Rig, log *slog.Logger) error {
	sites := &pipeline.SiteCache{Store: rig.Store.News.Articles, Redis: rig.Redis, Log: log}
	rig.Activities.Articles = &activities.Articles{
		Waiting: rig.Store.News.Articles,
		Consumer: &pipeline.Consumer{
			Store: rig.Store.Extraction(), Extractor: &pipeline.Extractor{Pages: rig.Pages, Sites: sites},
			Learners: &starter.Starter{Client: c, Namespace: temporaltest.Namespace}, Log: log,
		},
		Learner: &pipeline.Learner{Store: rig.Store.Extraction(), Pages: rig.Pages, Sites: sites, Log: log},
	}
	engine := pgsearch.New(rig.Store.Pool(), pgsearch.Options{Log: log})
	return worker.NewQueue(c, workflows.SearchQueue, worker.Activities{Search: &activities.Search{
		Prepare: engine.Prepare,
		Indexer: &indexer.Indexer{
			Store: rig.Store.News.Searches, Engine: engine, Events: pubsub.NewBus(rig.Redis, log), Log: log,
		},
	}}).Start()
}

// readAndIndex starts the workflows that schedules start in production.
func (s *stage) readAndIndex() {
	s.Helper()
	for id, one := range map[string]struct{ name, queue string }{
		workflows.ExtractArticlesSchedule: {
			workflows.ExtractArticlesWorkflow, workflows.CrawlQueue,
		},
		workflows.IndexArticlesSchedule: {workflows.IndexArticlesWorkflow, workflows.SearchQueue},
	} {
		_, err := s.temporal.ExecuteWorkflow(s.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: one.queue},
			one.name)
		s.must(err)
	}
}

// reader searches for articles like a user.
type reader struct {
	*stage
	api  *httptest.Server
	open map[string]crawltest.Article // published and not found yet
	ages []time.Duration              // from publication until found
}

func (s *stage) reader() *reader {
	s.Helper()
	log := slog.New(slog.DiscardHandler)
	server := &api.Server{
		Settings: api.Settings{Page: http.NotFoundHandler(), MaxBodyBytes: 1 << 16, Log: log},
		Identity: api.Identity{MemberHandler: api.MemberHandler{Store: s.store.Identity.Workspaces}},
		News: &api.News{SearchHandler: api.SearchHandler{Search: &savedsearch.Service{
			Store: s.store.News.Searches, Engine: pgsearch.New(s.store.Pool(), pgsearch.Options{Log: log}),
		}}},
	}
	server.MediaHandler.Media = &media.Service{}
	handler, err := server.Handler()
	s.must(err)
	r := &reader{stage: s, api: httptest.NewServer(handler), open: map[string]crawltest.Article{}}
	s.Cleanup(r.api.Close)
	return r
}

// look searches for the articles that are indexed but not yet found. Searching for all
// open ones would take most of this machine's CPU.
func (r *reader) look() {
	r.Helper()
	wanted := make([]string, 0, len(r.open))
	for address := range r.open {
		wanted = append(wanted, address)
	}
	rows, err := r.db.Query(r.Context(), "select url from search_texts where url = any($1)", wanted)
	r.must(err)
	var there []string
	for rows.Next() {
		var address string
		r.must(rows.Scan(&address))
		there = append(there, address)
	}
	r.must(rows.Err())
	for _, address := range there {
		if a := r.open[address]; r.finds(a) {
			r.ages = append(r.ages, time.Since(a.PublishedAt))
			delete(r.open, address)
		}
	}
}

// finds reports whether the search API finds an article by its headline.
func (r *reader) finds(a crawltest.Article) bool {
	r.Helper()
	q := url.Values{"q": {`"` + a.Title + `"`}, "domain": {r.world.Site(a.Site).Host()}}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.api.URL+"/api/v1/search?"+q.Encode(), nil)
	r.must(err)
	request.Header.Set("Authorization", "Bearer "+r.token)
	answer, err := r.api.Client().Do(request)
	r.must(err)
	defer func() { _ = answer.Body.Close() }()
	var found struct {
		Hits []struct{ URL, Title string }
	}
	r.must(json.NewDecoder(answer.Body).Decode(&found))
	if answer.StatusCode != http.StatusOK {
		r.Fatalf("search: got status %s", answer.Status)
	}
	for _, h := range found.Hits {
		if h.URL == a.URL && h.Title == a.Title {
			return true
		}
	}
	return false
}

// spread is the distribution of latencies.
type spread struct{ p50, p95, max time.Duration }

func spreadOf(ages []time.Duration) spread {
	slices.Sort(ages)
	return spread{ages[len(ages)/2], ages[len(ages)*95/100], ages[len(ages)-1]}
}

// String formats the distribution.
func (s spread) String() string {
	return fmt.Sprintf("p50 %s, p95 %s, max %s", s.p50, s.p95, s.max)
}

// times scales the durations to production's clock.
func (s spread) times(factor int) spread {
	f := time.Duration(factor)
	return spread{s.p50 * f, s.p95 * f, s.max * f}
}
