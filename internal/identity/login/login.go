// Package login implements browser login: sessions in a cookie, single sign-on with an
// OpenID provider, and one-time login links for installations without one.
//
// The permissions of a session are checked at each request. To prevent cross-site request
// forgery, a request with a cookie that changes data must come from a page of the same
// origin (CheckOrigin). GET requests change nothing, except for the callback of OpenID
// Connect, which is bound to the browser that started the login.
package login

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/throttle"
)

// Session is a session of a logged-in browser.
type Session struct {
	ID          uuid.UUID // names it in lists; the cookie does not follow from it
	UserID      uuid.UUID
	WorkspaceID uuid.UUID      // its current workspace
	Role        workspace.Role // there
	CreatedAt   time.Time
	LastUsedAt  time.Time // to the minute
	UserAgent   string    // shortened
	// Confined says that the session is of a member's login link: it reaches only its
	// workspace, whose owner made the link.
	Confined bool
}

// Reaches reports whether the session can see a workspace of its user.
func (s Session) Reaches(workspace uuid.UUID) bool { return !s.Confined || s.WorkspaceID == workspace }

// Principal returns the principal of the requests of a session.
func (s Session) Principal() workspace.Principal {
	return workspace.Principal{
		WorkspaceID: s.WorkspaceID, UserID: s.UserID, SessionID: s.ID, Role: s.Role,
		Scopes: []workspace.Scope{workspace.Everything},
	}
}

// User is a user who can log in.
type User struct {
	ID    uuid.UUID
	Name  string
	Email string // empty: none
}

// Membership is a workspace of a user.
type Membership struct {
	WorkspaceID   uuid.UUID
	WorkspaceName string
	Role          workspace.Role
}

// Person contains the claims of an OpenID provider about a user.
type Person struct {
	Issuer  string
	Subject string
	Name    string
	Email   string // in lower case; empty unless the provider has verified it
	// EmailNotVerified says that the provider named an address and has not verified it.
	EmailNotVerified bool
}

// Refusal is why a person who logged in at the provider is not let in; empty: they are.
// It is logged, without the address.
type Refusal string

// The refusals.
const (
	NotVerified  Refusal = "the provider has not verified the email address"
	NoEmail      Refusal = "the provider sent no usable email address"
	NotInvited   Refusal = "no invitation for this email address"
	OtherSubject Refusal = "the user of this email address is bound to another subject of the provider"
	NoWorkspace  Refusal = "the user is not a member of any workspace"
)

// Limits are the earliest creation and last use of valid sessions.
type Limits struct{ Created, Used time.Time }

// Store stores sessions and users.
type Store interface {
	// Also forgets sessions beyond the limits
	InsertSession(ctx context.Context, s Session, hash []byte, l Limits) error
	// For the audit log of all workspaces of the user, or only one
	RecordLogin(ctx context.Context, user, session uuid.UUID, only *uuid.UUID) error
	SessionByHash(ctx context.Context, hash []byte, l Limits) (Session, bool, error)
	TouchSession(ctx context.Context, id uuid.UUID, now time.Time) error
	Sessions(ctx context.Context, user uuid.UUID, l Limits) ([]Session, error)
	MoveSession(ctx context.Context, user, id, workspace uuid.UUID) (bool, error) // false: no member there
	EndSession(ctx context.Context, user, id uuid.UUID) (bool, error)
	EndSessionByHash(ctx context.Context, hash []byte) error
	EndSessionsOf(ctx context.Context, user uuid.UUID) error

	WhoIs(ctx context.Context, user uuid.UUID) (User, []Membership, error) // the oldest membership first
	// Admit returns the user of a person: by issuer and subject, or by email address
	// among users without an identity of that issuer. With join, an unknown person
	// becomes a user with that role in the first workspace. The person's name replaces one
	// that is still the email address.
	Admit(ctx context.Context, p Person, join workspace.Role) (user uuid.UUID, why Refusal, err error)

	PutLoginLink(ctx context.Context, user uuid.UUID, hash []byte, expires time.Time) error
	UseLoginLink(ctx context.Context, hash []byte) (user uuid.UUID, expires time.Time, found bool, err error)
	MemberLinkStore
	UseMemberLoginLink(ctx context.Context, hash []byte) (workspace, user uuid.UUID, expires time.Time, found bool,
		err error)
	NameUser(ctx context.Context, user uuid.UUID, name string) error // unless a name was set
	UseLoginAnswer(ctx context.Context, hash []byte, now, forget time.Time) (first bool, err error)
}

// Options configure a Service.
type Options struct {
	Store     Store
	PublicURL string // where browsers find us
	Provider  *Provider
	Join      Joining
	Log       *slog.Logger
	Now       func() time.Time // nil: time.Now
}

// Service handles logins and sessions. It is safe for concurrent use.
type Service struct {
	store    Store
	base     *url.URL
	cookies  cookies
	origins  *http.CrossOriginProtection
	provider *Provider // nil: none
	join     Joining
	attempts *throttle.Limiter
	log      *slog.Logger
	now      func() time.Time
}

// New returns a Service.
func New(o Options) (*Service, error) {
	base, err := url.Parse(o.PublicURL)
	if err != nil || base.Host == "" {
		return nil, errors.New("DATELINE_PUBLIC_URL cannot be read")
	}
	s := &Service{
		store: o.Store, base: base, provider: o.Provider, join: o.Join, log: o.Log, now: o.Now,
		origins: http.NewCrossOriginProtection(),
	}
	if err := s.origins.AddTrustedOrigin(base.Scheme + "://" + base.Host); err != nil {
		return nil, fmt.Errorf("DATELINE_PUBLIC_URL: %w", err)
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.attempts = throttle.New(attemptsAtOnce, attemptEvery)
	s.cookies = cookies{secure: base.Scheme == "https"}
	return s, nil
}

// Rate limit of login attempts per client. Secrets have 256 bits and cannot be guessed; the
// limit protects the provider and the database.
const (
	attemptsAtOnce = 60 // an office may have one address for all; a login is two requests
	attemptEvery   = 5 * time.Second
)

// Possible reports whether cookies are safe in transit: DATELINE_PUBLIC_URL is https or a
// loopback address.
func (s *Service) Possible() bool { return s.base.Scheme == "https" || Loopback(s.base.Hostname()) }

// Loopback reports whether a host is a loopback address.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// CheckOrigin rejects browser requests from other origins that can change data. Requests of
// other clients pass, because they only have their own cookies.
func (s *Service) CheckOrigin(r *http.Request) error { return s.origins.Check(r) }

// Allow reports whether a client may attempt to log in now.
func (s *Service) Allow(address string) bool {
	_, ok := s.attempts.Allow(throttle.ClientKey(address), s.now())
	return ok
}
