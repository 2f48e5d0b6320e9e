package identity

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/identity/db"
	"dateline/internal/storage/postgres/tx"
)

// Members lists a workspace's members, oldest first.
func (s *WorkspaceStore) Members(ctx context.Context, f workspace.MemberFilter) ([]workspace.Member, error) {
	rows, err := s.q.ListMembers(ctx, db.ListMembersParams{
		WorkspaceID: f.WorkspaceID, AfterTime: f.AfterTime,
		AfterID:  f.AfterID,
		PageSize: f.Limit,
	})
	members := make([]workspace.Member, len(rows))
	for i, r := range rows {
		members[i] = memberFromRow(db.GetMemberRow(r))
	}
	return members, err
}

// Invite adds the user with an e-mail address as a member. An unknown user is created and
// can log in only with that address.
func (s *WorkspaceStore) Invite(
	ctx context.Context, workspaceID uuid.UUID, email string, role workspace.Role, key idempotency.Key,
) (m workspace.Member, replayed bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		user, err := q.UserOfEmail(ctx, db.UserOfEmailParams{ID: column.NewID(), Email: email})
		if err != nil {
			return err
		}
		earlier, err := tx.ClaimKey(ctx, q.tx, workspaceID, key, user.ID)
		if err != nil {
			return err
		}
		if replayed = earlier != uuid.Nil; replayed {
			m, err = member(ctx, q, workspaceID, earlier)
			return err
		}
		added, err := q.InsertMember(ctx, db.InsertMemberParams{
			WorkspaceID: workspaceID, UserID: user.ID, Role: db.MemberRole(role),
		})
		if err != nil {
			return err
		}
		if added == 0 {
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "already_member",
				Message: "The user with this address is already a member. To change the role, update the member.",
			}
		}
		if m, err = member(ctx, q, workspaceID, user.ID); err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.MemberInvited, "member", user.ID, map[string]any{"role": role})
	})
	return m, replayed, err
}

// ChangeRole changes the role of a member. The last owner's role cannot be changed.
func (s *WorkspaceStore) ChangeRole(
	ctx context.Context, workspaceID, user uuid.UUID, role workspace.Role,
) (m workspace.Member, err error) {
	err = s.onMember(ctx, workspaceID, user, func(q *queries, before workspace.Member) error {
		if m = before; m.Role == role {
			return nil
		}
		m.Role = role
		changed, err := q.SetRole(ctx, db.SetRoleParams{
			WorkspaceID: workspaceID, UserID: user, Role: db.MemberRole(role),
		})
		if err != nil {
			return err
		}
		if changed == 0 {
			return lastOwner()
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.MemberRoleChanged, "member", user, map[string]any{
			"from": before.Role, "to": role,
		})
	})
	return m, err
}

// RemoveMember deletes a membership, the member's API tokens, and pending authorizations
// of accounts. The last owner cannot be removed.
func (s *WorkspaceStore) RemoveMember(ctx context.Context, workspaceID, user uuid.UUID) error {
	return s.onMember(ctx, workspaceID, user, func(q *queries, before workspace.Member) error {
		// Delete the membership first: this waits for concurrent inserts of tokens.
		deleted, err := q.DeleteMember(ctx, db.DeleteMemberParams{WorkspaceID: workspaceID, UserID: user})
		if err != nil {
			return err
		}
		if deleted == 0 {
			return lastOwner()
		}
		revoked, err := q.RevokeTokensOfMember(ctx, db.RevokeTokensOfMemberParams{
			WorkspaceID: workspaceID, UserID: user,
		})
		if err != nil {
			return err
		}
		if err := q.DropAttemptsOfMember(ctx, db.DropAttemptsOfMemberParams{
			WorkspaceID: workspaceID,
			UserID:      user,
		}); err != nil {
			return err
		}
		if err := q.DropChoicesOfMember(ctx, db.DropChoicesOfMemberParams{
			WorkspaceID: workspaceID,
			UserID:      user,
		}); err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.MemberRemoved, "member", user, map[string]any{
			"role": before.Role, "tokens_revoked": revoked,
		})
	})
}

// onMember changes a member while it holds a lock on the workspace's members.
func (s *WorkspaceStore) onMember(
	ctx context.Context, workspaceID, user uuid.UUID, do func(*queries, workspace.Member) error,
) error {
	return s.inTx(ctx, func(q *queries) error {
		if _, err := q.LockWorkspace(ctx, workspaceID); err != nil {
			return tx.OrNotFound(err, "workspace")
		}
		before, err := member(ctx, q, workspaceID, user)
		if err != nil {
			return err
		}
		return do(q, before)
	})
}

func lastOwner() error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "last_owner",
		Message: "A workspace must have an owner who has logged in. Make another member owner first, who must " +
			"then log in.",
	}
}

func member(ctx context.Context, q *queries, workspaceID, user uuid.UUID) (workspace.Member, error) {
	row, err := q.GetMember(ctx, db.GetMemberParams{WorkspaceID: workspaceID, UserID: user})
	return memberFromRow(row), tx.OrNotFound(err, "member")
}

func memberFromRow(r db.GetMemberRow) workspace.Member {
	return workspace.Member{
		User:      workspace.User{ID: r.UserID, Name: r.Name, Email: optional.Value(r.Email)},
		Role:      workspace.Role(r.Role),
		CreatedAt: r.CreatedAt.UTC(), JoinedAt: optional.UTC(r.JoinedAt),
		LoginLinkExpiresAt: optional.UTC(r.LoginLinkExpiresAt),
	}
}
