package worker

import (
	"go.temporal.io/sdk/worker"

	"dateline/workflows"
)

// maxDeliveries is the maximum number of concurrent webhook attempts, most of which
// wait for a response.
const maxDeliveries = 500

func webhookOptions() worker.Options {
	return worker.Options{MaxConcurrentActivityExecutionSize: maxDeliveries}
}

// webhooksPart delivers events to webhooks and notification channels.
func webhooksPart(a Activities) part {
	return part{
		workflows:  map[string]any{workflows.DeliverWebhookWorkflow: workflows.DeliverWebhook},
		activities: enabled(a.Webhooks),
	}
}
