package identity

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/storage/postgres/identity/db"
	"dateline/internal/storage/postgres/tx"
)

// FirstWorkspace returns the oldest workspace and its first owner.
func (s *WorkspaceStore) FirstWorkspace(
	ctx context.Context,
) (w workspace.Workspace, owner uuid.UUID, found bool, err error) {
	row, err := s.q.FirstWorkspace(ctx)
	if tx.NoRows(err) {
		return workspace.Workspace{}, uuid.Nil, false, nil
	}
	if err != nil {
		return workspace.Workspace{}, uuid.Nil, false, err
	}
	owner, err = s.q.FirstOwner(ctx, row.ID)
	return workspaceFromRow(row), owner, err == nil, err
}

// Found creates the first workspace with its owner and the owner's token.
func (s *WorkspaceStore) Found(ctx context.Context, w workspace.Workspace, ownerName string, t workspace.Token) error {
	return s.inTx(ctx, func(q *queries) error {
		if _, err := q.InsertUser(ctx, db.InsertUserParams{ID: t.UserID, Name: ownerName}); err != nil {
			return err
		}
		if _, err := insertWorkspace(ctx, q, w, t.UserID); err != nil {
			return err
		}
		return insertToken(ctx, q, t)
	})
}

// CreateWorkspace creates another workspace. The idempotency key belongs to the principal
// from.
func (s *WorkspaceStore) CreateWorkspace(
	ctx context.Context, from uuid.UUID, w workspace.Workspace, owner uuid.UUID, key idempotency.Key,
) (created workspace.Workspace, replayed bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, from, key, w.ID)
		if err != nil {
			return err
		}
		if replayed = earlier != uuid.Nil; replayed {
			row, err := q.GetWorkspace(ctx, earlier)
			created = workspaceFromRow(row)
			return tx.OrNotFound(err, "workspace")
		}
		created, err = insertWorkspace(ctx, q, w, owner)
		return err
	})
	return created, replayed, err
}

func insertWorkspace(
	ctx context.Context, q *queries, w workspace.Workspace, owner uuid.UUID,
) (workspace.Workspace, error) {
	row, err := q.InsertWorkspace(ctx, db.InsertWorkspaceParams{ID: w.ID, Name: w.Name, TimeZone: w.TimeZone})
	if err != nil {
		return workspace.Workspace{}, err
	}
	if _, err := q.InsertMember(ctx, db.InsertMemberParams{
		WorkspaceID: w.ID, UserID: owner, Role: db.MemberRoleOwner,
		Joined: true,
	}); err != nil {
		return workspace.Workspace{}, err
	}
	return workspaceFromRow(row), tx.Record(ctx, q.tx, w.ID, audit.WorkspaceCreated, "workspace", w.ID,
		map[string]any{"name": w.Name, "owner": owner})
}

// Workspace returns a workspace.
func (s *WorkspaceStore) Workspace(ctx context.Context, id uuid.UUID) (workspace.Workspace, error) {
	row, err := s.q.GetWorkspace(ctx, id)
	return workspaceFromRow(row), err
}

// ChangeWorkspace changes settings of a workspace; nil keeps a setting.
func (s *WorkspaceStore) ChangeWorkspace(
	ctx context.Context, id uuid.UUID, c workspace.Change,
) (changed workspace.Workspace, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		before, err := q.LockWorkspace(ctx, id)
		if err != nil {
			return tx.OrNotFound(err, "workspace")
		}
		changed = workspaceFromRow(before)
		news := map[string]any{}
		if c.Name != nil && *c.Name != changed.Name {
			changed.Name, news["name"] = *c.Name, *c.Name
		}
		if c.TimeZone != nil && *c.TimeZone != changed.TimeZone {
			changed.TimeZone, news["time_zone"] = *c.TimeZone, *c.TimeZone
		}
		if c.AuthorsNeedApproval != nil && *c.AuthorsNeedApproval != changed.AuthorsNeedApproval {
			changed.AuthorsNeedApproval, news["authors_need_approval"] = *c.AuthorsNeedApproval, *c.AuthorsNeedApproval
		}
		if c.KeepMediaCredit != nil && *c.KeepMediaCredit != changed.KeepMediaCredit {
			changed.KeepMediaCredit, news["keep_media_credit"] = *c.KeepMediaCredit, *c.KeepMediaCredit
		}
		if len(news) == 0 {
			return nil
		}
		if _, err := q.UpdateWorkspace(ctx,
			db.UpdateWorkspaceParams{
				ID: id, Name: changed.Name, TimeZone: changed.TimeZone,
				AuthorsNeedApproval: changed.AuthorsNeedApproval,
				KeepMediaCredit:     changed.KeepMediaCredit,
			}); err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, id, audit.WorkspaceChanged, "workspace", id, news)
	})
	return changed, err
}

// WorkspacesOf lists the workspaces of a user, oldest first.
func (s *WorkspaceStore) WorkspacesOf(ctx context.Context, user uuid.UUID) ([]workspace.Membership, error) {
	rows, err := s.q.WorkspacesOfUser(ctx, user)
	list := make([]workspace.Membership, len(rows))
	for i, r := range rows {
		list[i] = workspace.Membership{Workspace: workspaceFromRow(r.Workspace), Role: workspace.Role(r.Role)}
	}
	return list, err
}

// User returns a user.
func (s *WorkspaceStore) User(ctx context.Context, id uuid.UUID) (workspace.User, error) {
	row, err := s.q.GetUser(ctx, id)
	return workspace.User{ID: row.ID, Name: row.Name, Email: optional.Value(row.Email)}, tx.OrNotFound(err, "user")
}

func workspaceFromRow(r db.Workspace) workspace.Workspace {
	return workspace.Workspace{
		ID: r.ID, Name: r.Name, TimeZone: r.TimeZone, AuthorsNeedApproval: r.AuthorsNeedApproval,
		KeepMediaCredit: r.KeepMediaCredit,
	}
}
