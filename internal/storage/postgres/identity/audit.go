package identity

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/optional"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/identity/db"
	"dateline/internal/storage/postgres/tx"
)

// RecordLogin records a login in the audit log of every workspace of the user, or of only
// one, and accepts the invitations to them.
func (s *LoginStore) RecordLogin(ctx context.Context, user, session uuid.UUID, only *uuid.UUID) error {
	o := audit.OriginOf(ctx)
	ctx = audit.With(ctx, audit.Origin{Actor: audit.User, UserID: user, SessionID: session, RequestID: o.RequestID})
	return s.inTx(ctx, func(q *queries) error {
		workspaces, err := q.JoinWorkspaces(ctx, db.JoinWorkspacesParams{UserID: user, OnlyWorkspace: only})
		if err != nil {
			return err
		}
		for _, workspaceID := range workspaces {
			if err := tx.Record(ctx, q.tx, workspaceID, audit.LoggedIn, "session", session, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// AuditLog lists entries of the audit log, newest first.
func (s *WorkspaceStore) AuditLog(ctx context.Context, f audit.Filter) ([]audit.Entry, error) {
	rows, err := s.q.ListAudit(ctx, db.ListAuditParams{
		WorkspaceID: f.WorkspaceID, Actor: string(f.Actor),
		UserID: f.UserID, Actions: column.List(f.Actions),
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
				Actor: audit.Actor(l.Actor), UserID: optional.Value(l.UserID), TokenID: optional.Value(l.TokenID),
				SessionID: optional.Value(l.SessionID), RequestID: optional.Value(l.RequestID),
			},
		}
	}
	return entries, s.nameObjects(ctx, f.WorkspaceID, entries)
}

// nameObjects names the objects of entries.
func (s *WorkspaceStore) nameObjects(ctx context.Context, workspaceID uuid.UUID, entries []audit.Entry) error {
	ids := make([]uuid.UUID, len(entries))
	for i, e := range entries {
		ids[i] = e.Object.ID
	}
	exist, err := s.q.AuditNames(ctx, db.AuditNamesParams{WorkspaceID: workspaceID, Ids: ids})
	if err != nil {
		return err
	}
	last, err := s.q.AuditLastNames(ctx, db.AuditLastNamesParams{WorkspaceID: workspaceID, Ids: ids})
	if err != nil {
		return err
	}
	names, known := map[uuid.UUID]string{}, map[uuid.UUID]bool{}
	for _, r := range last {
		names[r.ID] = r.Name
	}
	for _, r := range exist {
		known[r.ID] = true
		if r.Name != "" {
			names[r.ID] = r.Name
		}
	}
	for i := range entries {
		o := &entries[i].Object
		switch o.Type {
		case "workspace", "session": // their entries say enough
		case "domain": // stays in the crawler
			o.Name = names[o.ID]
		default:
			o.Name, o.IsDeleted = names[o.ID], !known[o.ID]
		}
	}
	return nil
}
