package workflows_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/news/crawl"
	"dateline/internal/news/pipeline"
	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
)

// site stands for the activities of one domain's crawl.
type site struct {
	mu       sync.Mutex
	plan     activities.CrawlPlan
	drains   []func(ctx context.Context) (activities.DrainResult, error)
	controls []crawl.Control
	drained  int
}

func (s *site) PlanCrawl(context.Context) (activities.CrawlPlan, error) { return s.plan, nil }

func (s *site) DrainDomain(ctx context.Context, _ activities.DrainInput) (activities.DrainResult, error) {
	s.mu.Lock()
	next := s.drains[min(s.drained, len(s.drains)-1)]
	s.drained++
	s.mu.Unlock()
	return next(ctx)
}

func (s *site) ControlDomain(_ context.Context, in activities.ControlInput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.controls = append(s.controls, in.What)
	return nil
}

func (s *site) RebuildSeen(context.Context) (int, error) { return 7, nil }
func (s *site) SweepPages(context.Context) (int, error)  { return 2, nil }
func (s *site) ExportPages(context.Context, activities.ExportInput) (activities.ExportResult, error) {
	return activities.ExportResult{Pages: 3, Bytes: 99}, nil
}

func (s *site) PlanExtraction(context.Context) (int, error) { return 2, nil }
func (s *site) ExtractPages(context.Context) (pipeline.Stats, error) {
	return pipeline.Stats{Pages: 3, Articles: 2, NonArticles: 1}, nil
}

func (s *site) LearnSelectors(context.Context, activities.LearnInput) (pipeline.LearnResult, error) {
	return pipeline.LearnResult{Action: "learned", Version: 2, Reason: "the site may have changed its template"}, nil
}

func (s *site) asked() []crawl.Control {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]crawl.Control{}, s.controls...)
}

func (s *site) begun() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drained
}

// done is a drain after which the next URL is due in that time; negative: never.
func done(next time.Duration) func(context.Context) (activities.DrainResult, error) {
	return func(context.Context) (activities.DrainResult, error) {
		out := activities.DrainResult{Fetched: 3, Stored: 2, Found: 1}
		if next >= 0 {
			at := time.Now().Add(next)
			out.NextDue = &at
		}
		return out, nil
	}
}

// long drains until it is called off.
func long(ctx context.Context) (activities.DrainResult, error) {
	for ctx.Err() == nil {
		activity.RecordHeartbeat(ctx, 1)
		time.Sleep(20 * time.Millisecond)
	}
	return activities.DrainResult{}, ctx.Err()
}

func registerCrawl(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(workflows.Crawl, workflow.RegisterOptions{Name: workflows.CrawlWorkflow})
	r.RegisterWorkflowWithOptions(workflows.CrawlDomain, workflow.RegisterOptions{Name: workflows.CrawlDomainWorkflow})
	r.RegisterWorkflowWithOptions(workflows.RebuildSeen, workflow.RegisterOptions{Name: workflows.RebuildSeenWorkflow})
	r.RegisterWorkflowWithOptions(workflows.SweepPages, workflow.RegisterOptions{Name: workflows.SweepPagesWorkflow})
	r.RegisterWorkflowWithOptions(workflows.ExportPages, workflow.RegisterOptions{Name: workflows.ExportPagesWorkflow})
	r.RegisterWorkflowWithOptions(workflows.ExtractArticles, workflow.RegisterOptions{Name: workflows.ExtractArticlesWorkflow})
	r.RegisterWorkflowWithOptions(workflows.LearnSelectors, workflow.RegisterOptions{Name: workflows.LearnSelectorsWorkflow})
}

// crawlStory is what happens to one workflow of the crawler on a real server.
type crawlStory struct {
	site     *site
	name     string
	input    any
	tell     func(t *testing.T, c client.Client, s *site, id string)
	controls []crawl.Control
	drains   int
}

func crawlStories() map[string]*crawlStory {
	domain := workflows.CrawlDomainInput{Domain: "news.example"}
	of := func(drains int, controls []crawl.Control, tell func(*testing.T, client.Client, *site, string), all ...func(context.Context) (activities.DrainResult, error)) *crawlStory {
		return &crawlStory{site: &site{drains: all}, name: workflows.CrawlDomainWorkflow, input: domain, tell: tell, controls: controls, drains: drains}
	}
	once := func(signals ...string) func(*testing.T, client.Client, *site, string) {
		return func(t *testing.T, c client.Client, s *site, id string) {
			for s.begun() == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			for _, name := range signals {
				signal(t, c, id, name, "")
			}
		}
	}
	paused := func(context.Context) (activities.DrainResult, error) {
		return activities.DrainResult{Paused: true}, nil
	}
	return map[string]*crawlStory{
		"crawl_nothing_due": of(1, nil, nil, done(-1)),
		"crawl_due_later":   of(1, nil, nil, done(time.Hour)),
		"crawl_due_soon":    of(2, nil, nil, done(time.Second), done(-1)),
		"crawl_paused":      of(2, []crawl.Control{crawl.Pause}, once(workflows.SignalPause), long, paused),
		"crawl_emptied":     of(2, []crawl.Control{crawl.Empty}, once(workflows.SignalEmpty), long, done(-1)),
		"crawl_run_now": of(2, []crawl.Control{crawl.RunNow}, once(workflows.SignalRunNow), func(ctx context.Context) (activities.DrainResult, error) {
			time.Sleep(time.Second) // the signal comes meanwhile
			return done(14 * time.Second)(ctx)
		}, done(-1)),
		"rebuild_seen":    {site: &site{}, name: workflows.RebuildSeenWorkflow},
		"sweep_pages":     {site: &site{}, name: workflows.SweepPagesWorkflow},
		"extract_articles":   {site: &site{}, name: workflows.ExtractArticlesWorkflow},
		"learn_selectors": {site: &site{}, name: workflows.LearnSelectorsWorkflow, input: workflows.LearnSelectorsInput{Domain: "news.example"}},
		"export_pages": {site: &site{}, name: workflows.ExportPagesWorkflow, input: workflows.ExportPagesInput{Domain: "news.example",
			From: time.Unix(0, 0).UTC(), To: time.Unix(1e9, 0).UTC(), Key: "exports/news.example/1.warc.gz"}},
		"crawl_schedule": {site: &site{plan: activities.CrawlPlan{Seeds: 2, Domains: []string{"a.example", "b.example"}},
			drains: []func(context.Context) (activities.DrainResult, error){done(-1)}}, name: workflows.CrawlWorkflow, drains: 2},
	}
}

// TestRecordCrawl runs the crawler's stories on a real server and replays their
// histories; see TestRecord.
func TestRecordCrawl(t *testing.T) {
	address := temporaltest.Start(t)
	c := temporaltest.Dial(t, address, func(o *client.Options) { o.Identity = recorder })
	for name, s := range crawlStories() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue := workflows.CrawlQueue + "-" + name
			w := worker.New(c, queue, worker.Options{Identity: recorder, BuildID: recorder}) //nolint:staticcheck // names the build without versioning the worker
			registerCrawl(w)
			w.RegisterActivity(s.site)
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.Stop)
			var args []any
			if s.input != nil {
				args = append(args, s.input)
			}
			run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "story/" + name, TaskQueue: queue,
				TypedSearchAttributes: temporal.NewSearchAttributes(workflows.DomainKey.ValueSet("news.example"))}, s.name, args...)
			if err != nil {
				t.Fatal(err)
			}
			if s.tell != nil {
				s.tell(t, c, s.site, run.GetID())
			}
			if err := run.Get(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			for range 200 {
				if s.site.begun() >= s.drains {
					break
				}
				time.Sleep(50 * time.Millisecond) // children outlive the schedule's run
			}
			if got := s.site.begun(); got != s.drains {
				t.Errorf("%d drains, want %d", got, s.drains)
			}
			got := s.site.asked()
			if len(got) != len(s.controls) || len(got) > 0 && got[0] != s.controls[0] {
				t.Errorf("noted %v, want %v", got, s.controls)
			}
			keep(t, c, name, run)
		})
	}
}

// A domain of which a drain runs already is left alone, and a domain with much
// to do goes on in a new run.
func TestCrawlDomainContinuesAsNew(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	registerCrawl(env)
	s := &site{drains: []func(context.Context) (activities.DrainResult, error){done(0)}}
	env.RegisterActivity(s)
	env.ExecuteWorkflow(workflows.CrawlDomainWorkflow, workflows.CrawlDomainInput{Domain: "news.example"})
	var onward *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &onward) {
		t.Fatalf("it ended with %v", err)
	}
	if s.begun() != 50 {
		t.Errorf("after %d drains", s.begun())
	}
}
