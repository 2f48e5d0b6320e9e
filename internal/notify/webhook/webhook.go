// Package webhook delivers events to the servers of users, according to the Standard
// Webhooks specification, version 1.0.0
// (https://github.com/standard-webhooks/standard-webhooks). It manages endpoints, builds
// and signs payloads, and dispatches the outbox.
package webhook

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
)

// The types of delivered events, as stored in post_events.
const (
	eventPosted              = "posted"
	eventLate                = "late"
	eventSubmitted           = "submitted"
	eventApproved            = "approved"
	eventRejected            = "rejected"
	eventNeedsReconnect      = "needs_reconnect"
	eventExpiring            = "expiring"
	eventSelectorsLearned    = "selectors_learned"
	eventSelectorsRolledBack = "selectors_rolled_back"
	eventSelectorsFailed     = "selectors_failed"
	eventArticleMatched      = "article_matched"
	eventStoryMissed         = "story_missed"
	eventSiteSpike           = "site_spike"
	eventSiteDrop            = "site_drop"
	eventSystemTrouble       = "system_trouble"
	eventSystemRecovered     = "system_recovered"
	eventRulePaused          = "rule_paused"
	eventPageChanged         = "page_changed"
)

// Status is the status of an endpoint.
type Status string

// The statuses of endpoints.
const (
	Enabled  Status = "enabled"
	Disabled Status = "disabled"
)

// The reasons for disabling an endpoint.
const (
	ByOwner = "owner"
	Gone    = "gone"    // it responded with 410
	Failing = "failing" // no success for days
)

// Endpoint is a URL that receives events.
type Endpoint struct {
	ID             uuid.UUID
	WorkspaceID    uuid.UUID
	URL            string
	Description    string
	Types          []string // empty for all
	Status         Status
	DisabledReason string
	FailingSince   *time.Time
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Wants reports whether the endpoint is subscribed to an event.
func (e Endpoint) Wants(workspace uuid.UUID, kind string, at time.Time) bool {
	return e.WorkspaceID == workspace && e.Status == Enabled && !at.Before(e.CreatedAt) &&
		(len(e.Types) == 0 || slices.Contains(e.Types, kind))
}

// SealedSecret is the encrypted signing secret of an endpoint.
type SealedSecret struct {
	ID     uuid.UUID
	Sealed []byte
}

// Name returns the associated data that binds the secret to its row.
func (s SealedSecret) Name() string { return "webhook-secret/" + s.ID.String() }

// DeliveryStatus is the status of a delivery.
type DeliveryStatus string

// The statuses of deliveries. Dead ones are only redelivered on request.
const (
	Pending   DeliveryStatus = "pending"
	Delivered DeliveryStatus = "delivered"
	Dead      DeliveryStatus = "dead"
)

// Delivery is the delivery of an event to an endpoint. Its ID is the webhook-id of all
// attempts.
type Delivery struct {
	ID             uuid.UUID
	EndpointID     uuid.UUID // uuid.Nil for a notification
	Type           string
	Body           string
	Status         DeliveryStatus
	Attempts       int // total
	Retries        int // since the last redelivery request
	DueAt          time.Time
	ResponseStatus int // 0 without a response
	ResponseBody   string
	LastError      message.Message
	AttemptedAt    *time.Time
	DeliveredAt    *time.Time
	CreatedAt      time.Time
}

// Job is a delivery that is to be attempted.
type Job struct {
	Delivery
	ChannelID uuid.UUID // of a notification; uuid.Nil for a webhook
	URL       string    // of a webhook
	Enabled   bool
	Wait      time.Duration // until it is due, by the database clock
}

// receiver returns the endpoint or channel of a delivery.
func (j Job) receiver() uuid.UUID {
	if j.ChannelID != uuid.Nil {
		return j.ChannelID
	}
	return j.EndpointID
}

// Result is the result of an attempt.
type Result struct {
	Status         DeliveryStatus
	Sent           bool          // whether a request was sent
	RetryIn        time.Duration // until the next attempt of a pending delivery
	Gone           bool          // the endpoint responded with 410
	ResponseStatus int
	ResponseBody   string
	Error          message.Message
}

// Event is an event to dispatch.
type Event struct {
	WorkspaceID uuid.UUID
	PostID      *uuid.UUID
	TargetID    *uuid.UUID
	AccountID   uuid.UUID // uuid.Nil without an account
	Type        string    // as in post_events
	Actor       string
	Data        []byte
	At          time.Time
	Network     string
	Handle      string
	RemoteURL   string
	SentAt      *time.Time
	Scheduled   *time.Time
}

// testType is the type of test events.
const testType = "webhook.test"

// Types returns the types that an endpoint can subscribe to.
func Types() []string {
	return []string{
		"post.posted", "post.failed", "post.uncertain", "post.differs", "post.late", "post.submitted",
		"post.approved", "post.rejected", "account.needs_reconnect", "account.expiring",
		"domain.selectors_learned", "domain.selectors_rolled_back", "domain.selectors_failed", "article.matched",
		"story.missed", "site.spike", "site.drop", "system.trouble", "system.recovered",
		"rule.paused", "page.changed",
	}
}

// TypeOf returns the public type of an event.
func TypeOf(event string) string {
	switch event {
	case eventNeedsReconnect, eventExpiring:
		return "account." + event
	case eventSelectorsLearned, eventSelectorsRolledBack, eventSelectorsFailed:
		return "domain." + event
	case eventArticleMatched:
		return "article.matched"
	case eventStoryMissed:
		return "story.missed"
	case eventSiteSpike:
		return "site.spike"
	case eventSiteDrop:
		return "site.drop"
	case eventSystemTrouble:
		return "system.trouble"
	case eventSystemRecovered:
		return "system.recovered"
	case eventRulePaused:
		return "rule.paused"
	case eventPageChanged:
		return "page.changed"
	}
	return "post." + event
}
