// Package login lets people in with a browser: sessions in a cookie, login at
// an OpenID provider, and links that log in once for installations that have
// none.
//
// A session is worth what its owner's memberships are worth at the moment of
// each request. Cookies travel by themselves, so a request that a cookie speaks
// for and that changes something must come from a page of our own
// (CheckOrigin); nothing that a GET does can be seen by anybody but the browser
// that asked, with the one exception that OpenID Connect prescribes, the
// callback, which only answers to the browser that began the login.
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

// Session is a browser that is logged in.
type Session struct {
	ID          uuid.UUID // names it in lists; the cookie does not follow from it
	UserID      uuid.UUID
	WorkspaceID uuid.UUID      // the workspace that it looks at
	Role        workspace.Role // there
	CreatedAt   time.Time
	LastUsedAt  time.Time // to the minute
	UserAgent   string    // shortened
}

// Principal is whom the requests of a session come from.
func (s Session) Principal() workspace.Principal {
	return workspace.Principal{WorkspaceID: s.WorkspaceID, UserID: s.UserID, SessionID: s.ID, Role: s.Role, Scopes: []workspace.Scope{workspace.Everything}}
}

// User is somebody who can log in.
type User struct {
	ID    uuid.UUID
	Name  string
	Email string // empty: none
}

// Membership is a workspace that a user belongs to.
type Membership struct {
	WorkspaceID   uuid.UUID
	WorkspaceName string
	Role          workspace.Role
}

// Person is somebody as an OpenID provider describes them.
type Person struct {
	Issuer  string
	Subject string
	Name    string
	Email   string // in lower case; empty unless the provider has verified it
}

// Limits say since when sessions count that are neither too old nor too long
// unused.
type Limits struct{ Created, Used time.Time }

// Store keeps sessions and who they belong to.
type Store interface {
	InsertSession(ctx context.Context, s Session, hash []byte, l Limits) error // also forgets sessions beyond the limits
	RecordLogin(ctx context.Context, user, session uuid.UUID) error            // for the audit log
	SessionByHash(ctx context.Context, hash []byte, l Limits) (Session, bool, error)
	TouchSession(ctx context.Context, id uuid.UUID, now time.Time) error
	Sessions(ctx context.Context, user uuid.UUID, l Limits) ([]Session, error)
	MoveSession(ctx context.Context, user, id, workspace uuid.UUID) (bool, error) // false: no member there
	EndSession(ctx context.Context, user, id uuid.UUID) (bool, error)
	EndSessionByHash(ctx context.Context, hash []byte) error
	EndSessionsOf(ctx context.Context, user uuid.UUID) error

	WhoIs(ctx context.Context, user uuid.UUID) (User, []Membership, error) // the oldest membership first
	// Admit finds the user that a person is: by issuer and subject, else by
	// e-mail address among users whom that issuer has not named yet. With join,
	// a stranger becomes a user with that role in the first workspace.
	Admit(ctx context.Context, p Person, join workspace.Role) (user uuid.UUID, found bool, err error)

	PutLoginLink(ctx context.Context, user uuid.UUID, hash []byte, expires time.Time) error
	UseLoginLink(ctx context.Context, hash []byte) (user uuid.UUID, expires time.Time, found bool, err error)
	UseLoginAnswer(ctx context.Context, hash []byte, now, forget time.Time) (first bool, err error)
}

// Options are what a Service is made of.
type Options struct {
	Store     Store
	PublicURL string // where browsers find us
	Provider  *Provider
	Join      Joining
	Log       *slog.Logger
	Now       func() time.Time // nil: time.Now
}

// Service lets people in. It is safe for concurrent use.
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

// New makes a Service.
func New(o Options) (*Service, error) {
	base, err := url.Parse(o.PublicURL)
	if err != nil || base.Host == "" {
		return nil, errors.New("DATELINE_PUBLIC_URL cannot be read")
	}
	s := &Service{store: o.Store, base: base, provider: o.Provider, join: o.Join, log: o.Log, now: o.Now,
		origins: http.NewCrossOriginProtection()}
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

// A client may try to log in so many times at once, and then again so often.
// Nothing can be guessed here (all secrets have 256 bits); the limit keeps one
// client from keeping the provider and the database busy.
const (
	attemptsAtOnce = 60 // an office may have one address for all; a login is two requests
	attemptEvery   = 5 * time.Second
)

// Possible says whether cookies can be kept from being read on their way:
// DATELINE_PUBLIC_URL is https, or does not leave this machine.
func (s *Service) Possible() bool { return s.base.Scheme == "https" || Loopback(s.base.Hostname()) }

// Loopback says of a host that it is this machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// CheckOrigin refuses a request that may change something and that a browser
// sends for another site. Requests of other programs than browsers pass: they
// carry no cookie that is not theirs.
func (s *Service) CheckOrigin(r *http.Request) error { return s.origins.Check(r) }

// Allow says whether a client at that address may try to log in now.
func (s *Service) Allow(address string) bool {
	_, ok := s.attempts.Allow(throttle.ClientKey(address), s.now())
	return ok
}
