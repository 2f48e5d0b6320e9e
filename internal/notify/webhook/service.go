package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/ssrf"
)

// Store stores endpoints and deliveries.
type Store interface {
	CreateWebhook(ctx context.Context, e Endpoint, s SealedSecret, limit int, key idempotency.Key) (created Endpoint,
		replayed bool, err error)
	WebhookSecrets(ctx context.Context, endpoint uuid.UUID) ([]SealedSecret, error)
	Webhooks(ctx context.Context, workspace uuid.UUID) ([]Endpoint, error)
	Webhook(ctx context.Context, workspace, id uuid.UUID) (Endpoint, error)
	UpdateWebhook(ctx context.Context, workspace, id uuid.UUID, change func(*Endpoint)) (Endpoint, error)
	DeleteWebhook(ctx context.Context, workspace, id uuid.UUID) error
	RotateWebhookSecret(ctx context.Context, workspace, id uuid.UUID, s SealedSecret, overlap time.Duration) (Endpoint,
		error)
	AddTestDelivery(ctx context.Context, workspace uuid.UUID, d Delivery) (Delivery, error)
	Deliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error)
	Redeliver(ctx context.Context, workspace, endpoint, id uuid.UUID) (Delivery, error)
	RedeliverDead(ctx context.Context, workspace, endpoint uuid.UUID) (int64, error)
}

// DeliveryFilter selects deliveries of an endpoint, newest first.
type DeliveryFilter struct {
	WorkspaceID uuid.UUID
	EndpointID  uuid.UUID
	Status      DeliveryStatus // empty for all
	Before      *uuid.UUID     // cursor: only older deliveries
	Limit       int
}

// Announcer wakes the dispatcher.
type Announcer interface {
	Announce()
}

// Service manages the endpoints of workspaces.
type Service struct {
	Store  Store
	Sealer *secret.Sealer
	Live   Announcer
	// Guard rejects private hosts, when an endpoint is saved and again when it is dialed.
	Guard *ssrf.Guard
}

const (
	// maxEndpoints limits the endpoints of a workspace, because every event is copied
	// for each of them.
	maxEndpoints = 20
	// Overlap is the time for which deliveries are also signed with the previous secret
	// after a rotation.
	Overlap = 24 * time.Hour
)

// Change is an update of an endpoint; nil fields are not changed.
type Change struct {
	URL         *string
	Description *string
	Types       *[]string
	Status      *Status
}

// Create creates an endpoint and returns its secret, also when the request is repeated.
func (s *Service) Create(
	ctx context.Context, who workspace.Principal, address, description string, types []string, key idempotency.Key,
) (e Endpoint, plain secret.Text, replayed bool, err error) {
	if address, err = CheckURL(s.Guard, address); err == nil {
		err = checkDescription(description)
	}
	if err != nil {
		return Endpoint{}, secret.Text{}, false, err
	}
	sealed, plain, err := s.secret()
	if err != nil {
		return Endpoint{}, secret.Text{}, false, err
	}
	e, replayed, err = s.Store.CreateWebhook(ctx, Endpoint{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID,
		URL:         address,
		Description: description, Types: distinct(types),
	}, sealed, maxEndpoints, key)
	if err != nil || !replayed {
		return e, plain, replayed, err
	}
	stored, err := s.Store.WebhookSecrets(ctx, e.ID)
	if err == nil && len(stored) == 0 {
		err = apperr.NotFound("webhook") // deleted concurrently
	}
	if err != nil {
		return Endpoint{}, secret.Text{}, true, err
	}
	plain, err = s.Sealer.Open(stored[0].Sealed, stored[0].Name())
	return e, plain, true, err
}

// List returns the endpoints of a workspace, oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal) ([]Endpoint, error) {
	return s.Store.Webhooks(ctx, who.WorkspaceID)
}

// Get returns an endpoint.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Endpoint, error) {
	return s.Store.Webhook(ctx, who.WorkspaceID, id)
}

// Update updates an endpoint. A new URL and enabling reset the failure state.
func (s *Service) Update(ctx context.Context, who workspace.Principal, id uuid.UUID, c Change) (Endpoint, error) {
	if c.URL != nil {
		address, err := CheckURL(s.Guard, *c.URL)
		if err != nil {
			return Endpoint{}, err
		}
		c.URL = &address
	}
	if c.Description != nil {
		if err := checkDescription(*c.Description); err != nil {
			return Endpoint{}, err
		}
	}
	return s.Store.UpdateWebhook(ctx, who.WorkspaceID, id, func(e *Endpoint) {
		if c.URL != nil && *c.URL != e.URL {
			e.URL, e.FailingSince = *c.URL, nil
		}
		if c.Description != nil {
			e.Description = *c.Description
		}
		if c.Types != nil {
			e.Types = distinct(*c.Types)
		}
		switch {
		case c.Status == nil || *c.Status == e.Status:
		case *c.Status == Enabled:
			e.Status, e.DisabledReason, e.FailingSince = Enabled, "", nil
		default:
			e.Status, e.DisabledReason = Disabled, ByOwner
		}
	})
}

// checkDescription rejects text that the database cannot store.
func checkDescription(text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return apperr.InvalidFields(apperr.FieldError{
			Field: "description", Code: "invalid",
			Message: "The description must be valid UTF-8 without NUL characters.",
		})
	}
	return nil
}

// Delete deletes an endpoint with its deliveries.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteWebhook(ctx, who.WorkspaceID, id)
}

// Rotate creates and returns a new secret. For Overlap, deliveries are also signed with
// the previous one.
func (s *Service) Rotate(ctx context.Context, who workspace.Principal, id uuid.UUID) (Endpoint, secret.Text, error) {
	sealed, plain, err := s.secret()
	if err != nil {
		return Endpoint{}, secret.Text{}, err
	}
	e, err := s.Store.RotateWebhookSecret(ctx, who.WorkspaceID, id, sealed, Overlap)
	return e, plain, err
}

// Test sends a test event.
func (s *Service) Test(ctx context.Context, who workspace.Principal, id uuid.UUID) (Delivery, error) {
	body, err := encode(testType, time.Now(), map[string]any{"webhook_id": id})
	if err != nil {
		return Delivery{}, err
	}
	d, err := s.Store.AddTestDelivery(ctx, who.WorkspaceID, Delivery{
		ID: uuid.Must(uuid.NewV7()), EndpointID: id, Type: testType, Body: body,
	})
	if err == nil {
		s.Live.Announce()
	}
	return d, err
}

// Deliveries returns the deliveries of an endpoint.
func (s *Service) Deliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error) {
	if _, err := s.Store.Webhook(ctx, f.WorkspaceID, f.EndpointID); err != nil {
		return nil, err
	}
	return s.Store.Deliveries(ctx, f)
}

// Redeliver makes a delivery due immediately, with all retries, regardless of its
// status.
func (s *Service) Redeliver(ctx context.Context, who workspace.Principal, endpoint, id uuid.UUID) (Delivery, error) {
	d, err := s.Store.Redeliver(ctx, who.WorkspaceID, endpoint, id)
	if err == nil {
		s.Live.Announce()
	}
	return d, err
}

// RedeliverDead redelivers all dead deliveries of an endpoint.
func (s *Service) RedeliverDead(ctx context.Context, who workspace.Principal, endpoint uuid.UUID) (int64, error) {
	n, err := s.Store.RedeliverDead(ctx, who.WorkspaceID, endpoint)
	if err == nil {
		s.Live.Announce()
	}
	return n, err
}

func (s *Service) secret() (sealed SealedSecret, plain secret.Text, err error) {
	sealed.ID, plain = uuid.Must(uuid.NewV7()), newSecret()
	sealed.Sealed, err = s.Sealer.Seal(plain, sealed.Name())
	return sealed, plain, err
}

// CheckURL validates and normalizes the URL of an endpoint or channel. Private addresses behind a
// host name are rejected by the dialer.
func CheckURL(guard *ssrf.Guard, text string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return "", invalidURL("invalid", "Use a URL like https://hooks.example/dateline, without user or fragment.")
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	trusted := guard.Trusts(net.JoinHostPort(u.Hostname(), port))
	refused := guard.CheckHost(u.Hostname())
	switch {
	case trusted && (u.Scheme == "https" || u.Scheme == "http"):
	case u.Scheme != "https":
		return "", invalidURL("not_https",
			"The URL must be https, except for private hosts that the operator allows (DATELINE_ALLOW_PRIVATE_HOSTS).")
	case errors.Is(refused, ssrf.ErrIPv4Form):
		return "", invalidURL("invalid", "Write the IPv4 address as four decimal numbers, like 192.0.2.1.")
	case refused != nil:
		return "", invalidURL("private",
			"The address is private; the operator can allow it (DATELINE_ALLOW_PRIVATE_HOSTS).")
	case port != "443":
		return "", invalidURL("port", fmt.Sprintf("Port %s is not allowed; use 443.", port))
	}
	return u.String(), nil
}

func invalidURL(code, message string) error {
	return apperr.InvalidFields(apperr.FieldError{Field: "url", Code: code, Message: message})
}

func distinct(types []string) []string {
	sorted := slices.Sorted(slices.Values(types))
	return append([]string{}, slices.Compact(sorted)...)
}
