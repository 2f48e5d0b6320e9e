// Package account holds connected accounts at social networks: what is known
// of them, how they are connected, and how their tokens are opened for use.
package account

import (
	"time"

	"github.com/google/uuid"
)

// Status says whether an account can publish.
type Status string

// The states of an account.
const (
	Connected      Status = "connected"
	NeedsReconnect Status = "needs_reconnect" // the network refuses the token
	Disconnected   Status = "disconnected"    // by its owner
)

// Account is a connected account. The token is sealed.
type Account struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	Network     string
	BaseURL     string
	RemoteID    string
	Handle      string
	Name        string
	Status      Status
	Default     bool // used when a post names no account
	SealedToken []byte
	Scopes      []string
	CreatedAt   time.Time
}

// App is Dateline's registration at a network or instance.
type App struct {
	Network      string
	BaseURL      string
	RedirectURI  string
	ClientID     string
	SealedSecret []byte
}

// Attempt is a person who is away at a network's consent page.
type Attempt struct {
	StateHash      []byte
	WorkspaceID    uuid.UUID
	UserID         uuid.UUID
	Network        string
	BaseURL        string
	RedirectURI    string
	SealedVerifier []byte
	ExpiresAt      time.Time
}
