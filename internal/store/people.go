package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/people"
	"dateline/internal/store/db"
)

// FirstWorkspace finds the oldest workspace and its first owner.
func (s *Store) FirstWorkspace(ctx context.Context) (w people.Workspace, owner uuid.UUID, found bool, err error) {
	row, err := s.q.FirstWorkspace(ctx)
	if noRows(err) {
		return people.Workspace{}, uuid.Nil, false, nil
	}
	if err != nil {
		return people.Workspace{}, uuid.Nil, false, err
	}
	owner, err = s.q.FirstOwner(ctx, row.ID)
	return people.Workspace{ID: row.ID, Name: row.Name, TimeZone: row.TimeZone}, owner, err == nil, err
}

// Found makes the first workspace with its owner and the owner's token.
func (s *Store) Found(ctx context.Context, w people.Workspace, ownerName string, t people.Token) error {
	return s.inTx(ctx, func(q *db.Queries) error {
		if _, err := q.InsertWorkspace(ctx, db.InsertWorkspaceParams{ID: w.ID, Name: w.Name, TimeZone: w.TimeZone}); err != nil {
			return err
		}
		if _, err := q.InsertUser(ctx, db.InsertUserParams{ID: t.UserID, Name: ownerName}); err != nil {
			return err
		}
		if err := q.InsertMember(ctx, db.InsertMemberParams{WorkspaceID: w.ID, UserID: t.UserID, Role: db.MemberRoleOwner}); err != nil {
			return err
		}
		return insertToken(ctx, q, t)
	})
}

// ReplaceToken revokes the tokens of that name and stores the new one.
func (s *Store) ReplaceToken(ctx context.Context, t people.Token) error {
	return s.inTx(ctx, func(q *db.Queries) error {
		if err := q.RevokeTokensNamed(ctx, db.RevokeTokensNamedParams{WorkspaceID: t.WorkspaceID, Name: t.Name}); err != nil {
			return err
		}
		return insertToken(ctx, q, t)
	})
}

func insertToken(ctx context.Context, q *db.Queries, t people.Token) error {
	return q.InsertToken(ctx, db.InsertTokenParams{ID: t.ID, WorkspaceID: t.WorkspaceID, UserID: t.UserID, Name: t.Name, Hint: t.Hint, Hash: t.Hash})
}

// Workspace reads a workspace.
func (s *Store) Workspace(ctx context.Context, id uuid.UUID) (people.Workspace, error) {
	row, err := s.q.GetWorkspace(ctx, id)
	return people.Workspace{ID: row.ID, Name: row.Name, TimeZone: row.TimeZone}, err
}

// Bearer finds who holds a token, by the token's hash, and notes its use.
func (s *Store) Bearer(ctx context.Context, hash []byte) (p people.Principal, found bool, err error) {
	row, err := s.q.TokenByHash(ctx, hash)
	if noRows(err) {
		return people.Principal{}, false, nil
	}
	if err != nil {
		return people.Principal{}, false, err
	}
	if row.LastUsedAt == nil || time.Since(*row.LastUsedAt) > time.Minute {
		if err := s.q.TouchToken(ctx, row.ID); err != nil {
			return people.Principal{}, false, err
		}
	}
	return people.Principal{WorkspaceID: row.WorkspaceID, UserID: row.UserID, TokenID: row.ID, Role: people.Role(row.Role)}, true, nil
}
