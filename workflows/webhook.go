package workflows

import (
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
)

// DeliverWebhook tries one delivery until it is delivered or dead. Which of the
// two, and when it is tried next, stands in the delivery's row, so that a
// workflow that is started anew goes on where the last one was.
func DeliverWebhook(ctx workflow.Context, in DeliverWebhookInput) error {
	var webhooks *activities.Webhooks
	changed := workflow.GetSignalChannel(ctx, SignalChanged)
	for {
		drain(changed)
		var step activities.DeliveryStep
		err := workflow.ExecuteActivity(delivering(ctx), webhooks.AttemptDelivery, in.DeliveryID).Get(ctx, &step)
		if err != nil {
			return err
		}
		if step.Done {
			if drain(changed) {
				continue // somebody asked for it anew meanwhile
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

// drain takes all signals that have come, and says whether there was one.
func drain(signals workflow.ReceiveChannel) (some bool) {
	for signals.ReceiveAsync(nil) {
		some = true
	}
	return some
}
