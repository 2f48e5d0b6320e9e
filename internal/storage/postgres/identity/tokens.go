package identity

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/storage/postgres/identity/db"
	"dateline/internal/storage/postgres/tx"
)

// Bearer returns the principal of a valid token by the token's hash, and records its use.
func (s *WorkspaceStore) Bearer(ctx context.Context, hash []byte) (workspace.Principal, workspace.TokenStatus, error) {
	row, err := s.q.TokenByHash(ctx, hash)
	switch {
	case tx.NoRows(err):
		return workspace.Principal{}, workspace.TokenUnknown, nil
	case err != nil:
		return workspace.Principal{}, workspace.TokenUnknown, err
	case row.Revoked:
		return workspace.Principal{}, workspace.TokenRevoked, nil
	case row.Expired:
		return workspace.Principal{}, workspace.TokenExpired, nil
	case row.Role == nil: // the membership has ended
		return workspace.Principal{}, workspace.TokenUnknown, nil
	}
	if row.UseIsNews {
		s.tokenUsage.note(row.ID)
	}
	return workspace.Principal{
		WorkspaceID: row.WorkspaceID, UserID: row.UserID, Role: workspace.Role(*row.Role),
		Scopes:  scopes(row.Scopes),
		TokenID: row.ID, TokenName: row.Name, ExpiresAt: optional.UTC(row.ExpiresAt),
	}, workspace.TokenActive, nil
}

// Tokens lists the tokens that are not revoked, newest first.
func (s *WorkspaceStore) Tokens(ctx context.Context, f workspace.TokenFilter) ([]workspace.Token, error) {
	rows, err := s.q.ListTokens(ctx, db.ListTokensParams{
		WorkspaceID: f.WorkspaceID, OnlyOf: f.UserID, Before: f.Before,
		PageSize: f.Limit,
	})
	tokens := make([]workspace.Token, len(rows))
	for i, r := range rows {
		tokens[i] = tokenFromRow(db.GetTokenRow(r))
	}
	return tokens, err
}

// CreateToken stores a member's new token.
func (s *WorkspaceStore) CreateToken(
	ctx context.Context, t workspace.Token, key idempotency.Key,
) (created workspace.Token, replayed bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, t.WorkspaceID, key, t.ID)
		if err != nil {
			return err
		}
		id := t.ID
		if replayed = earlier != uuid.Nil; replayed {
			id = earlier
		} else {
			if _, err := q.LockMember(ctx,
				db.LockMemberParams{WorkspaceID: t.WorkspaceID, UserID: t.UserID}); err != nil {
				return tx.OrNotFound(err, "member")
			}
			if err := insertToken(ctx, q, t); err != nil {
				return err
			}
		}
		row, err := q.GetToken(ctx, db.GetTokenParams{ID: id, WorkspaceID: t.WorkspaceID})
		created = tokenFromRow(row)
		return tx.OrNotFound(err, "token")
	})
	return created, replayed, err
}

// ReplaceToken revokes the user's tokens of that name and stores the new one.
func (s *WorkspaceStore) ReplaceToken(ctx context.Context, t workspace.Token) error {
	return s.inTx(ctx, func(q *queries) error {
		old, err := q.RevokeTokensNamed(ctx, db.RevokeTokensNamedParams{
			WorkspaceID: t.WorkspaceID, UserID: t.UserID, Name: t.Name,
		})
		if err != nil {
			return err
		}
		for _, id := range old {
			if err := tx.Record(ctx, q.tx, t.WorkspaceID, audit.TokenRevoked, "token", id,
				map[string]any{"name": t.Name}); err != nil {
				return err
			}
		}
		return insertToken(ctx, q, t)
	})
}

// RevokeToken revokes a token permanently; with onlyOf, only if it belongs to that user.
func (s *WorkspaceStore) RevokeToken(ctx context.Context, workspaceID, id uuid.UUID, onlyOf *uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		row, err := q.RevokeToken(ctx, db.RevokeTokenParams{ID: id, WorkspaceID: workspaceID, OnlyOf: onlyOf})
		if tx.NoRows(err) {
			return apperr.NotFound("token")
		}
		if err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.TokenRevoked, "token", id, map[string]any{
			"name": row.Name, "of": row.UserID,
		})
	})
}

func insertToken(ctx context.Context, q *queries, t workspace.Token) error {
	names := make([]string, len(t.Scopes))
	for i, scope := range t.Scopes {
		names[i] = string(scope)
	}
	if err := q.InsertToken(ctx, db.InsertTokenParams{
		ID: t.ID, WorkspaceID: t.WorkspaceID, UserID: t.UserID,
		Name: t.Name, Hint: t.Hint, Hash: t.Hash,
		Scopes: names, ExpiresAt: t.ExpiresAt,
	}); err != nil {
		return err
	}
	data := map[string]any{"name": t.Name, "scopes": names, "of": t.UserID}
	if t.ExpiresAt != nil {
		data["expires_at"] = t.ExpiresAt
	}
	return tx.Record(ctx, q.tx, t.WorkspaceID, audit.TokenCreated, "token", t.ID, data)
}

func tokenFromRow(r db.GetTokenRow) workspace.Token {
	t := r.ApiToken
	return workspace.Token{
		ID: t.ID, WorkspaceID: t.WorkspaceID, UserID: t.UserID, Name: t.Name, Hint: t.Hint,
		Scopes:    scopes(t.Scopes),
		CreatedAt: t.CreatedAt.UTC(), LastUsedAt: optional.UTC(t.LastUsedAt), ExpiresAt: optional.UTC(t.ExpiresAt),
		User: workspace.User{ID: t.UserID, Name: r.UserName, Email: optional.Value(r.UserEmail)},
	}
}

func scopes(names []string) []workspace.Scope {
	out := make([]workspace.Scope, len(names))
	for i, name := range names {
		out[i] = workspace.Scope(name)
	}
	return out
}
