package workspace

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
)

// DemoStore stores which workspace is the demo.
type DemoStore interface {
	// DemoWorkspace returns the demo with its first owner.
	DemoWorkspace(ctx context.Context) (w Workspace, owner uuid.UUID, found bool, err error)
	// CreateDemo creates the demo, or returns the one that exists.
	CreateDemo(ctx context.Context, w Workspace, owner uuid.UUID) (Workspace, error)
	// DeleteDemo deletes the demo with everything in it. Its sessions show another workspace of their
	// user then.
	DeleteDemo(ctx context.Context, id uuid.UUID) error
	WorkspacesOf(ctx context.Context, user uuid.UUID) ([]Membership, error)
}

// DemoContent fills the demo, and releases what is not in the database before it is deleted.
type DemoContent interface {
	Created(w Workspace, owner uuid.UUID)
	Deleting(ctx context.Context, w Workspace) error
}

// Demo is a workspace of sample data. An installation has at most one, so that nothing of it mixes
// with real data and it can be removed as a whole.
type Demo struct {
	Store   DemoStore
	Content DemoContent
	Zone    string // time zone of the demo
	Log     *slog.Logger
}

// demoName is the same in English and Vietnamese.
const demoName = "Demo"

// Find returns the demo, if the principal's user is a member.
func (d *Demo) Find(ctx context.Context, who Principal) (w Workspace, found bool, err error) {
	m, found, err := d.membership(ctx, who)
	return m.Workspace, found, err
}

// Create creates the demo, whose owner is the requesting user. If it exists, its members get it.
func (d *Demo) Create(ctx context.Context, who Principal) (Workspace, error) {
	wanted := Workspace{ID: uuid.Must(uuid.NewV7()), Name: demoName, TimeZone: d.Zone}
	w, err := d.Store.CreateDemo(ctx, wanted, who.UserID)
	if err != nil {
		return Workspace{}, err
	}
	if w.ID == wanted.ID {
		d.Content.Created(w, who.UserID)
		return w, nil
	}
	_, found, err := d.membership(ctx, who)
	if err == nil && !found {
		err = &apperr.Error{
			Kind: apperr.KindConflict, Code: "demo_exists",
			Message: "This installation has a demo of other people. Ask an owner of it to invite you, or to remove it.",
		}
	}
	return w, err
}

// Remove deletes the demo with everything in it. Only its owners may.
func (d *Demo) Remove(ctx context.Context, who Principal) error {
	m, found, err := d.membership(ctx, who)
	switch {
	case err != nil:
		return err
	case !found:
		return &apperr.Error{
			Kind: apperr.KindNotFound, Code: "demo_not_found",
			Message: "There is no demo, or you are not a member of it.",
		}
	case m.Role != Owner:
		return &apperr.Error{
			Kind: apperr.KindConflict, Code: "demo_not_owned",
			Message: "Only owners of the demo can remove it. Ask one of them.",
		}
	}
	if err := d.Content.Deleting(ctx, m.Workspace); err != nil {
		return err
	}
	d.Log.InfoContext(ctx, "the demo was removed", "workspace_id", m.Workspace.ID, "user_id", who.UserID)
	return d.Store.DeleteDemo(ctx, m.Workspace.ID)
}

// membership returns the principal's membership in the demo.
func (d *Demo) membership(ctx context.Context, who Principal) (Membership, bool, error) {
	w, _, found, err := d.Store.DemoWorkspace(ctx)
	if err != nil || !found {
		return Membership{}, false, err
	}
	memberships, err := d.Store.WorkspacesOf(ctx, who.UserID)
	for _, m := range memberships {
		if m.Workspace.ID == w.ID {
			return m, true, err
		}
	}
	return Membership{}, false, err
}
