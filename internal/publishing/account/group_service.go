package account

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
)

// GroupStore stores groups of accounts.
type GroupStore interface {
	Groups(ctx context.Context, workspace uuid.UUID) ([]Group, error)
	CreateGroup(ctx context.Context, g Group, maxGroups int) (Group, error)
	UpdateGroup(ctx context.Context, g Group) (Group, error)
	DeleteGroup(ctx context.Context, workspace, id uuid.UUID) error
	AccountsByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) ([]Account, error)
}

// Groups manages groups of accounts.
type Groups struct{ Store GroupStore }

// GroupUpdate is a change of a group; nil leaves a field as it is.
type GroupUpdate struct {
	Name       *string
	Color      *string
	AccountIDs *[]uuid.UUID
	TimeZone   *string
	Slots      *[]Slot
}

// List lists a workspace's groups by name.
func (s *Groups) List(ctx context.Context, who workspace.Principal) ([]Group, error) {
	return s.Store.Groups(ctx, who.WorkspaceID)
}

// Get reads a group.
func (s *Groups) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Group, error) {
	all, err := s.Store.Groups(ctx, who.WorkspaceID)
	for _, g := range all {
		if g.ID == id {
			return g, nil
		}
	}
	if err == nil {
		err = apperr.NotFound("account group")
	}
	return Group{}, err
}

// Create stores a group.
func (s *Groups) Create(ctx context.Context, who workspace.Principal, g Group) (Group, error) {
	g.ID, g.WorkspaceID = uuid.Must(uuid.NewV7()), who.WorkspaceID
	g, err := s.checked(ctx, g)
	if err != nil {
		return Group{}, err
	}
	return s.Store.CreateGroup(ctx, g, MaxGroups)
}

// Update changes a group. Posts that have a slot keep their time.
func (s *Groups) Update(ctx context.Context, who workspace.Principal, id uuid.UUID, u GroupUpdate) (Group, error) {
	g, err := s.Get(ctx, who, id)
	if err != nil {
		return Group{}, err
	}
	set(&g.Name, u.Name)
	set(&g.Color, u.Color)
	set(&g.AccountIDs, u.AccountIDs)
	set(&g.TimeZone, u.TimeZone)
	set(&g.Slots, u.Slots)
	if g, err = s.checked(ctx, g); err != nil {
		return Group{}, err
	}
	return s.Store.UpdateGroup(ctx, g)
}

// Delete deletes a group. Its posts stay scheduled.
func (s *Groups) Delete(ctx context.Context, who workspace.Principal, id uuid.UUID) error {
	return s.Store.DeleteGroup(ctx, who.WorkspaceID, id)
}

func (s *Groups) checked(ctx context.Context, g Group) (Group, error) {
	g.Name = strings.TrimSpace(g.Name)
	g.Slots = g.SortedSlots()
	if err := g.Validate(); err != nil {
		return g, err
	}
	known, err := s.Store.AccountsByID(ctx, g.WorkspaceID, g.AccountIDs)
	if err != nil {
		return g, err
	}
	if len(known) != len(g.AccountIDs) {
		return g, invalid("accounts", "unknown", "Name accounts of this workspace, each once.")
	}
	return g, nil
}

func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}
