package workflows_test

import (
	"context"
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

// fakeStories has the activities of stories.
type fakeStories struct{ looks chan struct{} }

func (f *fakeStories) PlaceArticles(ctx context.Context) (int, error) {
	f.looks <- struct{}{}
	for ctx.Err() == nil {
		activity.RecordHeartbeat(ctx, 1)
		time.Sleep(20 * time.Millisecond)
	}
	return 1, ctx.Err()
}

func (*fakeStories) RequestReviews(context.Context) (int64, error) { return 7, nil }

func registerStories(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(workflows.PlaceStories, workflow.RegisterOptions{
		Name: workflows.PlaceStoriesWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.ReviewStories, workflow.RegisterOptions{
		Name: workflows.ReviewStoriesWorkflow,
	})
}

// TestRecordStories runs the workflows of stories on a real server and replays their
// histories; see TestRecord.
func TestRecordStories(t *testing.T) {
	address := temporaltest.Start(t)
	c := temporaltest.Dial(t, address, func(o *client.Options) { o.Identity = recorder })
	t.Run("review_stories", func(t *testing.T) {
		t.Parallel()
		run := start(t, c, &fakeStories{}, "review_stories", workflows.ReviewStoriesWorkflow)
		var got int64
		if err := run.Get(t.Context(), &got); err != nil || got != 7 {
			t.Errorf("got %d, error %v; want 7", got, err)
		}
		keep(t, c, "review_stories", run)
	})
	t.Run("place_stories_cancelled", func(t *testing.T) {
		t.Parallel()
		f := &fakeStories{looks: make(chan struct{}, 1)}
		run := start(t, c, f, "place_stories_cancelled", workflows.PlaceStoriesWorkflow)
		<-f.looks
		if err := c.CancelWorkflow(t.Context(), run.GetID(), run.GetRunID()); err != nil {
			t.Fatal(err)
		}
		if err := run.Get(t.Context(), nil); !temporal.IsCanceledError(err) {
			t.Fatal(err)
		}
		keep(t, c, "place_stories_cancelled", run)
	})
}
