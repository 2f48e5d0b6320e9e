package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/news/pipeline"
)

// Workflow types of article extraction.
const (
	ExtractArticlesWorkflow = "ExtractArticles"
	LearnSelectorsWorkflow  = "LearnSelectors"
)

// ExtractArticlesSchedule is the id of the schedule that keeps ExtractArticles running.
const ExtractArticlesSchedule = "extract-articles"

// LearnSelectorsID is the workflow id of learning or rollback for a site: there is one
// at a time.
func LearnSelectorsID(domain string) string { return "selectors/" + domain }

// LearnSelectorsInput starts a LearnSelectors workflow.
type LearnSelectorsInput struct {
	Domain string
}

// ExtractArticlesResult counts the results of an ExtractArticles workflow.
type ExtractArticlesResult struct {
	Pages, Articles, NonArticles, Failed, Deferred int
}

// batchesPerRun is the number of batches of a run, about an hour. The schedule starts
// the next run.
const batchesPerRun = 15

// ExtractArticles extracts articles from crawled pages. Each batch runs for some minutes
// and polls for new pages, so a page waits for seconds; a backlog is shared by more
// extractors.
func ExtractArticles(ctx workflow.Context) (ExtractArticlesResult, error) {
	var a *activities.Articles
	var total ExtractArticlesResult
	for batches := 0; batches < batchesPerRun && !workflow.GetInfo(ctx).GetContinueAsNewSuggested(); batches++ {
		var extractors int
		if err := workflow.ExecuteLocalActivity(databaseOptions(ctx, "Count waiting pages"), a.PlanExtraction).Get(ctx,
			&extractors); err != nil {
			return total, err
		}
		all := make([]workflow.Future, extractors)
		for i := range all {
			all[i] = workflow.ExecuteActivity(crawlOptions(ctx, "Extract pages"), a.ExtractPages)
		}
		for _, one := range all {
			var did pipeline.Stats
			if err := one.Get(ctx, &did); err != nil {
				return total, err
			}
			total.Pages, total.Articles, total.NonArticles = total.Pages+did.Pages, total.Articles+
				did.Articles, total.NonArticles+did.NonArticles
			total.Failed, total.Deferred = total.Failed+did.Failed, total.Deferred+did.Deferred
		}
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%d pages processed: %d articles, %d without an article, %d failed",
			total.Pages, total.Articles, total.NonArticles, total.Failed))
	}
	return total, nil
}

// LearnSelectors performs the action that the monitor of a site requested. The request
// is stored in the database, so a repeated run does nothing.
func LearnSelectors(ctx workflow.Context, in LearnSelectorsInput) (out pipeline.LearnResult, err error) {
	var a *activities.Articles
	err = workflow.ExecuteActivity(learnOptions(ctx, "Learn or roll back selectors of "+in.Domain), a.LearnSelectors,
		activities.LearnInput(in)).Get(ctx, &out)
	return out, err
}
