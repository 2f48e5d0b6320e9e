package workflows

import (
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// Workflow types of stories.
const (
	PlaceStoriesWorkflow  = "PlaceStories"
	ReviewStoriesWorkflow = "ReviewStories"
)

// Ids of the schedules of stories.
const (
	PlaceStoriesSchedule  = "place-stories"
	ReviewStoriesSchedule = "review-stories"
)

// placementsPerRun is the number of PlaceStories activities of a run before it continues
// as new.
const placementsPerRun = 100

// PlaceStories places stored and changed articles in stories, reviews stories that are due
// and sends alerts. Each activity polls for minutes, which keeps histories short and
// places articles within seconds.
func PlaceStories(ctx workflow.Context) error {
	var s *activities.Stories
	for range placementsPerRun {
		if err := workflow.ExecuteActivity(syncOptions(ctx, "Place new articles in stories"), s.PlaceArticles).Get(ctx,
			nil); err != nil {
			return err
		}
	}
	return workflow.NewContinueAsNewError(ctx, PlaceStoriesWorkflow)
}

// ReviewStories makes all recent stories due for merging and splitting, every night.
func ReviewStories(ctx workflow.Context) (stories int64, err error) {
	var s *activities.Stories
	err = workflow.ExecuteActivity(syncOptions(ctx, "Request reviews of recent stories"), s.RequestReviews).Get(ctx,
		&stories)
	return stories, err
}
