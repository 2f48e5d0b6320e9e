package main

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const (
	bareQueue    = "bench-bare"
	bareWorkflow = "Bare"
	bareActivity = "Nothing"
)

// sleepThenNothing is the minimal scheduled post: a timer and one activity.
func sleepThenNothing(ctx workflow.Context, until time.Time) error {
	if err := workflow.Sleep(ctx, until.Sub(workflow.Now(ctx))); err != nil {
		return err
	}
	// As long as a post's: timers that fire during the next measurement would distort
	// it.
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 30 * time.Minute})
	return workflow.ExecuteActivity(ctx, bareActivity).Get(ctx, nil)
}

// bare measures Temporal's own limit on this machine: as many workflows as in the
// sustained measurement, due at the same rate on the same server and counted the same
// way, that do nothing. Its worker runs in this process with the same settings as
// Dateline's.
func (s *stack) bare(ctx context.Context, o options) (rate, error) {
	w := worker.New(s.temporal, bareQueue, worker.Options{
		WorkflowTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
	})
	w.RegisterWorkflowWithOptions(sleepThenNothing, workflow.RegisterOptions{Name: bareWorkflow})
	w.RegisterActivityWithOptions(func(context.Context) error { return nil }, activity.RegisterOptions{Name: bareActivity})
	if err := w.Start(); err != nil {
		return rate{}, err
	}
	defer w.Stop()
	began := time.Now()
	first := began.Add(firstDue(o))
	if err := inParallel(ctx, o.steady, func(ctx context.Context, i int) error {
		_, err := s.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: fmt.Sprintf("bare/%d", i), TaskQueue: bareQueue},
			bareWorkflow, dueAt(o, first, i))
		return err
	}); err != nil {
		return rate{}, err
	}
	return s.rate(ctx, o, bareWorkflow, began, first)
}
