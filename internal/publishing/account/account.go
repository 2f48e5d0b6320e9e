// Package account manages connected accounts at social networks: it connects them,
// unseals their tokens for use, renews the tokens, and revokes them.
package account

import (
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
	"dateline/internal/infra/utm"
	"dateline/platforms/network"
)

// Status says whether an account can publish.
type Status string

// The states of an account.
const (
	Connected      Status = "connected"
	NeedsReconnect Status = "needs_reconnect" // the network rejects the token
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
	AvatarURL   string // of its picture at the network; empty: none known
	Label       string // chosen by people, in the place of Name
	Color       string // likewise
	Kind        network.Kind
	Status      Status
	IsDefault   bool // used when a post names no account
	Scopes      []string
	Settings    map[string]string // chosen by users, see network.Account
	UTM         utm.Params        // of the tracked links of its posts
	App         string            // redirect URI of the app that the tokens were issued to; empty: none
	ConnectedBy *uuid.UUID
	CreatedAt   time.Time

	SealedToken      []byte    // empty: disconnected
	TokenVersion     int64     // increases with every new token
	IsRenewable      bool      // there is a refresh token
	ExpiresAt        time.Time // of the access token; zero: unknown or never
	RefreshExpiresAt time.Time // afterwards the account must be reconnected
	RefreshRolls     bool      // every renewal extends RefreshExpiresAt
	RefreshDueAt     time.Time // when the token is renewed ahead of its expiry
	RefreshFailures  int       // since the last success
	LastRefreshAt    time.Time

	Notes message.Messages // what its server is known to leave out of posts

	CheckedAt time.Time  // when the network last confirmed the account
	LastError *LastError // since then; nil: none
}

// LastError is the last error of a network about an account, without secrets.
type LastError struct {
	Class   network.Class
	Code    string
	Message string
	At      time.Time
}

// AccessEndsAt returns when access ends unless a user reconnects the account; zero:
// unknown or never.
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

// App is Dateline's OAuth client at a network or instance.
type App struct {
	Network      string
	BaseURL      string
	RedirectURI  string
	ClientID     string
	SealedSecret []byte
}

// PendingAuthorization is an OAuth authorization that waits for the callback.
type PendingAuthorization struct {
	StateHash      []byte
	WorkspaceID    uuid.UUID
	UserID         uuid.UUID
	Network        string
	BaseURL        string
	RedirectURI    string
	SealedVerifier []byte
	AccountID      *uuid.UUID // the account to reconnect; nil: a new one
	SessionID      uuid.UUID  // of the browser that started it; Nil: started with an API token
	ExpiresAt      time.Time
}

// PendingChoice is the stored form of a Choice.
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

// RefreshFailure records why a renewal failed.
type RefreshFailure struct {
	LastError

	Owner   uuid.UUID
	RetryAt time.Time
}
