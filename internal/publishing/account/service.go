package account

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/secret"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"

	"dateline/platforms/network"
)

// Store stores accounts, the apps and authorizations that connect them, and the
// state of their renewal.
type Store interface {
	ConnectionStore
	AuthorizationStore
	RenewalStore
}

// ConnectionStore stores connected accounts and their health.
type ConnectionStore interface {
	SaveAccount(ctx context.Context, a Account, seal func(id uuid.UUID) ([]byte, error)) (Account, error)
	Account(ctx context.Context, id uuid.UUID) (Account, error)
	EditAccount(ctx context.Context, workspace, id uuid.UUID, c Edit) (Account, error)
	DisconnectAccount(ctx context.Context, a Account, actor string) error
	MarkAccountHealthy(ctx context.Context, a Account) error
	SetAccountError(ctx context.Context, id uuid.UUID, version int64, t LastError) error
}

// AuthorizationStore stores our registered apps, and what must survive between the
// steps of an OAuth authorization.
type AuthorizationStore interface {
	App(ctx context.Context, network, baseURL, redirectURI string) (App, bool, error)
	SaveApp(ctx context.Context, a App) error
	SaveAuthorization(ctx context.Context, a PendingAuthorization) error
	ConsumeAuthorization(ctx context.Context, stateHash []byte) (PendingAuthorization, bool, error)
	SaveChoice(ctx context.Context, c PendingChoice) error
	Choice(ctx context.Context, id uuid.UUID) (PendingChoice, error)
	DeleteChoice(ctx context.Context, id uuid.UUID) error
}

// RenewalStore leases the renewal of a token to one owner and stores its result.
type RenewalStore interface {
	LeaseRefresh(ctx context.Context, id uuid.UUID, version int64, owner uuid.UUID, lease time.Duration) (Account, bool,
		error)
	ExtendRefreshLease(ctx context.Context, id uuid.UUID, version int64, owner uuid.UUID, lease time.Duration) (bool,
		error)
	SaveRefreshed(ctx context.Context, a Account) (bool, error)
	RecordRefreshFailure(ctx context.Context, id uuid.UUID, version int64, f RefreshFailure) error
	MarkNeedsReconnect(ctx context.Context, id uuid.UUID, version int64, t LastError) (bool, error)
}

// Connectors returns networks and their methods to connect accounts.
type Connectors interface {
	Get(name string) (network.Network, bool)
	Connector(name string) (network.Connector, bool)
	FormConnector(name string) (network.FormConnector, bool)
	Names() []string
}

// Notifier wakes listeners for new events.
type Notifier interface {
	Announce()
}

// Service connects accounts and unseals their tokens for use.
type Service struct {
	Store       Store
	Connectors  Connectors
	Sealer      *secret.Sealer
	RedirectURI string // of Dateline's OAuth callback
	// Sandbox returns the URL of a network's fake in the sandbox, or ""; nil: there is
	// no sandbox.
	Sandbox func(network string) string
	// SandboxValues returns what the form of a network's fake accepts; nil: nothing is known.
	SandboxValues func(network string) map[string]string
	Notifier      Notifier     // nil: listeners find events by polling
	Log           *slog.Logger // nil: no logs
	Timing        RenewTiming
}

// Open returns an account with its unsealed tokens for an adapter. The tokens of a
// disconnected account are empty.
func (s *Service) Open(ctx context.Context, id uuid.UUID) (Account, network.Account, error) {
	a, err := s.Store.Account(ctx, id)
	if err != nil {
		return Account{}, network.Account{}, err
	}
	opened, err := s.Unseal(a)
	return a, opened, err
}

// Unseal is Open for an account that has just been read.
func (s *Service) Unseal(a Account) (network.Account, error) {
	access, refresh, err := s.unseal(a)
	return networkAccount(a, access, refresh), err
}

// Get returns an account of the workspace.
func (s *Service) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Account, error) {
	a, err := s.Store.Account(ctx, id)
	if err == nil && a.WorkspaceID != who.WorkspaceID {
		return Account{}, apperr.NotFound("account")
	}
	return a, err
}

func (s *Service) sandboxURL(networkName string) string {
	if s.Sandbox == nil {
		return ""
	}
	return s.Sandbox(networkName)
}

// IsSandbox reports whether an account belongs to the sandbox.
func (s *Service) IsSandbox(a Account) bool {
	return a.BaseURL != "" && a.BaseURL == s.sandboxURL(a.Network)
}

func (s *Service) notify() {
	if s.Notifier != nil {
		s.Notifier.Announce()
	}
}

func (s *Service) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

// save stores an identified account with its tokens. app is the redirect URI of the app
// that the tokens were issued to.
func (s *Service) save(
	ctx context.Context, who workspace.Principal, networkName, app string, a network.Account,
) (Account, error) {
	row := Account{
		WorkspaceID: who.WorkspaceID, Network: networkName, BaseURL: a.BaseURL, RemoteID: a.RemoteID,
		Handle: a.Handle, Name: a.Name, AvatarURL: a.AvatarURL, Kind: a.Kind, Scopes: a.Scopes, Settings: a.Settings,
		App:   app,
		Notes: a.Notes, IsRenewable: s.renewable(networkName, a), ExpiresAt: a.TokenExpiresAt,
		RefreshExpiresAt: a.RefreshTokenExpiresAt,
	}
	if row.IsRenewable {
		row.RefreshDueAt = refreshDue(a, time.Now())
	}
	if who.UserID != uuid.Nil {
		row.ConnectedBy = &who.UserID
	}
	// A callback has no API token: the pending authorization names the user.
	saved, err := s.Store.SaveAccount(audit.ByUser(ctx, who.UserID), row, func(id uuid.UUID) ([]byte, error) {
		return s.seal(id, a)
	})
	if err == nil {
		s.notify()
	}
	return saved, err
}

// renewable reports whether tokens can be renewed without a user.
func (s *Service) renewable(networkName string, a network.Account) bool {
	_, ok := s.refresher(networkName)
	return ok && !a.RefreshToken.Empty()
}

func (s *Service) refresher(networkName string) (network.Refresher, bool) {
	adapter, _ := s.Connectors.Get(networkName)
	r, ok := adapter.(network.Refresher)
	return r, ok
}

// connectError converts a network's error to an error for the user who connects. field
// is the request field to name if the network names none.
func connectError(err error, field string) error {
	var e *network.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Field != "" {
		field = e.Field
	}
	switch {
	case e.Class == network.NotSent:
		// The cause contains addresses, which may belong to the operator's network.
		return &apperr.Error{
			Kind: apperr.KindInvalid, Code: "network_unreachable",
			Message: "The network cannot be reached. Check the address; private addresses are not allowed.",
			Fields: []apperr.FieldError{
				{
					Field: cmp.Or(e.Field, "base_url"), Code: string(e.Class),
					Message: "This address cannot be reached.",
				},
			},
		}
	case e.Code == network.CodeNotConfigured:
		return &apperr.Error{
			Kind: apperr.KindInvalid, Code: network.CodeNotConfigured, Message: e.Message,
			Fields: []apperr.FieldError{{Field: "network", Code: network.CodeNotConfigured, Message: e.Message}},
		}
	}
	return &apperr.Error{
		Kind: apperr.KindInvalid, Code: "network_refused",
		Message: "The network did not accept this: " + e.Message,
		Fields:  []apperr.FieldError{{Field: field, Code: string(e.Class), Message: e.Message}},
	}
}

func invalid(field, code, message string) error {
	return apperr.InvalidFields(apperr.FieldError{Field: field, Code: code, Message: message})
}

// randomText returns 256 random bits. RFC 7636, 4.1 requires at least 43 characters of
// this alphabet for a verifier.
func randomText() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(raw)
}

func hashOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}
