// Package subscription sends reports and alerts about sites by email. Recipients need
// no login and can unsubscribe themselves.
package subscription

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/mail"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/site"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/webpage"
)

// Kind is what a recipient gets.
type Kind string

// The kinds.
const (
	Weekly  Kind = "weekly"  // on Mondays, about the week before
	Monthly Kind = "monthly" // on the first day of a month, about the month before
	Alerts  Kind = "alerts"  // when an alert is raised
)

// Subscription is a recipient of emails about a site.
type Subscription struct {
	ID, WorkspaceID, SiteID uuid.UUID
	Kind                    Kind
	Email                   string
	Language                webpage.Language
	Token                   string // allows unsubscribing, and nothing else
	CreatedAt               time.Time
	LastEmail               *EmailState // nil: none yet
}

// EmailState is the state of an email in the outbox.
type EmailState struct {
	Status    string
	Error     string
	CreatedAt time.Time
	SentAt    *time.Time
}

// Email is an email for the outbox.
type Email struct {
	ID             uuid.UUID // derived from the subscription and what the email is about, so that it is added once
	WorkspaceID    uuid.UUID
	SubscriptionID uuid.UUID
	To, Subject    string
	Text, HTML     string
	UnsubscribeURL string
}

// Store persists subscriptions.
type Store interface {
	CreateSubscription(ctx context.Context, s Subscription, limit int) (Subscription, error)
	Subscriptions(ctx context.Context, workspace, site uuid.UUID) ([]Subscription, error)
	DeleteSubscription(ctx context.Context, workspace, site, id uuid.UUID) error
	// ResendEmail makes the last email of a subscription due again if it is dead.
	ResendEmail(ctx context.Context, workspace, site, id uuid.UUID) error
	// SubscriptionByToken returns the subscription of a token with its site's name.
	SubscriptionByToken(ctx context.Context, token string) (Subscription, string, error)
	Unsubscribe(ctx context.Context, token string) error

	AlertRule(ctx context.Context, workspace, site uuid.UUID) (Rule, error)
	SetAlertRule(ctx context.Context, workspace, site uuid.UUID, r Rule) error
	SiteAlerts(ctx context.Context, workspace, site uuid.UUID, limit int) ([]Alert, error)
}

// Service manages the subscriptions and alerts of sites.
type Service struct {
	Store        Store
	CanSendEmail bool // an SMTP server is configured
}

const (
	maxSubscriptions = 50 // per site
	maxEmailLength   = 254
	maxAlerts        = 50 // in a list
)

// Create subscribes an address.
func (s *Service) Create(ctx context.Context, who workspace.Principal, siteID uuid.UUID, kind Kind, address string,
	language webpage.Language,
) (Subscription, error) {
	address = strings.TrimSpace(address)
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address || len(address) > maxEmailLength {
		return Subscription{}, apperr.InvalidFields(apperr.FieldError{
			Field: "email", Code: "invalid", Message: "Enter one email address, such as editor@news.example.",
		})
	}
	if !s.CanSendEmail {
		return Subscription{}, &apperr.Error{
			Kind: apperr.KindConflict, Code: "email_not_configured",
			Message: "This installation cannot send emails. Ask its operator to set DATELINE_SMTP_HOST.",
		}
	}
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	return s.Store.CreateSubscription(ctx, Subscription{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID,
		SiteID: siteID, Kind: kind, Email: address, Language: language,
		Token: base64.RawURLEncoding.EncodeToString(raw),
	}, maxSubscriptions)
}

// List lists the subscriptions of a site, the oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal, siteID uuid.UUID) ([]Subscription, error) {
	return s.Store.Subscriptions(ctx, who.WorkspaceID, siteID)
}

// Delete deletes a subscription with its unsent emails.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, siteID, id uuid.UUID) error {
	return s.Store.DeleteSubscription(ctx, who.WorkspaceID, siteID, id)
}

// Resend sends the last email of a subscription again if it is dead.
func (s *Service) Resend(ctx context.Context, who workspace.Principal, siteID, id uuid.UUID) error {
	return s.Store.ResendEmail(ctx, who.WorkspaceID, siteID, id)
}

// Rule returns the alert rule of a site.
func (s *Service) Rule(ctx context.Context, who workspace.Principal, siteID uuid.UUID) (Rule, error) {
	return s.Store.AlertRule(ctx, who.WorkspaceID, siteID)
}

// SetRule changes the alert rule of a site.
func (s *Service) SetRule(ctx context.Context, who workspace.Principal, siteID uuid.UUID, r Rule) error {
	return s.Store.SetAlertRule(ctx, who.WorkspaceID, siteID, r)
}

// Alerts lists the alerts of a site, the newest first.
func (s *Service) Alerts(ctx context.Context, who workspace.Principal, siteID uuid.UUID) ([]Alert, error) {
	return s.Store.SiteAlerts(ctx, who.WorkspaceID, siteID, maxAlerts)
}

// SiteSubscription is a subscription with its site.
type SiteSubscription struct {
	Subscription
	Site site.Site
}
