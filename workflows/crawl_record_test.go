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

// fakeCrawl implements the activities of one domain's crawl.
type fakeCrawl struct {
	mu       sync.Mutex
	plan     activities.CrawlPlan
	results  []func(ctx context.Context) (activities.FetchDomainResult, error)
	commands []crawl.Command
	fetches  int
}

func (s *fakeCrawl) PlanCrawl(context.Context) (activities.CrawlPlan, error) { return s.plan, nil }

func (s *fakeCrawl) FetchDomain(
	ctx context.Context, _ activities.FetchDomainInput,
) (activities.FetchDomainResult, error) {
	s.mu.Lock()
	next := s.results[min(s.fetches, len(s.results)-1)]
	s.fetches++
	s.mu.Unlock()
	return next(ctx)
}

func (s *fakeCrawl) ApplyDomainCommand(_ context.Context, in activities.DomainCommandInput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = append(s.commands, in.Command)
	return nil
}

func (s *fakeCrawl) RebuildURLFilter(context.Context) (int, error)      { return 7, nil }
func (s *fakeCrawl) DeleteOldPageVersions(context.Context) (int, error) { return 2, nil }
func (s *fakeCrawl) ExportPages(context.Context, activities.ExportInput) (activities.ExportResult, error) {
	return activities.ExportResult{Pages: 3, Bytes: 99}, nil
}

func (s *fakeCrawl) PlanExtraction(context.Context) (int, error) { return 2, nil }
func (s *fakeCrawl) ExtractPages(context.Context) (pipeline.Stats, error) {
	return pipeline.Stats{Pages: 3, Articles: 2, NonArticles: 1}, nil
}

func (s *fakeCrawl) LearnSelectors(context.Context, activities.LearnInput) (pipeline.LearnResult, error) {
	return pipeline.LearnResult{Action: "learned", Version: 2, Reason: "the site may have changed its template"}, nil
}

func (s *fakeCrawl) appliedCommands() []crawl.Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]crawl.Command{}, s.commands...)
}

func (s *fakeCrawl) fetchCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches
}

// done is a completed fetch activity. The next URL is due in the given time; negative:
// never.
func done(next time.Duration) func(context.Context) (activities.FetchDomainResult, error) {
	return func(context.Context) (activities.FetchDomainResult, error) {
		out := activities.FetchDomainResult{Fetched: 3, Stored: 2, Found: 1}
		if next >= 0 {
			at := time.Now().Add(next)
			out.NextDue = &at
		}
		return out, nil
	}
}

// untilCanceled is a fetch activity that runs until it is canceled.
func untilCanceled(ctx context.Context) (activities.FetchDomainResult, error) {
	for ctx.Err() == nil {
		activity.RecordHeartbeat(ctx, 1)
		time.Sleep(20 * time.Millisecond)
	}
	return activities.FetchDomainResult{}, ctx.Err()
}

func registerCrawl(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(workflows.Crawl, workflow.RegisterOptions{Name: workflows.CrawlWorkflow})
	r.RegisterWorkflowWithOptions(workflows.CrawlDomain, workflow.RegisterOptions{Name: workflows.CrawlDomainWorkflow})
	r.RegisterWorkflowWithOptions(workflows.RebuildURLFilter, workflow.RegisterOptions{
		Name: workflows.RebuildURLFilterWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.DeleteOldPageVersions, workflow.RegisterOptions{
		Name: workflows.DeleteOldPageVersionsWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.ExportPages, workflow.RegisterOptions{Name: workflows.ExportPagesWorkflow})
	r.RegisterWorkflowWithOptions(workflows.ExtractArticles, workflow.RegisterOptions{
		Name: workflows.ExtractArticlesWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.LearnSelectors, workflow.RegisterOptions{
		Name: workflows.LearnSelectorsWorkflow,
	})
}

// crawlScenario is one workflow execution on a real server.
type crawlScenario struct {
	crawl    *fakeCrawl
	name     string
	input    any
	signal   func(t *testing.T, c client.Client, s *fakeCrawl, id string)
	commands []crawl.Command
	fetches  int
}

func crawlScenarios() map[string]*crawlScenario {
	domain := workflows.CrawlDomainInput{Domain: "news.example"}
	of := func(fetches int, commands []crawl.Command, signal func(*testing.T, client.Client, *fakeCrawl, string),
		all ...func(context.Context) (activities.FetchDomainResult, error),
	) *crawlScenario {
		return &crawlScenario{
			crawl: &fakeCrawl{results: all}, name: workflows.CrawlDomainWorkflow, input: domain,
			signal: signal, commands: commands, fetches: fetches,
		}
	}
	once := func(signals ...string) func(*testing.T, client.Client, *fakeCrawl, string) {
		return func(t *testing.T, c client.Client, s *fakeCrawl, id string) {
			for s.fetchCount() == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			for _, name := range signals {
				signal(t, c, id, name, "")
			}
		}
	}
	paused := func(context.Context) (activities.FetchDomainResult, error) {
		return activities.FetchDomainResult{Paused: true}, nil
	}
	return map[string]*crawlScenario{
		"crawl_nothing_due": of(1, nil, nil, done(-1)),
		"crawl_due_later":   of(1, nil, nil, done(time.Hour)),
		"crawl_due_soon":    of(2, nil, nil, done(time.Second), done(-1)),
		"crawl_paused":      of(2, []crawl.Command{crawl.Pause}, once(workflows.SignalPause), untilCanceled, paused),
		"crawl_emptied":     of(2, []crawl.Command{crawl.Empty}, once(workflows.SignalEmpty), untilCanceled, done(-1)),
		"crawl_run_now": of(2, []crawl.Command{crawl.RunNow}, once(workflows.SignalRunNow),
			func(ctx context.Context) (activities.FetchDomainResult, error) {
				time.Sleep(time.Second) // the signal arrives in this time
				return done(14 * time.Second)(ctx)
			}, done(-1)),
		"rebuild_url_filter":       {crawl: &fakeCrawl{}, name: workflows.RebuildURLFilterWorkflow},
		"delete_old_page_versions": {crawl: &fakeCrawl{}, name: workflows.DeleteOldPageVersionsWorkflow},
		"extract_articles":         {crawl: &fakeCrawl{}, name: workflows.ExtractArticlesWorkflow},
		"learn_selectors": {
			crawl: &fakeCrawl{}, name: workflows.LearnSelectorsWorkflow, input: workflows.LearnSelectorsInput{
				Domain: "news.example",
			},
		},
		"export_pages": {
			crawl: &fakeCrawl{}, name: workflows.ExportPagesWorkflow,
			input: workflows.ExportPagesInput{
				Domain: "news.example",
				From:   time.Unix(0, 0).UTC(), To: time.Unix(1e9, 0).UTC(), Key: "exports/news.example/1.warc.gz",
			},
		},
		"crawl_schedule": {
			crawl: &fakeCrawl{
				plan: activities.CrawlPlan{
					Seeds: 2, Domains: []string{"a.example", "b.example"},
				},
				results: []func(context.Context) (activities.FetchDomainResult, error){done(-1)},
			},
			name: workflows.CrawlWorkflow, fetches: 2,
		},
	}
}

// TestRecordCrawl runs the crawler's scenarios on a real server and replays their
// histories; see TestRecord.
func TestRecordCrawl(t *testing.T) {
	address := temporaltest.Start(t)
	c := temporaltest.Dial(t, address, func(o *client.Options) { o.Identity = recorder })
	for name, s := range crawlScenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue := workflows.CrawlQueue + "-" + name
			w := worker.New(c, queue, worker.Options{Identity: recorder, BuildID: recorder}) //nolint:staticcheck // names the build without versioning the worker
			registerCrawl(w)
			w.RegisterActivity(s.crawl)
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.Stop)
			var args []any
			if s.input != nil {
				args = append(args, s.input)
			}
			run, err := c.ExecuteWorkflow(t.Context(),
				client.StartWorkflowOptions{
					ID: "scenario/" + name, TaskQueue: queue,
					TypedSearchAttributes: temporal.NewSearchAttributes(workflows.DomainKey.ValueSet("news.example")),
				},
				s.name, args...)
			if err != nil {
				t.Fatal(err)
			}
			if s.signal != nil {
				s.signal(t, c, s.crawl, run.GetID())
			}
			if err := run.Get(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			for range 200 {
				if s.crawl.fetchCount() >= s.fetches {
					break
				}
				time.Sleep(50 * time.Millisecond) // children outlive the schedule's run
			}
			if got := s.crawl.fetchCount(); got != s.fetches {
				t.Errorf("got %d fetch activities, want %d", got, s.fetches)
			}
			got := s.crawl.appliedCommands()
			if len(got) != len(s.commands) || len(got) > 0 && got[0] != s.commands[0] {
				t.Errorf("got commands %v, want %v", got, s.commands)
			}
			keep(t, c, name, run)
		})
	}
}

// A domain with much to fetch continues in a new run.
func TestCrawlDomain_ContinuesAsNew(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	registerCrawl(env)
	s := &fakeCrawl{results: []func(context.Context) (activities.FetchDomainResult, error){done(0)}}
	env.RegisterActivity(s)
	env.ExecuteWorkflow(workflows.CrawlDomainWorkflow, workflows.CrawlDomainInput{Domain: "news.example"})
	var continueAsNew *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &continueAsNew) {
		t.Fatalf("got %v, want continue-as-new", err)
	}
	if s.fetchCount() != 50 {
		t.Errorf("got %d fetch activities, want 50", s.fetchCount())
	}
}
