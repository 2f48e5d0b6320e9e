package crawl

import "time"

// PushedFeed is the subscription to a hub that delivers the new entries of a feed
// (WebSub).
type PushedFeed struct {
	URLKey
	FeedURL     string
	Hub         string
	Topic       string // the feed's address at the hub
	Status      PushStatus
	LeaseEndsAt *time.Time
	DeliveredAt *time.Time // the last delivery
	LastError   string     // why the last request failed: a code, and after a colon what the hub said
	// IsDelivering reports whether entries have been delivered recently: the feed is
	// polled less often.
	IsDelivering bool
}

// PushStatus is the status of a subscription to a hub.
type PushStatus string

// The statuses. The lease of an active subscription may have expired.
const (
	PushPending PushStatus = "pending" // requested, not confirmed by the hub
	PushActive  PushStatus = "active"
	PushDenied  PushStatus = "denied"
)
