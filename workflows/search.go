package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// SearchQueue is the task queue of indexing. It is separate, so that a slow search
// engine or a rebuild delays nothing else.
const SearchQueue = "dateline-search"

// Workflow types of search.
const (
	IndexArticlesWorkflow   = "IndexArticles"
	ReindexArticlesWorkflow = "ReindexArticles"
)

// IndexArticlesSchedule is the id of the schedule that keeps IndexArticles running.
const IndexArticlesSchedule = "index-articles"

// ReindexArticlesID is the workflow id of a rebuild: there is one at a time.
const ReindexArticlesID = "reindex-articles"

// syncsPerRun is the number of SyncIndex activities of a run before it continues as new.
const syncsPerRun = 100

// IndexArticles keeps the search index in sync with the articles. Each activity polls
// the outbox for minutes, which keeps histories short and indexes articles within
// seconds.
func IndexArticles(ctx workflow.Context) error {
	var s *activities.Search
	for range syncsPerRun {
		if err := workflow.ExecuteActivity(syncOptions(ctx, "Sync the search index"), s.SyncIndex).Get(ctx,
			nil); err != nil {
			return err
		}
	}
	return workflow.NewContinueAsNewError(ctx, IndexArticlesWorkflow)
}

// ReindexArticles rebuilds the index next to the live one and swaps them.
func ReindexArticles(ctx workflow.Context) (articles int, err error) {
	var s *activities.Search
	err = workflow.ExecuteActivity(longRunningOptions(ctx, "Rebuild the search index"), s.Reindex).Get(ctx, &articles)
	return articles, err
}

// syncOptions returns the options of an activity that polls for work. Its errors are
// temporary failures of the database or the search engine.
func syncOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    time.Minute,
		WaitForCancellation: true,
		RetryPolicy:         retryForever(10 * time.Second),
		Summary:             summary,
	})
}
