package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"dateline/workflows"
)

// schedules are the scheduled workflows. A run that is still in progress makes the next
// one skip; runs missed by more than a minute are not made up for, because the next one
// does the same.
func schedules() []client.ScheduleOptions {
	return []client.ScheduleOptions{{
		ID:            workflows.ReconcileSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: 30 * time.Second}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID:        workflows.ReconcileSchedule,
			Workflow:  workflows.ReconcilePostsWorkflow,
			TaskQueue: workflows.PostQueue,
		},
		// The first run starts immediately: posts may have waited for Temporal.
		TriggerImmediately: true,
	}, {
		ID:            workflows.MaterializeSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: 10 * time.Minute}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID:        workflows.MaterializeSchedule,
			Workflow:  workflows.MaterializeSeriesWorkflow,
			TaskQueue: workflows.PostQueue,
		},
		TriggerImmediately: true,
	}, {
		ID:            workflows.SweepMediaSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Hour}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID:        workflows.SweepMediaSchedule,
			Workflow:  workflows.SweepMediaWorkflow,
			TaskQueue: workflows.PostQueue,
		},
	}, {
		ID:            workflows.MaintainAccountsSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Minute}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID:        workflows.MaintainAccountsSchedule,
			Workflow:  workflows.MaintainAccountsWorkflow,
			TaskQueue: workflows.PostQueue,
		},
		TriggerImmediately: true,
	}}
}

// viewSchedules are those of the counting of readers, see schedules.
func viewSchedules() []client.ScheduleOptions {
	return []client.ScheduleOptions{{
		ID:            workflows.FlushViewsSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Minute}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID:        workflows.FlushViewsSchedule,
			Workflow:  workflows.FlushViewsWorkflow,
			TaskQueue: workflows.PostQueue,
		},
		// Redis may have restarted empty: the readers' counts are seeded immediately.
		TriggerImmediately: true,
	}, {
		ID:            workflows.MaintainViewsSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Hour}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID:        workflows.MaintainViewsSchedule,
			Workflow:  workflows.MaintainViewsWorkflow,
			TaskQueue: workflows.PostQueue,
		},
		TriggerImmediately: true,
	}, {
		ID:            workflows.SendReportsSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Minute}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID:        workflows.SendReportsSchedule,
			Workflow:  workflows.SendReportsWorkflow,
			TaskQueue: workflows.PostQueue,
		},
	}}
}

// ruleSchedules are those of rules, see schedules.
func ruleSchedules() []client.ScheduleOptions {
	return []client.ScheduleOptions{{
		ID:            workflows.EvaluateRulesSchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Minute}}},
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute,
		Action: &client.ScheduleWorkflowAction{
			ID: workflows.EvaluateRulesSchedule, Workflow: workflows.EvaluateRulesWorkflow,
			TaskQueue: workflows.PostQueue,
		},
		TriggerImmediately: true,
	}}
}

// ensureSchedules creates the schedules, or brings those of an older build up
// to date. What an operator paused stays paused.
func ensureSchedules(ctx context.Context, c client.Client) error {
	return ensure(ctx, c, schedules())
}

func ensure(ctx context.Context, c client.Client, all []client.ScheduleOptions) error {
	for _, want := range all {
		_, err := c.ScheduleClient().Create(ctx, want)
		if err == nil {
			continue
		}
		if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
			return fmt.Errorf("creating the schedule %s: %w", want.ID, err)
		}
		paused := false
		handle := c.ScheduleClient().GetHandle(ctx, want.ID)
		err = handle.Update(ctx, client.ScheduleUpdateOptions{
			DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
				s := in.Description.Schedule
				paused = s.State != nil && s.State.Paused
				s.Spec, s.Action = &want.Spec, want.Action
				s.Policy = &client.SchedulePolicies{Overlap: want.Overlap, CatchupWindow: want.CatchupWindow}
				return &client.ScheduleUpdate{Schedule: &s}, nil
			},
		})
		if err != nil {
			return fmt.Errorf("updating the schedule %s: %w", want.ID, err)
		}
		if paused {
			continue // a trigger would run it although it is paused
		}
		if err := handle.Trigger(ctx,
			client.ScheduleTriggerOptions{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP}); err != nil {
			return fmt.Errorf("running the schedule %s: %w", want.ID, err)
		}
	}
	return nil
}
