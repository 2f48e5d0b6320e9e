package activities

import "context"

// HubSubscriber requests subscriptions that are due: websub.Subscriber.
type HubSubscriber interface {
	RequestDue(ctx context.Context, heartbeat func()) (requested int, err error)
}

// WebSub contains the activity that subscribes to the hubs of feeds.
type WebSub struct {
	Subscriber HubSubscriber
}

// SubscribeToHubs requests and renews subscriptions that are due, and returns their number.
// Each is claimed, and a repeated request renews the same subscription, so it may be
// repeated at any time.
func (w *WebSub) SubscribeToHubs(ctx context.Context) (int, error) {
	return w.Subscriber.RequestDue(ctx, heartbeatFunc(ctx))
}
