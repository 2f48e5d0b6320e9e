package worker

import (
	"time"

	"go.temporal.io/sdk/worker"

	"dateline/workflows"
)

// crawlOptions are those of the crawler's queue, whose activities mostly wait.
func crawlOptions(a Activities) worker.Options {
	o := worker.Options{WorkflowTaskPollerBehavior: scaledPollers(), ActivityTaskPollerBehavior: scaledPollers()}
	if a.Crawl != nil {
		o.MaxConcurrentActivityExecutionSize = a.Crawl.MaxDomains + 20
	}
	return o
}

// crawlPart visits sites, extracts articles and checks watches.
func crawlPart(a Activities) part {
	return part{
		workflows: map[string]any{
			workflows.CrawlWorkflow:                 workflows.Crawl,
			workflows.CrawlDomainWorkflow:           workflows.CrawlDomain,
			workflows.RebuildURLFilterWorkflow:      workflows.RebuildURLFilter,
			workflows.DeleteOldPageVersionsWorkflow: workflows.DeleteOldPageVersions,
			workflows.ExportPagesWorkflow:           workflows.ExportPages,
			workflows.ExtractArticlesWorkflow:       workflows.ExtractArticles,
			workflows.LearnSelectorsWorkflow:        workflows.LearnSelectors,
			workflows.CheckWatchesWorkflow:          workflows.CheckWatches,
		},
		activities: enabled(a.Crawl, a.CrawlMaintenance, a.Articles, a.Watches),
		schedules: []schedule{
			{id: workflows.CrawlSchedule, workflow: workflows.CrawlWorkflow, every: time.Minute, atStart: true},
			{
				id: workflows.ExtractArticlesSchedule, workflow: workflows.ExtractArticlesWorkflow,
				every: time.Minute, atStart: true,
			},
			{id: workflows.CheckWatchesSchedule, workflow: workflows.CheckWatchesWorkflow, every: time.Minute},
			{ // 02:00 in Vietnam
				id: workflows.RebuildURLFilterSchedule, workflow: workflows.RebuildURLFilterWorkflow,
				every: 24 * time.Hour, offset: 19 * time.Hour,
			},
			{
				id: workflows.DeleteOldPageVersionsSchedule, workflow: workflows.DeleteOldPageVersionsWorkflow,
				every: 24 * time.Hour, offset: 20 * time.Hour,
			},
		},
	}
}

// hubsPart subscribes to the WebSub hubs of feeds.
func hubsPart(a Activities) part {
	return part{
		workflows:  map[string]any{workflows.SubscribeToHubsWorkflow: workflows.SubscribeToHubs},
		activities: enabled(a.WebSub),
		schedules: []schedule{{
			id: workflows.SubscribeToHubsSchedule, workflow: workflows.SubscribeToHubsWorkflow, every: time.Minute,
		}},
	}
}

// searchPart keeps the index of articles.
func searchPart(a Activities) part {
	return part{
		workflows: map[string]any{
			workflows.IndexArticlesWorkflow:   workflows.IndexArticles,
			workflows.ReindexArticlesWorkflow: workflows.ReindexArticles,
		},
		activities: enabled(a.Search),
		schedules: []schedule{{
			id: workflows.IndexArticlesSchedule, workflow: workflows.IndexArticlesWorkflow, every: time.Minute,
			atStart: true,
		}},
	}
}

// storiesPart places articles in stories.
func storiesPart(a Activities) part {
	return part{
		workflows: map[string]any{
			workflows.PlaceStoriesWorkflow:  workflows.PlaceStories,
			workflows.ReviewStoriesWorkflow: workflows.ReviewStories,
		},
		activities: enabled(a.Stories),
		schedules: []schedule{
			{
				id: workflows.PlaceStoriesSchedule, workflow: workflows.PlaceStoriesWorkflow, every: time.Minute,
				atStart: true,
			},
			{ // at 02:30 UTC
				id: workflows.ReviewStoriesSchedule, workflow: workflows.ReviewStoriesWorkflow,
				every: 24 * time.Hour, offset: 150 * time.Minute, catchUp: 12 * time.Hour,
			},
		},
	}
}
