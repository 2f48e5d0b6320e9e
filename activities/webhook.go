package activities

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/notify/webhook"
)

// Webhooks delivers webhooks.
type Webhooks struct {
	Deliverer *webhook.Deliverer
}

// AttemptDelivery makes one attempt at a delivery, see webhook.Deliverer.Attempt.
func (w *Webhooks) AttemptDelivery(ctx context.Context, id uuid.UUID) (webhook.Step, error) {
	return w.Deliverer.Attempt(ctx, id)
}
