package postgres

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/db"
)

// record writes an entry of the audit log, in the transaction of the change
// that it records. The actor is the origin of ctx.
func record(ctx context.Context, q *db.Queries, workspaceID uuid.UUID, action audit.Action, kind string, id uuid.UUID,
	data map[string]any,
) error {
	raw, err := object(data)
	if err != nil {
		return err
	}
	o := audit.OriginOf(ctx)
	return q.InsertAudit(ctx, db.InsertAuditParams{
		WorkspaceID: workspaceID, Actor: string(o.Actor),
		UserID: orNone(o.UserID), TokenID: orNone(o.TokenID),
		SessionID: orNone(o.SessionID), Action: string(action), ObjectType: kind, ObjectID: id,
		RequestID: orNone(o.RequestID), Data: raw,
	})
}

// recordPost records a user's change of a post. Changes by Dateline itself appear only
// in the post's timeline.
func recordPost(
	ctx context.Context, q *db.Queries, row db.ScheduledPost, actor string, action audit.Action, data map[string]any,
) error {
	if actor == post.ActorDateline {
		return nil
	}
	if actor == post.ActorOperator {
		ctx = audit.With(ctx, audit.Origin{Actor: audit.Operator})
	}
	return record(ctx, q, row.WorkspaceID, action, "post", row.PostID, data)
}

// RecordLogin records a login in the audit log of every workspace of the user, and
// accepts the user's invitations.
func (s *Store) RecordLogin(ctx context.Context, user, session uuid.UUID) error {
	o := audit.OriginOf(ctx)
	ctx = audit.With(ctx, audit.Origin{Actor: audit.User, UserID: user, SessionID: session, RequestID: o.RequestID})
	return s.inTx(ctx, func(q *db.Queries) error {
		workspaces, err := q.JoinWorkspaces(ctx, user)
		if err != nil {
			return err
		}
		for _, workspaceID := range workspaces {
			if err := record(ctx, q, workspaceID, audit.LoggedIn, "session", session, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// AuditLog lists entries of the audit log, newest first.
func (s *Store) AuditLog(ctx context.Context, f audit.Filter) ([]audit.Entry, error) {
	rows, err := s.q.ListAudit(ctx, db.ListAuditParams{
		WorkspaceID: f.WorkspaceID, Actor: string(f.Actor),
		UserID: f.UserID, Actions: orEmpty(f.Actions),
		ObjectID: f.ObjectID, FromTime: f.From, ToTime: f.To, Before: f.Before, PageSize: f.Limit,
	})
	if err != nil {
		return nil, err
	}
	entries := make([]audit.Entry, len(rows))
	for i, r := range rows {
		l := r.AuditLog
		entries[i] = audit.Entry{
			ID: l.ID, At: l.At.UTC(), UserName: r.UserName, TokenName: r.TokenName,
			Action: audit.Action(l.Action),
			Object: audit.Object{Type: l.ObjectType, ID: l.ObjectID}, Data: l.Data,
			Origin: audit.Origin{
				Actor: audit.Actor(l.Actor), UserID: idOrNil(l.UserID), TokenID: idOrNil(l.TokenID),
				SessionID: idOrNil(l.SessionID), RequestID: idOrNil(l.RequestID),
			},
		}
	}
	return entries, nil
}

func orNone(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}
