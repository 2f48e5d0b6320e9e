package publishing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// Groups lists a workspace's account groups by name.
func (s *AccountStore) Groups(ctx context.Context, workspaceID uuid.UUID) ([]account.Group, error) {
	rows, err := s.q.ListGroups(ctx, workspaceID)
	out := make([]account.Group, len(rows))
	for i, r := range rows {
		out[i] = groupFromRow(r)
	}
	return out, err
}

// CreateGroup stores a group unless the workspace has maxGroups.
func (s *AccountStore) CreateGroup(ctx context.Context, g account.Group, maxGroups int) (account.Group, error) {
	slots, err := json.Marshal(column.List(g.Slots))
	if err != nil {
		return account.Group{}, err
	}
	row, err := s.q.InsertGroup(ctx, db.InsertGroupParams{
		ID: g.ID, WorkspaceID: g.WorkspaceID, Name: g.Name,
		Color:      g.Color,
		AccountIds: g.AccountIDs, TimeZone: g.TimeZone, Slots: slots, MaxGroups: maxGroups,
	})
	if tx.NoRows(err) {
		return account.Group{}, &apperr.Error{
			Kind: apperr.KindConflict, Code: "too_many_groups",
			Message: fmt.Sprintf("This workspace has reached the limit of %d account groups. Delete one first.",
				maxGroups),
		}
	}
	return groupFromRow(row), groupNameError(err)
}

// UpdateGroup stores a changed group.
func (s *AccountStore) UpdateGroup(ctx context.Context, g account.Group) (account.Group, error) {
	slots, err := json.Marshal(column.List(g.Slots))
	if err != nil {
		return account.Group{}, err
	}
	row, err := s.q.UpdateGroup(ctx, db.UpdateGroupParams{
		ID: g.ID, WorkspaceID: g.WorkspaceID, Name: g.Name,
		Color:      g.Color,
		AccountIds: g.AccountIDs, TimeZone: g.TimeZone, Slots: slots,
	})
	return groupFromRow(row), groupNameError(tx.OrNotFound(err, "account group"))
}

// DeleteGroup deletes a group; its posts leave the queue and keep their time.
func (s *AccountStore) DeleteGroup(ctx context.Context, workspaceID, id uuid.UUID) error {
	n, err := s.q.DeleteGroup(ctx, db.DeleteGroupParams{ID: id, WorkspaceID: workspaceID})
	if err == nil && n == 0 {
		err = apperr.NotFound("account group")
	}
	return err
}

// TakenSlots returns which of the times are taken by posts of a group's queue, or by
// other posts on one of the accounts. A post does not conflict with itself.
func (s *AccountStore) TakenSlots(
	ctx context.Context, group account.Group, accounts []uuid.UUID, except uuid.UUID, ats []time.Time,
) (map[time.Time]bool, error) {
	rows, err := s.q.TakenSlots(ctx, db.TakenSlotsParams{
		WorkspaceID: group.WorkspaceID, GroupID: group.ID, AccountIds: column.List(accounts), ExceptPost: except,
		Ats: ats,
	})
	taken := make(map[time.Time]bool, len(rows))
	for _, at := range rows {
		taken[at.UTC()] = true
	}
	return taken, err
}

// QueuedPosts lists the slots in a time window that posts have.
func (s *AccountStore) QueuedPosts(
	ctx context.Context, workspaceID uuid.UUID, from, to time.Time,
) ([]post.QueuedPost, error) {
	rows, err := s.q.QueuedPosts(ctx, db.QueuedPostsParams{WorkspaceID: workspaceID, FromTime: from, ToTime: to})
	out := make([]post.QueuedPost, len(rows))
	for i, r := range rows {
		out[i] = post.QueuedPost{PostID: r.PostID, GroupID: r.QueueGroupID, At: r.At.UTC()}
	}
	return out, err
}

func groupFromRow(r db.AccountGroup) account.Group {
	g := account.Group{
		ID: r.ID, WorkspaceID: r.WorkspaceID, Name: r.Name, Color: r.Color, AccountIDs: r.AccountIds,
		TimeZone:  r.TimeZone,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
	_ = json.Unmarshal(r.Slots, &g.Slots) // the database checks that it is a list
	return g
}

func groupNameError(err error) error {
	if tx.Violates(err, "account_groups_name") {
		return apperr.InvalidFields(apperr.FieldError{
			Field: "name", Code: "taken", Message: "Another group has this name.",
		})
	}
	return err
}

// slotError returns a readable error if the unique index refused a slot of a queue.
func slotError(err error) error {
	if tx.Violates(err, "scheduled_posts_slot") {
		return post.SlotTaken()
	}
	return err
}

// queueGroupOf reads from a change whether the queue of a post changes, and to which.
func queueGroupOf(c post.Change) (set bool, group *uuid.UUID) {
	if c.QueueGroupID == nil {
		return false, nil
	}
	return true, optional.Of(*c.QueueGroupID)
}
