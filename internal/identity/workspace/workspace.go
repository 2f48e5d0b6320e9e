// Package workspace manages workspaces, their members with roles, and API tokens with
// scopes.
package workspace

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Role is the role of a member, which determines the permissions.
type Role string

// The roles, from most to least permissions. Each includes the permissions of the next.
const (
	Owner  Role = "owner"
	Editor Role = "editor"
	Author Role = "author"
	Viewer Role = "viewer"
)

// Roles returns the roles, from least to most permissions.
func Roles() []Role { return []Role{Viewer, Author, Editor, Owner} }

// AtLeast reports whether the role includes the permissions of another role. It is false
// for unknown roles.
func (r Role) AtLeast(minimum Role) bool {
	have, need := slices.Index(Roles(), r), slices.Index(Roles(), minimum)
	return need >= 0 && have >= need
}

// Workspace is a tenant: all data belongs to a workspace.
type Workspace struct {
	ID       uuid.UUID
	Name     string
	TimeZone string // IANA name
	// AuthorsNeedApproval requires approval by an editor for posts of authors.
	AuthorsNeedApproval bool
	// KeepMediaCredit preserves creator, credit line and copyright notice in images.
	KeepMediaCredit bool
}

// Change is an update of a workspace; nil fields are not changed.
type Change struct {
	Name                *string
	TimeZone            *string
	AuthorsNeedApproval *bool
	KeepMediaCredit     *bool
}

// Membership is a workspace with the role of a member.
type Membership struct {
	Workspace Workspace
	Role      Role
}

// User is a user, independent of workspaces.
type User struct {
	ID    uuid.UUID
	Name  string
	Email string // empty for the first owner of a local installation
}

// Member is a user in a workspace.
type Member struct {
	User      User
	Role      Role
	CreatedAt time.Time
	JoinedAt  *time.Time // nil before the first login
	// LoginLinkExpiresAt is the expiry of the login link of the member; nil without one.
	LoginLinkExpiresAt *time.Time
}

// MemberFilter selects members of a workspace, oldest first.
type MemberFilter struct {
	WorkspaceID uuid.UUID
	AfterTime   *time.Time // cursor
	AfterID     *uuid.UUID
	Limit       int
}

// Principal is the authenticated sender of a request, by API token or browser session.
type Principal struct {
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	Role        Role
	Scopes      []Scope // of the token; sessions have Everything
	TokenID     uuid.UUID
	TokenName   string
	ExpiresAt   *time.Time // of the token; nil if it never expires
	SessionID   uuid.UUID
}

// Actor returns the name of the principal in timelines.
func (p Principal) Actor() string { return "user:" + p.UserID.String() }

// TokenStatus is the validity of an API token.
type TokenStatus int

// The statuses of tokens. Only requests with a valid hash get more than TokenUnknown.
const (
	TokenUnknown TokenStatus = iota // no such token, or its user is no longer a member
	TokenActive
	TokenExpired
	TokenRevoked
)

// Token is an API token. Only its hash is stored.
type Token struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	Name        string
	Hint        string
	Hash        []byte
	Scopes      []Scope
	ExpiresAt   *time.Time // nil if it never expires

	// Set for stored tokens only.
	User       User
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// TokenFilter selects the tokens of a workspace, newest first.
type TokenFilter struct {
	WorkspaceID uuid.UUID
	UserID      *uuid.UUID // nil for all members
	Before      *uuid.UUID // cursor: only older tokens
	Limit       int
}

const tokenPrefix = "dl_" // lets secret scanners recognize Dateline's tokens

// NewToken creates a token of 256 random bits with all scopes and without an expiry.
// plain is shown once and never stored.
func NewToken(workspace, user uuid.UUID, name string) (t Token, plain string) {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	plain = tokenPrefix + base64.RawURLEncoding.EncodeToString(raw)
	return Token{
		ID: uuid.Must(uuid.NewV7()), WorkspaceID: workspace, UserID: user, Name: name,
		Hint: plain[:len(tokenPrefix)+4], Hash: HashToken(plain), Scopes: []Scope{Everything},
	}, plain
}

// HashToken returns the stored form of a token, by which it is looked up.
func HashToken(plain string) []byte {
	sum := sha256.Sum256([]byte(strings.TrimSpace(plain)))
	return sum[:]
}
