package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/news/pipeline"
)

// Names by which the workflows of articles are started.
const (
	ExtractArticlesWorkflow = "ExtractArticles"
	LearnSelectorsWorkflow  = "LearnSelectors"
)

// ExtractArticlesSchedule is the id of its schedule.
const ExtractArticlesSchedule = "extract-articles"

// LearnSelectorsID is the workflow id of what is done about a site's selectors:
// one thing at a time.
func LearnSelectorsID(domain string) string { return "selectors/" + domain }

// LearnSelectorsInput starts a LearnSelectors workflow.
type LearnSelectorsInput struct {
	Domain string
}

// ExtractArticlesResult is what a ExtractArticles workflow did.
type ExtractArticlesResult struct {
	Pages, Articles, Others, Failed, Later int
}

// batchesPerRun is how many rounds an ExtractArticles does before it ends and the
// schedule starts the next: about an hour.
const batchesPerRun = 15

// ExtractArticles reads what the crawler stores. A schedule sees to it that it runs. A round goes on for some minutes and looks for new pages all the
// time, so a page waits for seconds; where many wait, more readers share them.
func ExtractArticles(ctx workflow.Context) (ExtractArticlesResult, error) {
	var a *activities.Articles
	var total ExtractArticlesResult
	for rounds := 0; rounds < batchesPerRun && !workflow.GetInfo(ctx).GetContinueAsNewSuggested(); rounds++ {
		var readers int
		if err := workflow.ExecuteLocalActivity(databaseOptions(ctx, "Counts waiting pages"), a.PlanExtraction).Get(ctx, &readers); err != nil {
			return total, err
		}
		all := make([]workflow.Future, readers)
		for i := range all {
			all[i] = workflow.ExecuteActivity(crawlOptions(ctx, "Reads pages"), a.ExtractPages)
		}
		for _, one := range all {
			var did pipeline.Stats
			if err := one.Get(ctx, &did); err != nil {
				return total, err
			}
			total.Pages, total.Articles, total.Others = total.Pages+did.Pages, total.Articles+did.Articles, total.Others+did.NonArticles
			total.Failed, total.Later = total.Failed+did.Failed, total.Later+did.Deferred
		}
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%d pages read, %d articles, %d pages are none, %d cannot be read", total.Pages, total.Articles, total.Others, total.Failed))
	}
	return total, nil
}

// LearnSelectors does about a site's selectors what its monitor asks for. What
// that is, stands in the database: a run that comes twice does nothing.
func LearnSelectors(ctx workflow.Context, in LearnSelectorsInput) (out pipeline.LearnResult, err error) {
	var a *activities.Articles
	err = workflow.ExecuteActivity(learnOptions(ctx, "Selectors of "+in.Domain), a.LearnSelectors, activities.LearnInput(in)).Get(ctx, &out)
	return out, err
}
