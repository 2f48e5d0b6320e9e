package workflows

import (
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/notify/webhook"
)

// DeliverWebhook attempts one delivery until it is delivered or dead. The
// delivery's row has its status and the time of the next attempt, so that a
// workflow that is started again continues where the last one stopped.
func DeliverWebhook(ctx workflow.Context, in DeliverWebhookInput) error {
	var webhooks *activities.Webhooks
	changed := workflow.GetSignalChannel(ctx, SignalChanged)
	for {
		drain(changed)
		var step webhook.Step
		err := workflow.ExecuteActivity(deliveryOptions(ctx), webhooks.AttemptDelivery, in.DeliveryID).Get(ctx, &step)
		if err != nil {
			return err
		}
		if step.Done {
			if drain(changed) {
				continue // it was requested again meanwhile
			}
			return nil
		}
		waiting, stop := workflow.WithCancel(ctx)
		workflow.NewSelector(ctx).
			AddFuture(workflow.NewTimer(waiting, step.Wait), func(workflow.Future) {}).
			AddReceive(changed, func(workflow.ReceiveChannel, bool) {}).
			AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {}).
			Select(ctx)
		stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// drain receives all signals that have arrived, and reports whether there was one.
func drain(signals workflow.ReceiveChannel) (some bool) {
	for signals.ReceiveAsync(nil) {
		some = true
	}
	return some
}
