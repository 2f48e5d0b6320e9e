// Package people holds workspaces, their members and the tokens by which the
// API knows them.
package people

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/google/uuid"
)

// Role says what a member may do.
type Role string

// The roles, from most to least.
const (
	Owner  Role = "owner"
	Editor Role = "editor"
	Author Role = "author"
	Viewer Role = "viewer"
)

// MayWrite says whether the role may schedule and change posts.
func (r Role) MayWrite() bool { return r == Owner || r == Editor || r == Author }

// MayConnect says whether the role may connect accounts.
func (r Role) MayConnect() bool { return r == Owner || r == Editor }

// Workspace is what everything belongs to.
type Workspace struct {
	ID       uuid.UUID
	Name     string
	TimeZone string // IANA name
}

// Principal is who made a request.
type Principal struct {
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	TokenID     uuid.UUID
	Role        Role
}

// Actor names the principal in timelines.
func (p Principal) Actor() string { return "user:" + p.UserID.String() }

// Token is an API token as it is stored: only its hash.
type Token struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	UserID      uuid.UUID
	Name        string
	Hint        string
	Hash        []byte
}

const tokenPrefix = "dl_" // lets scanners for leaked secrets recognise ours

// NewToken makes a token of 256 random bits. plain is shown once and never
// stored.
func NewToken(workspace, user uuid.UUID, name string) (t Token, plain string) {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	plain = tokenPrefix + base64.RawURLEncoding.EncodeToString(raw)
	return Token{ID: uuid.Must(uuid.NewV7()), WorkspaceID: workspace, UserID: user, Name: name,
		Hint: plain[:len(tokenPrefix)+4], Hash: HashToken(plain)}, plain
}

// HashToken gives what is stored and looked up for a token.
func HashToken(plain string) []byte {
	sum := sha256.Sum256([]byte(strings.TrimSpace(plain)))
	return sum[:]
}
