package workflows_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
)

// fakeIndex is a search index for recording: it fails once, and then has
// changes for a while.
type fakeIndex struct {
	mu    sync.Mutex
	looks int
	away  bool // it has failed once
}

// watches is the number of polls before nothing more happens.
const watches = 3

func (s *fakeIndex) next() (looks int, away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.away {
		s.away = true
		return 0, true
	}
	s.looks++
	return s.looks, false
}

func (s *fakeIndex) watched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

func errSearchUnavailable() error {
	return temporal.NewApplicationErrorWithOptions("the search engine does not respond", "unavailable",
		temporal.ApplicationErrorOptions{NextRetryDelay: 100 * time.Millisecond})
}

// SyncIndex is a stub of the activity.
func (s *fakeIndex) SyncIndex(ctx context.Context) (int, error) {
	looks, away := s.next()
	if away {
		return 0, errSearchUnavailable()
	}
	for looks > watches && ctx.Err() == nil {
		activity.RecordHeartbeat(ctx, looks)
		time.Sleep(20 * time.Millisecond)
	}
	return looks, ctx.Err()
}

// Reindex implements the activity of that name.
func (s *fakeIndex) Reindex(context.Context) (int, error) {
	if _, away := s.next(); away {
		return 0, errSearchUnavailable()
	}
	return 7, nil
}

func registerSearch(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(workflows.IndexArticles, workflow.RegisterOptions{
		Name: workflows.IndexArticlesWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.ReindexArticles, workflow.RegisterOptions{
		Name: workflows.ReindexArticlesWorkflow,
	})
}

// searchScenarios are the search workflows by the names of their histories.
func searchScenarios() map[string]string {
	return map[string]string{
		"index_articles_cancelled": workflows.IndexArticlesWorkflow,
		"reindex_articles":         workflows.ReindexArticlesWorkflow,
	}
}

// TestRecordSearch runs the search workflows on a real server and replays their
// histories; see TestRecord.
func TestRecordSearch(t *testing.T) {
	address := temporaltest.Start(t)
	c := temporaltest.Dial(t, address, func(o *client.Options) { o.Identity = recorder })
	for name, of := range searchScenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, queue := &fakeIndex{}, workflows.SearchQueue+"-"+name
			w := worker.New(c, queue, worker.Options{Identity: recorder, BuildID: recorder}) //nolint:staticcheck // names the build without versioning the worker
			registerSearch(w)
			w.RegisterActivity(s)
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.Stop)
			run, err := c.ExecuteWorkflow(t.Context(),
				client.StartWorkflowOptions{ID: "story/" + name, TaskQueue: queue}, of)
			if err != nil {
				t.Fatal(err)
			}
			endless := of == workflows.IndexArticlesWorkflow
			for endless && s.watched() <= watches {
				time.Sleep(10 * time.Millisecond)
			}
			if endless {
				if err := c.CancelWorkflow(t.Context(), run.GetID(), run.GetRunID()); err != nil {
					t.Fatal(err)
				}
			}
			if err := run.Get(t.Context(), nil); endless != temporal.IsCanceledError(err) || !endless && err != nil {
				t.Fatal(err)
			}
			keep(t, c, name, run)
		})
	}
}
