package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
)

// Lifetimes of sessions.
const (
	IdleLimit     = 12 * time.Hour
	AbsoluteLimit = 30 * 24 * time.Hour
	touchEvery    = time.Minute
)

// newSecret returns 256 random bits as text.
func newSecret() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(raw)
}

// hash returns the stored form of a secret, so that neither a copy of the database nor the
// timing of a comparison reveals it.
func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

func (s *Service) limits() Limits {
	now := s.now()
	return Limits{Created: now.Add(-AbsoluteLimit), Used: now.Add(-IdleLimit)}
}

// HasCookie reports whether a request has a session cookie, valid or not.
func (s *Service) HasCookie(r *http.Request) bool { return s.cookies.session(r) != "" }

// Peek returns the session of a request without recording its use.
func (s *Service) Peek(r *http.Request) (Session, bool, error) {
	secret := s.cookies.session(r)
	if secret == "" {
		return Session{}, false, nil
	}
	return s.store.SessionByHash(r.Context(), hash(secret), s.limits())
}

// Session returns the session of a request and records its use.
func (s *Service) Session(r *http.Request) (Session, bool, error) {
	found, ok, err := s.Peek(r)
	if err != nil || !ok {
		return Session{}, false, err
	}
	if now := s.now(); now.Sub(found.LastUsedAt) >= touchEvery {
		if err := s.store.TouchSession(r.Context(), found.ID, now); err != nil {
			return Session{}, false, err
		}
		found.LastUsedAt = now
	}
	return found, true, nil
}

// start creates a session, always with a new ID to prevent session fixation. With only, it
// is confined to that workspace. It returns false for a user without a workspace.
func (s *Service) start(
	w http.ResponseWriter, r *http.Request, user uuid.UUID, only *uuid.UUID, method string,
) (bool, error) {
	_, memberships, err := s.store.WhoIs(r.Context(), user)
	if only != nil {
		memberships = slices.DeleteFunc(memberships, func(m Membership) bool { return m.WorkspaceID != *only })
	}
	if err != nil || len(memberships) == 0 {
		return false, err
	}
	if before := s.cookies.session(r); before != "" {
		if err := s.store.EndSessionByHash(r.Context(), hash(before)); err != nil {
			return false, err
		}
	}
	opened, wanted := memberships[0].WorkspaceID, r.URL.Query().Get(WorkspaceParameter)
	for _, m := range memberships {
		if m.WorkspaceID.String() == wanted {
			opened = m.WorkspaceID
		}
	}
	secret, now := newSecret(), s.now()
	made := Session{
		ID: uuid.Must(uuid.NewV7()), UserID: user, WorkspaceID: opened, CreatedAt: now,
		LastUsedAt: now,
		UserAgent:  shortAgent(r.UserAgent()),
		Confined:   only != nil,
	}
	if err := s.store.InsertSession(r.Context(), made, hash(secret), s.limits()); err != nil {
		return false, err
	}
	if err := s.store.RecordLogin(r.Context(), user, made.ID, only); err != nil {
		return false, err
	}
	s.cookies.setSession(w, secret)
	s.log.Info("user logged in", "user_id", user, "session_id", made.ID, "by", method)
	return true, nil
}

// Sessions returns the sessions of a user, most recently used first.
func (s *Service) Sessions(ctx context.Context, user uuid.UUID) ([]Session, error) {
	return s.store.Sessions(ctx, user, s.limits())
}

// End revokes a session of a user.
func (s *Service) End(ctx context.Context, user, id uuid.UUID) error {
	found, err := s.store.EndSession(ctx, user, id)
	if err == nil && !found {
		return &apperr.Error{Kind: apperr.KindNotFound, Code: "session_not_found", Message: "You have no such session."}
	}
	return err
}

// EndAll revokes all sessions of a user.
func (s *Service) EndAll(ctx context.Context, user uuid.UUID) error {
	return s.store.EndSessionsOf(ctx, user)
}

// Switch changes the workspace of a session.
func (s *Service) Switch(ctx context.Context, session Session, workspace uuid.UUID) error {
	moved, err := s.store.MoveSession(ctx, session.UserID, session.ID, workspace)
	if err == nil && !moved {
		return &apperr.Error{
			Kind: apperr.KindNotFound, Code: "workspace_not_found",
			Message: "You are not a member of this workspace.",
		}
	}
	return err
}

// Account returns the user of a session and the memberships that it reaches.
func (s *Service) Account(ctx context.Context, session Session) (User, []Membership, error) {
	user, memberships, err := s.store.WhoIs(ctx, session.UserID)
	return user, slices.DeleteFunc(memberships, func(m Membership) bool { return !session.Reaches(m.WorkspaceID) }), err
}
