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

// Store keeps endpoints and deliveries.
type Store interface {
	CreateWebhook(ctx context.Context, e Endpoint, s SealedSecret, most int, key idempotency.Key) (created Endpoint, replayed bool, err error)
	WebhookSecrets(ctx context.Context, endpoint uuid.UUID) ([]SealedSecret, error)
	Webhooks(ctx context.Context, workspace uuid.UUID) ([]Endpoint, error)
	Webhook(ctx context.Context, workspace, id uuid.UUID) (Endpoint, error)
	ChangeWebhook(ctx context.Context, workspace, id uuid.UUID, change func(*Endpoint)) (Endpoint, error)
	DeleteWebhook(ctx context.Context, workspace, id uuid.UUID) error
	RotateWebhookSecret(ctx context.Context, workspace, id uuid.UUID, s SealedSecret, overlap time.Duration) (Endpoint, error)
	AddTestDelivery(ctx context.Context, workspace uuid.UUID, d Delivery) (Delivery, error)
	Deliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error)
	Redeliver(ctx context.Context, workspace, endpoint, id uuid.UUID) (Delivery, error)
	RedeliverDead(ctx context.Context, workspace, endpoint uuid.UUID) (int64, error)
}

// DeliveryFilter chooses deliveries of one endpoint, the newest first.
type DeliveryFilter struct {
	WorkspaceID uuid.UUID
	EndpointID  uuid.UUID
	Status      DeliveryStatus // empty: any
	Before      *uuid.UUID     // the cursor: continue behind this delivery
	Limit       int
}

// Announcer wakes the dispatcher.
type Announcer interface {
	Announce()
}

// Service is what a workspace's owner does with endpoints.
type Service struct {
	Store  Store
	Sealer *secret.Sealer
	Live   Announcer
	// Guard knows which hosts may be called. It checks again at dialing.
	Guard *ssrf.Guard
}

const (
	// mostEndpoints of one workspace: every event is copied for each.
	mostEndpoints = 20
	// Overlap is how long an old secret still signs after a new one was made.
	Overlap = 24 * time.Hour
)

// Change is an edit: nil leaves a field as it is.
type Change struct {
	URL         *string
	Description *string
	Types       *[]string
	Status      *Status
}

// Create makes an endpoint. The secret is shown this once, and to who repeats
// the request.
func (s *Service) Create(ctx context.Context, who workspace.Principal, address, description string, types []string, key idempotency.Key) (e Endpoint, plain secret.Text, replayed bool, err error) {
	if address, err = s.address(address); err == nil {
		err = checkDescription(description)
	}
	if err != nil {
		return Endpoint{}, secret.Text{}, false, err
	}
	sealed, plain, err := s.secret()
	if err != nil {
		return Endpoint{}, secret.Text{}, false, err
	}
	e, replayed, err = s.Store.CreateWebhook(ctx, Endpoint{ID: uuid.Must(uuid.NewV7()), WorkspaceID: who.WorkspaceID, URL: address,
		Description: description, Types: distinct(types)}, sealed, mostEndpoints, key)
	if err != nil || !replayed {
		return e, plain, replayed, err
	}
	stored, err := s.Store.WebhookSecrets(ctx, e.ID)
	if err == nil && len(stored) == 0 {
		err = apperr.NotFound("webhook") // deleted meanwhile
	}
	if err != nil {
		return Endpoint{}, secret.Text{}, true, err
	}
	plain, err = s.Sealer.Open(stored[0].Sealed, stored[0].Name())
	return e, plain, true, err
}

// List gives a workspace's endpoints, oldest first.
func (s *Service) List(ctx context.Context, who workspace.Principal) ([]Endpoint, error) {
	return s.Store.Webhooks(ctx, who.WorkspaceID)
}

// Get reads an endpoint.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Endpoint, error) {
	return s.Store.Webhook(ctx, who.WorkspaceID, id)
}

// Edit changes an endpoint. Another address and being enabled are a new
// beginning for one that was failing.
func (s *Service) Edit(ctx context.Context, who workspace.Principal, id uuid.UUID, c Change) (Endpoint, error) {
	if c.URL != nil {
		address, err := s.address(*c.URL)
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
	return s.Store.ChangeWebhook(ctx, who.WorkspaceID, id, func(e *Endpoint) {
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

// checkDescription refuses what the database cannot keep.
func checkDescription(text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return apperr.InvalidFields(apperr.FieldError{Field: "description", Code: "invalid", Message: "The description holds bytes that are no characters."})
	}
	return nil
}

// Delete forgets an endpoint with its deliveries.
func (s *Service) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteWebhook(ctx, who.WorkspaceID, id)
}

// Rotate makes a new secret, shown this once. Deliveries are signed with the
// old one too for Overlap.
func (s *Service) Rotate(ctx context.Context, who workspace.Principal, id uuid.UUID) (Endpoint, secret.Text, error) {
	sealed, plain, err := s.secret()
	if err != nil {
		return Endpoint{}, secret.Text{}, err
	}
	e, err := s.Store.RotateWebhookSecret(ctx, who.WorkspaceID, id, sealed, Overlap)
	return e, plain, err
}

// Test sends an event that says nothing but that it came.
func (s *Service) Test(ctx context.Context, who workspace.Principal, id uuid.UUID) (Delivery, error) {
	body, err := encode(testType, time.Now(), map[string]any{"webhook_id": id})
	if err != nil {
		return Delivery{}, err
	}
	d, err := s.Store.AddTestDelivery(ctx, who.WorkspaceID, Delivery{ID: uuid.Must(uuid.NewV7()), EndpointID: id, Type: testType, Body: body})
	if err == nil {
		s.Live.Announce()
	}
	return d, err
}

// Deliveries lists what was and is to be sent to an endpoint.
func (s *Service) Deliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error) {
	if _, err := s.Store.Webhook(ctx, f.WorkspaceID, f.EndpointID); err != nil {
		return nil, err
	}
	return s.Store.Deliveries(ctx, f)
}

// Redeliver makes a delivery due at once, with all its tries, whatever became
// of it.
func (s *Service) Redeliver(ctx context.Context, who workspace.Principal, endpoint, id uuid.UUID) (Delivery, error) {
	d, err := s.Store.Redeliver(ctx, who.WorkspaceID, endpoint, id)
	if err == nil {
		s.Live.Announce()
	}
	return d, err
}

// RedeliverDead does so with every dead delivery of an endpoint.
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

// address checks what can be known of an address before it is dialled: the
// dialler refuses private ones, whatever name they hide behind.
func (s *Service) address(text string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return "", refuse("invalid", "Give the address of your server, like https://hooks.example/dateline, without user or fragment.")
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	trusted := s.Guard.Trusts(net.JoinHostPort(u.Hostname(), port))
	refused := s.Guard.CheckHost(u.Hostname())
	switch {
	case trusted && (u.Scheme == "https" || u.Scheme == "http"):
	case u.Scheme != "https":
		return "", refuse("not_https", "Events are sent over https only, except to private hosts that the operator allows (DATELINE_ALLOW_PRIVATE_HOSTS).")
	case errors.Is(refused, ssrf.ErrIPv4Form):
		return "", refuse("invalid", "Write the IPv4 address as four decimal numbers, like 192.0.2.1.")
	case refused != nil:
		return "", refuse("private", "This address is private; the operator can allow it (DATELINE_ALLOW_PRIVATE_HOSTS).")
	case port != "443":
		return "", refuse("port", fmt.Sprintf("Port %s is not allowed; use 443.", port))
	}
	return u.String(), nil
}

func refuse(code, message string) error {
	return apperr.InvalidFields(apperr.FieldError{Field: "url", Code: code, Message: message})
}

func distinct(types []string) []string {
	sorted := slices.Sorted(slices.Values(types))
	return append([]string{}, slices.Compact(sorted)...)
}
