package main

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const (
	bareQueue    = "bench-bare"
	bareActivity = "Nothing"
	// timerWorkflow waits in a timer and then runs an activity.
	timerWorkflow = "BareTimer"
	// deferredWorkflow schedules the activity at once, which defers itself until its
	// time as the activity of a post does. It has fewer events and workflow tasks, so
	// it is the stronger baseline.
	deferredWorkflow = "BareDeferred"
)

// activityTimeout is as long as a post's: timers that end during the next
// measurement would be part of it.
const activityTimeout = 30 * time.Minute

func runTimer(ctx workflow.Context, until time.Time) error {
	if err := workflow.Sleep(ctx, until.Sub(workflow.Now(ctx))); err != nil {
		return err
	}
	return runDeferred(ctx, until)
}

func runDeferred(ctx workflow.Context, until time.Time) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: activityTimeout})
	return workflow.ExecuteActivity(ctx, bareActivity, until).Get(ctx, nil)
}

func deferUntil(_ context.Context, until time.Time) error {
	left := time.Until(until)
	if left <= 0 {
		return nil
	}
	return temporal.NewApplicationErrorWithOptions("It is not due yet.", "not_due", temporal.ApplicationErrorOptions{
		NextRetryDelay: left,
	})
}

// bare measures the limit that Temporal sets on this machine: as many workflows as in
// the measurement of the sustained rate, due at the same pace on the same server and
// counted in the same way, that do nothing. Its worker runs in this process, with the
// settings of Dateline's.
func (s *stack) bare(ctx context.Context, o options, kind string) (rate, error) {
	w := worker.New(s.temporal, bareQueue, worker.Options{
		WorkflowTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
	})
	w.RegisterWorkflowWithOptions(runTimer, workflow.RegisterOptions{Name: timerWorkflow})
	w.RegisterWorkflowWithOptions(runDeferred, workflow.RegisterOptions{Name: deferredWorkflow})
	w.RegisterActivityWithOptions(deferUntil, activity.RegisterOptions{Name: bareActivity})
	if err := w.Start(); err != nil {
		return rate{}, err
	}
	defer w.Stop()
	began := time.Now()
	first := began.Add(firstDue(o))
	before := s.cpu()
	// Ids that were used before cost Temporal a second transaction.
	if err := inParallel(ctx, o.steady, func(ctx context.Context, i int) error {
		_, err := s.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: fmt.Sprintf("%s/%d/%d", kind, began.UnixNano(), i), TaskQueue: bareQueue,
		},
			kind, dueAt(o, first, i))
		return err
	}); err != nil {
		return rate{}, err
	}
	started, between := time.Since(began), s.cpu()
	r, err := s.rate(ctx, o, kind, began, first)
	s.addCost(&r, o.steady, started, between.Since(before), s.cpu().Since(between))
	return r, err
}
