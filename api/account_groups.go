package api

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
)

// QueueHandler serves groups of accounts with their slots and queues.
type QueueHandler struct {
	Groups    AccountGroups
	Zones     ZoneStore
	Scheduler PostPreviewer
	PostChanges
}

// AccountGroups manages groups of accounts and their queue slots.
type AccountGroups interface {
	List(ctx context.Context, who workspace.Principal) ([]account.Group, error)
	Create(ctx context.Context, who workspace.Principal, g account.Group) (account.Group, error)
	Update(ctx context.Context, who workspace.Principal, id uuid.UUID, u account.GroupUpdate) (account.Group, error)
	Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error
}

// maxSlotWindow is the longest time for which slots are listed at once.
const maxSlotWindow = 100 * 24 * time.Hour

// ListAccountGroups lists account groups.
func (s *QueueHandler) ListAccountGroups(
	ctx context.Context, _ spec.ListAccountGroupsRequestObject,
) (spec.ListAccountGroupsResponseObject, error) {
	groups, err := s.Groups.List(ctx, principal(ctx))
	out := spec.ListAccountGroups200JSONResponse{Groups: []spec.AccountGroup{}}
	for _, g := range groups {
		out.Groups = append(out.Groups, groupJSON(g))
	}
	return out, err
}

// CreateAccountGroup creates an account group.
func (s *QueueHandler) CreateAccountGroup(
	ctx context.Context, r spec.CreateAccountGroupRequestObject,
) (spec.CreateAccountGroupResponseObject, error) {
	b := r.Body
	zone := optional.Value(b.TimeZone)
	if zone == "" {
		w, err := s.Zones.Workspace(ctx, principal(ctx).WorkspaceID)
		if err != nil {
			return nil, err
		}
		zone = w.TimeZone
	}
	g, err := s.Groups.Create(ctx, principal(ctx), account.Group{
		Name: b.Name, Color: or(b.Color, "indigo"),
		AccountIDs: b.Accounts,
		TimeZone:   zone, Slots: optional.Value(slotsOf(b.Slots)),
	})
	return spec.CreateAccountGroup201JSONResponse(groupJSON(g)), err
}

// UpdateAccountGroup updates an account group.
func (s *QueueHandler) UpdateAccountGroup(
	ctx context.Context, r spec.UpdateAccountGroupRequestObject,
) (spec.UpdateAccountGroupResponseObject, error) {
	b := r.Body
	g, err := s.Groups.Update(ctx, principal(ctx), r.Id,
		account.GroupUpdate{
			Name: b.Name, Color: b.Color, AccountIDs: b.Accounts,
			TimeZone: b.TimeZone, Slots: slotsOf(b.Slots),
		})
	return spec.UpdateAccountGroup200JSONResponse(groupJSON(g)), err
}

// DeleteAccountGroup deletes an account group.
func (s *QueueHandler) DeleteAccountGroup(
	ctx context.Context, r spec.DeleteAccountGroupRequestObject,
) (spec.DeleteAccountGroupResponseObject, error) {
	return spec.DeleteAccountGroup204Response{}, s.Groups.Delete(ctx, principal(ctx), r.Id)
}

// ReorderQueue moves a post within a queue.
func (s *QueueHandler) ReorderQueue(
	ctx context.Context, r spec.ReorderQueueRequestObject,
) (spec.ReorderQueueResponseObject, error) {
	who := principal(ctx)
	moved, err := s.Scheduler.ReorderQueue(ctx, post.Guard{
		WorkspaceID: who.WorkspaceID, PostID: r.Body.PostId,
		Actor: who.Actor(), UserID: who.UserID,
		IsAuthor: who.Role == workspace.Author,
	}, post.QueueMove{
		GroupID: r.Id, PostID: r.Body.PostId, Before: optional.Value(r.Body.Before),
	})
	out := spec.ReorderQueue200JSONResponse{Posts: make([]spec.Post, 0, len(moved))}
	ids := make([]uuid.UUID, 0, len(moved))
	for _, p := range moved {
		out.Posts, ids = append(out.Posts, s.postJSON(p)), append(ids, p.ID)
	}
	s.nudgeAll(ctx, ids)
	return out, err
}

// ListQueueSlots lists slots of queues.
func (s *QueueHandler) ListQueueSlots(
	ctx context.Context, r spec.ListQueueSlotsRequestObject,
) (spec.ListQueueSlotsResponseObject, error) {
	if d := r.Params.To.Sub(r.Params.From); d <= 0 || d > maxSlotWindow {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "to", Code: "invalid", Message: "Name a time after from, at most 100 days later.",
		})
	}
	slots, err := s.Scheduler.Slots(ctx, principal(ctx), r.Params.From, r.Params.To)
	out := spec.ListQueueSlots200JSONResponse{Slots: make([]spec.SlotInstance, 0, len(slots))}
	for _, one := range slots {
		out.Slots = append(out.Slots, spec.SlotInstance{QueueGroupId: one.GroupID, At: one.At, PostId: one.PostID})
	}
	return out, err
}

func groupJSON(g account.Group) spec.AccountGroup {
	out := spec.AccountGroup{
		Id: g.ID, Name: g.Name, Color: g.Color, Accounts: g.AccountIDs, TimeZone: g.TimeZone,
		Slots: make([]spec.QueueSlot, 0, len(g.Slots)), CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
	}
	for _, one := range g.Slots {
		out.Slots = append(out.Slots, spec.QueueSlot{Weekday: one.Weekday, Time: one.Time})
	}
	return out
}

func slotsOf(slots *[]spec.QueueSlot) *[]account.Slot {
	if slots == nil {
		return nil
	}
	out := make([]account.Slot, len(*slots))
	for i, one := range *slots {
		out[i] = account.Slot{Weekday: one.Weekday, Time: one.Time}
	}
	return &out
}
