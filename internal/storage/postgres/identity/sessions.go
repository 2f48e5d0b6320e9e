package identity

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/login"
	"dateline/internal/identity/workspace"
	"dateline/internal/storage/postgres/identity/db"
	"dateline/internal/storage/postgres/tx"
)

// InsertSession stores a new session and deletes expired ones.
func (s *LoginStore) InsertSession(ctx context.Context, n login.Session, hash []byte, l login.Limits) error {
	return s.inTx(ctx, func(q *queries) error {
		if err := q.DeleteOldSessions(ctx,
			db.DeleteOldSessionsParams{CreatedBefore: l.Created, UsedBefore: l.Used}); err != nil {
			return err
		}
		return q.InsertSession(ctx, db.InsertSessionParams{
			ID: n.ID, Hash: hash, UserID: n.UserID,
			WorkspaceID: n.WorkspaceID,
			Now:         n.CreatedAt, UserAgent: n.UserAgent, Confined: n.Confined,
		})
	})
}

// SessionByHash returns the session with the hash of a cookie.
func (s *LoginStore) SessionByHash(ctx context.Context, hash []byte, l login.Limits) (login.Session, bool, error) {
	row, err := s.q.SessionByHash(ctx, db.SessionByHashParams{Hash: hash, CreatedAfter: l.Created, UsedAfter: l.Used})
	if tx.NoRows(err) {
		return login.Session{}, false, nil
	}
	return toSession(db.ListSessionsRow(row)), err == nil, err
}

// TouchSession records the use of a session.
func (s *LoginStore) TouchSession(ctx context.Context, id uuid.UUID, now time.Time) error {
	return s.q.TouchSession(ctx, db.TouchSessionParams{ID: id, Now: now})
}

// Sessions lists a user's sessions, most recently used first.
func (s *LoginStore) Sessions(ctx context.Context, user uuid.UUID, l login.Limits) ([]login.Session, error) {
	rows, err := s.q.ListSessions(ctx, db.ListSessionsParams{UserID: user, CreatedAfter: l.Created, UsedAfter: l.Used})
	out := make([]login.Session, 0, len(rows))
	for _, row := range rows {
		out = append(out, toSession(row))
	}
	return out, err
}

func toSession(row db.ListSessionsRow) login.Session {
	return login.Session{
		ID: row.ID, UserID: row.UserID, WorkspaceID: row.WorkspaceID, Role: workspace.Role(row.Role),
		CreatedAt: row.CreatedAt, LastUsedAt: row.LastUsedAt, UserAgent: row.UserAgent, Confined: row.Confined,
	}
}

// MoveSession changes the workspace of a session; false if the user is not a member of the
// workspace, or the session belongs to another user or is confined to its workspace.
func (s *LoginStore) MoveSession(ctx context.Context, user, id, workspaceID uuid.UUID) (bool, error) {
	n, err := s.q.MoveSession(ctx, db.MoveSessionParams{ID: id, UserID: user, WorkspaceID: workspaceID})
	return n == 1, err
}

// EndSession ends a user's session; false if it does not exist.
func (s *LoginStore) EndSession(ctx context.Context, user, id uuid.UUID) (bool, error) {
	n, err := s.q.EndSession(ctx, db.EndSessionParams{ID: id, UserID: user})
	return n == 1, err
}

// EndSessionByHash ends the session of a cookie, if it exists.
func (s *LoginStore) EndSessionByHash(ctx context.Context, hash []byte) error {
	return s.q.EndSessionByHash(ctx, hash)
}

// EndSessionsOf ends all sessions of a user.
func (s *LoginStore) EndSessionsOf(ctx context.Context, user uuid.UUID) error {
	return s.q.EndSessionsOf(ctx, user)
}

const publicURLKey = "public_url"

// NotePublicURL stores the public URL of this installation, for commands that
// print links to it from outside.
func (s *LoginStore) NotePublicURL(ctx context.Context, url string) error {
	return tx.PutSetting(ctx, s.pool, publicURLKey, url)
}

// PublicURL returns the URL that NotePublicURL stored, or "".
func (s *LoginStore) PublicURL(ctx context.Context) (string, error) {
	url, err := tx.Setting(ctx, s.pool, publicURLKey)
	if tx.NoRows(err) {
		return "", nil
	}
	return url, err
}
