// Package account holds connected accounts at social networks: what is known
// of them, how they are connected, and how their tokens are opened for use,
// renewed and given back.
package account

import (
	"time"

	"github.com/google/uuid"

	"dateline/platforms/network"
)

// Status says whether an account can publish.
type Status string

// The states of an account.
const (
	Connected      Status = "connected"
	NeedsReconnect Status = "needs_reconnect" // the network refuses the token
	Disconnected   Status = "disconnected"    // by its owner
)

// Account is a connected account. The tokens are sealed.
type Account struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	Network     string
	BaseURL     string
	RemoteID    string
	Handle      string
	Name        string
	Kind        network.Kind
	Status      Status
	IsDefault   bool // used when a post names no account
	Scopes      []string
	Settings    map[string]string // what people chose, see network.Account
	App         string            // redirect address of the registration that the tokens were given to; empty: none
	ConnectedBy *uuid.UUID
	CreatedAt   time.Time

	SealedToken      []byte    // empty: disconnected
	TokenVersion     int64     // grows with every new token
	IsRenewable      bool      // there is a refresh token
	ExpiresAt        time.Time // of the access token; zero: not known to
	RefreshExpiresAt time.Time // after this only reconnecting helps
	RefreshRolls     bool      // every renewal puts RefreshExpiresAt off
	RefreshDueAt     time.Time // when the token is renewed ahead of its end
	RefreshFailures  int       // since it last succeeded
	LastRefreshAt    time.Time

	CheckedAt time.Time  // when the network last said that all is well
	LastError *LastError // what it said since
}

// LastError is what a network last said against an account, without secrets.
type LastError struct {
	Class   network.Class
	Code    string
	Message string
	At      time.Time
}

// AccessEndsAt is when access ends unless a person reconnects the account; zero: not
// known to.
func (a Account) AccessEndsAt() time.Time {
	switch {
	case !a.IsRenewable:
		return a.ExpiresAt
	case a.RefreshRolls:
		return time.Time{}
	default:
		return a.RefreshExpiresAt
	}
}

// App is Dateline's registration at a network or instance.
type App struct {
	Network      string
	BaseURL      string
	RedirectURI  string
	ClientID     string
	SealedSecret []byte
}

// PendingAuthorization is a person who is away at a network's consent page.
type PendingAuthorization struct {
	StateHash      []byte
	WorkspaceID    uuid.UUID
	UserID         uuid.UUID
	Network        string
	BaseURL        string
	RedirectURI    string
	SealedVerifier []byte
	AccountID      *uuid.UUID // the account to connect again; nil: a new one
	SessionID      uuid.UUID  // of the browser that began; Nil: it was begun with an API token
	ExpiresAt      time.Time
}

// PendingChoice is a login that may post as several accounts, as it is stored.
type PendingChoice struct {
	ID             uuid.UUID
	WorkspaceID    uuid.UUID
	UserID         uuid.UUID
	Network        string
	App            string
	KeyHash        []byte
	SealedAccounts []byte
	ExpiresAt      time.Time
}

// RefreshFailure is why a renewal did not succeed, for its row.
type RefreshFailure struct {
	LastError

	Owner   uuid.UUID
	RetryAt time.Time
}
