package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/news/pipeline"
)

// Names by which the workflows of articles are started.
const (
	ReadArticlesWorkflow   = "ReadArticles"
	LearnSelectorsWorkflow = "LearnSelectors"
)

// ReadArticlesSchedule is the id of its schedule.
const ReadArticlesSchedule = "read-articles"

// LearnSelectorsID is the workflow id of what is done about a site's selectors:
// one thing at a time.
func LearnSelectorsID(domain string) string { return "selectors/" + domain }

// LearnSelectorsInput starts a LearnSelectors workflow.
type LearnSelectorsInput struct {
	Domain string
}

// ReadArticlesResult is what a ReadArticles workflow did.
type ReadArticlesResult struct {
	Pages, Articles, Others, Failed, Later int
}

// roundsPerRun is how many rounds a ReadArticles does before it ends and the
// schedule starts the next: about an hour.
const roundsPerRun = 15

// ReadArticles reads what the crawler stores. A schedule sees to it that it runs. A round goes on for some minutes and looks for new pages all the
// time, so a page waits for seconds; where many wait, more readers share them.
func ReadArticles(ctx workflow.Context) (ReadArticlesResult, error) {
	var a *activities.Articles
	var total ReadArticlesResult
	for rounds := 0; rounds < roundsPerRun && !workflow.GetInfo(ctx).GetContinueAsNewSuggested(); rounds++ {
		var readers int
		if err := workflow.ExecuteLocalActivity(rows(ctx, "Counts waiting pages"), a.PlanReading).Get(ctx, &readers); err != nil {
			return total, err
		}
		all := make([]workflow.Future, readers)
		for i := range all {
			all[i] = workflow.ExecuteActivity(crawling(ctx, "Reads pages"), a.ReadPages)
		}
		for _, one := range all {
			var did pipeline.Drained
			if err := one.Get(ctx, &did); err != nil {
				return total, err
			}
			total.Pages, total.Articles, total.Others = total.Pages+did.Pages, total.Articles+did.Articles, total.Others+did.Others
			total.Failed, total.Later = total.Failed+did.Failed, total.Later+did.Later
		}
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%d pages read, %d articles, %d pages are none, %d cannot be read", total.Pages, total.Articles, total.Others, total.Failed))
	}
	return total, nil
}

// LearnSelectors does about a site's selectors what its monitor asks for. What
// that is, stands in the database: a run that comes twice does nothing.
func LearnSelectors(ctx workflow.Context, in LearnSelectorsInput) (out pipeline.Learnt, err error) {
	var a *activities.Articles
	err = workflow.ExecuteActivity(learning(ctx, "Selectors of "+in.Domain), a.LearnSelectors, activities.LearnInput(in)).Get(ctx, &out)
	return out, err
}
