package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// SearchQueue runs the indexing, so that neither a slow engine of the search nor
// a rebuild delays anything else.
const SearchQueue = "dateline-search"

// Names by which the workflows of the search are started.
const (
	IndexArticlesWorkflow   = "IndexArticles"
	ReindexArticlesWorkflow = "ReindexArticles"
)

// IndexArticlesSchedule starts IndexArticles where it does not run.
const IndexArticlesSchedule = "index-articles"

// ReindexArticlesID is the workflow id of a rebuild: there is one at a time.
const ReindexArticlesID = "reindex-articles"

// syncsPerRun is how often an IndexArticles run watches before it continues as new.
const syncsPerRun = 100

// IndexArticles follows what changes of the articles into the index of the
// search, for ever: an activity watches for minutes, so that little is written
// to histories and an article is found within seconds. What is to be done
// stands in the database. A schedule starts it where it does not run.
func IndexArticles(ctx workflow.Context) error {
	var s *activities.Search
	for range syncsPerRun {
		if err := workflow.ExecuteActivity(syncOptions(ctx, "Follows the articles"), s.SyncIndex).Get(ctx, nil); err != nil {
			return err
		}
	}
	return workflow.NewContinueAsNewError(ctx, IndexArticlesWorkflow)
}

// ReindexArticles builds the index anew beside the one that answers, and swaps them.
func ReindexArticles(ctx workflow.Context) (articles int, err error) {
	var s *activities.Search
	err = workflow.ExecuteActivity(longRunningOptions(ctx, "Builds the index anew"), s.Reindex).Get(ctx, &articles)
	return articles, err
}

// syncOptions is for an activity that watches for work. Its errors are of the
// database or of the engine, and pass.
func syncOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    time.Minute,
		WaitForCancellation: true,
		RetryPolicy:         retryForever(10 * time.Second),
		Summary:             summary,
	})
}
