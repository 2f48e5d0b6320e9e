package temporalclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/temporal"

	"dateline/workflows"
)

// Orphans describes activities that Temporal takes for running.
type Orphans struct {
	Worker  string        // the identity of the worker that was given them
	Since   time.Duration // given at least so long ago
	Running int           // as many of them do run: when there are no more, none is an orphan
}

// Release makes Temporal hand out anew the publishing of a post that no worker
// has in its hands, instead of waiting for a sign of life that will not come. It
// says how many activities it released. One that runs after all is harmless: the
// claim on the post's row goes to one attempt only.
func (s *Starter) Release(ctx context.Context, postID uuid.UUID, o Orphans) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	id := workflows.PostID(postID)
	described, err := s.Client.DescribeWorkflowExecution(ctx, id, "")
	var unknown *serviceerror.NotFound
	if errors.As(err, &unknown) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("asking Temporal about post %s: %w", postID, err)
	}
	var orphans []*workflowpb.PendingActivityInfo
	for _, a := range described.GetPendingActivities() {
		if a.GetActivityType().GetName() == workflows.PublishActivity && a.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED &&
			a.GetLastWorkerIdentity() == o.Worker && time.Since(a.GetLastStartedTime().AsTime()) >= o.Since {
			orphans = append(orphans, a)
		}
	}
	if len(orphans) <= o.Running {
		return 0, nil
	}
	run := described.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	for _, a := range orphans {
		err := s.Client.CompleteActivityByID(ctx, s.Namespace, id, run, a.GetActivityId(), nil, orphaned())
		if errors.As(err, &unknown) {
			continue // it has ended meanwhile
		}
		if err != nil {
			return 0, fmt.Errorf("releasing the publishing of post %s: %w", postID, err)
		}
	}
	return len(orphans), nil
}

// orphaned ends an attempt; the next one follows at once.
func orphaned() error {
	return temporal.NewApplicationErrorWithOptions("The worker that held this is gone; the next attempt follows.", "orphaned",
		temporal.ApplicationErrorOptions{NextRetryDelay: time.Millisecond})
}
