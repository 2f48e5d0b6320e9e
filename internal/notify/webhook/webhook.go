// Package webhook tells other people's servers what happened, by the Standard
// Webhooks specification, version 1.0.0
// (https://github.com/standard-webhooks/standard-webhooks): which endpoints
// there are, what is sent to them, how it is signed, and the outbox's
// dispatcher.
package webhook

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
)

// Status says whether an endpoint gets deliveries.
type Status string

// The states of an endpoint.
const (
	Enabled  Status = "enabled"
	Disabled Status = "disabled"
)

// Why an endpoint is disabled.
const (
	ByOwner = "owner"
	Gone    = "gone"    // it answered 410
	Failing = "failing" // for days
)

// Endpoint is an address that events are sent to.
type Endpoint struct {
	ID             uuid.UUID
	WorkspaceID    uuid.UUID
	URL            string
	Description    string
	Types          []string // empty: all
	Status         Status
	DisabledReason string
	FailingSince   *time.Time
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Wants says whether the endpoint is to be sent an event.
func (e Endpoint) Wants(workspace uuid.UUID, kind string, at time.Time) bool {
	return e.WorkspaceID == workspace && e.Status == Enabled && !at.Before(e.CreatedAt) &&
		(len(e.Types) == 0 || slices.Contains(e.Types, kind))
}

// SealedSecret is what an endpoint's deliveries are signed with.
type SealedSecret struct {
	ID     uuid.UUID
	Sealed []byte
}

// Name binds a sealed secret to its row.
func (s SealedSecret) Name() string { return "webhook-secret/" + s.ID.String() }

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// The states of a delivery. A dead one is tried no more until somebody asks.
const (
	Pending   DeliveryStatus = "pending"
	Delivered DeliveryStatus = "delivered"
	Dead      DeliveryStatus = "dead"
)

// Delivery is one event on its way to one endpoint. Its id is the webhook-id,
// the same for every attempt.
type Delivery struct {
	ID             uuid.UUID
	EndpointID     uuid.UUID
	Type           string
	Body           string
	Status         DeliveryStatus
	Attempts       int // in all
	Tries          int // since it was last asked for
	DueAt          time.Time
	ResponseStatus int // 0: none came
	ResponseBody   string
	LastError      string
	AttemptedAt    *time.Time
	DeliveredAt    *time.Time
	CreatedAt      time.Time
}

// Job is a delivery as an attempt needs it.
type Job struct {
	Delivery
	URL     string
	Enabled bool
	Wait    time.Duration // until it is due; by the database's clock
}

// Result is what became of an attempt.
type Result struct {
	Status         DeliveryStatus
	Made           bool          // false: nothing was sent
	Again          time.Duration // until the next attempt, of a pending one
	Gone           bool          // the endpoint wants nothing more
	ResponseStatus int
	ResponseBody   string
	Error          string
}

// Event is what happened, as the dispatcher reads it.
type Event struct {
	Place       post.EventCursor
	WorkspaceID uuid.UUID
	PostID      *uuid.UUID
	TargetID    *uuid.UUID
	AccountID   uuid.UUID // nil id: of no account
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

// testType is the type of the event that somebody sends to try an endpoint.
const testType = "webhook.test"

// Types lists the types of events that an endpoint may ask for.
func Types() []string {
	return []string{"post.posted", "post.failed", "post.uncertain", "post.late", "post.submitted", "post.approved", "post.rejected", "account.needs_reconnect", "account.expiring",
		"domain.selectors_learned", "domain.selectors_rolled_back", "domain.selectors_failed", "article.matched"}
}

// TypeOf gives the type under which an event is sent.
func TypeOf(event string) string {
	switch event {
	case post.EventNeedsReconnect, post.EventExpiring:
		return "account." + event
	case post.EventSelectorsLearned, post.EventSelectorsRolledBack, post.EventSelectorsFailed:
		return "domain." + event
	case post.EventArticleMatched:
		return "article.matched"
	}
	return "post." + event
}
