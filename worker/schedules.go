package worker

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// ensureSchedules creates the schedules of the parts that are on, or brings those of an older
// build up to date, and deletes those of the parts that are off. What an operator paused
// stays paused.
func ensureSchedules(ctx context.Context, c client.Client, all []taskQueue) error {
	for _, q := range all {
		for _, p := range q.parts {
			for _, s := range p.schedules {
				apply := deleteSchedule
				if p.isOn() {
					apply = ensureSchedule
				}
				if err := apply(ctx, c, s.options(q.name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func deleteSchedule(ctx context.Context, c client.Client, o client.ScheduleOptions) error {
	err := c.ScheduleClient().GetHandle(ctx, o.ID).Delete(ctx)
	var none *serviceerror.NotFound
	if err != nil && !errors.As(err, &none) {
		return fmt.Errorf("deleting the schedule %s: %w", o.ID, err)
	}
	return nil
}

func ensureSchedule(ctx context.Context, c client.Client, want client.ScheduleOptions) error {
	_, err := c.ScheduleClient().Create(ctx, want)
	if err == nil {
		return nil
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
		return nil // a trigger would run it although it is paused
	}
	if err := handle.Trigger(ctx,
		client.ScheduleTriggerOptions{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP}); err != nil {
		return fmt.Errorf("running the schedule %s: %w", want.ID, err)
	}
	return nil
}
