// Package workspace holds workspaces, their members and the tokens by which the
// API knows them.
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

// Role says what a member may do.
type Role string

// The roles, from most to least. Each may do all that those behind it may.
const (
	Owner  Role = "owner"
	Editor Role = "editor"
	Author Role = "author"
	Viewer Role = "viewer"
)

// Roles lists the roles, from least to most.
func Roles() []Role { return []Role{Viewer, Author, Editor, Owner} }

// AtLeast says whether the role may do what least may. No role is at least one
// that does not exist.
func (r Role) AtLeast(least Role) bool {
	have, need := slices.Index(Roles(), r), slices.Index(Roles(), least)
	return need >= 0 && have >= need
}

// Workspace is what everything belongs to.
type Workspace struct {
	ID       uuid.UUID
	Name     string
	TimeZone string // IANA name
	// AuthorsNeedApproval: posts of authors wait for an editor.
	AuthorsNeedApproval bool
	// KeepMediaCredit: creator, credit line and copyright notice of images stay
	// in the files.
	KeepMediaCredit bool
}

// Change is an edit: nil leaves a field as it is.
type Change struct {
	Name                *string
	TimeZone            *string
	AuthorsNeedApproval *bool
	KeepMediaCredit     *bool
}

// Membership is a workspace as one of its members sees it.
type Membership struct {
	Workspace Workspace
	Role      Role
}

// User is a person, whatever the workspace.
type User struct {
	ID    uuid.UUID
	Name  string
	Email string // empty: the local first owner
}

// Member is a person in a workspace.
type Member struct {
	User      User
	Role      Role
	CreatedAt time.Time
	JoinedAt  *time.Time // nil: invited, and not logged in since
}

// MemberFilter chooses members of one workspace, the oldest first.
type MemberFilter struct {
	WorkspaceID uuid.UUID
	AfterTime   *time.Time // the cursor
	AfterID     *uuid.UUID
	Limit       int
}

// Principal is who made a request: by an API token, or in a browser's session.
type Principal struct {
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	Role        Role
	Scopes      []Scope // of the token; a session has Everything
	TokenID     uuid.UUID
	TokenName   string
	ExpiresAt   *time.Time // of the token; nil: never
	SessionID   uuid.UUID
}

// Actor names the principal in timelines.
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

// Token is an API token as it is stored: only its hash.
type Token struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	Name        string
	Hint        string
	Hash        []byte
	Scopes      []Scope
	ExpiresAt   *time.Time // nil: never

	// Known of stored tokens only.
	User       User
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// TokenFilter chooses the tokens of one workspace, the newest first.
type TokenFilter struct {
	WorkspaceID uuid.UUID
	UserID      *uuid.UUID // nil: of all members
	Before      *uuid.UUID // the cursor: continue behind this token
	Limit       int
}

const tokenPrefix = "dl_" // lets scanners for leaked secrets recognise ours

// NewToken makes a token of 256 random bits that may be used for everything and
// does not expire. plain is shown once and never stored.
func NewToken(workspace, user uuid.UUID, name string) (t Token, plain string) {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	plain = tokenPrefix + base64.RawURLEncoding.EncodeToString(raw)
	return Token{ID: uuid.Must(uuid.NewV7()), WorkspaceID: workspace, UserID: user, Name: name,
		Hint: plain[:len(tokenPrefix)+4], Hash: HashToken(plain), Scopes: []Scope{Everything}}, plain
}

// HashToken gives what is stored and looked up for a token.
func HashToken(plain string) []byte {
	sum := sha256.Sum256([]byte(strings.TrimSpace(plain)))
	return sum[:]
}
