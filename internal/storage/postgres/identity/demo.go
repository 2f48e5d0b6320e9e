package identity

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/storage/postgres/tx"
)

// demoKey is the setting with the id of the demo.
const demoKey = "demo_workspace"

// DemoWorkspace returns the demo with its first owner.
func (s *WorkspaceStore) DemoWorkspace(
	ctx context.Context,
) (w workspace.Workspace, owner uuid.UUID, found bool, err error) {
	row, err := s.q.DemoWorkspace(ctx)
	if tx.NoRows(err) {
		return workspace.Workspace{}, uuid.Nil, false, nil
	}
	if err != nil {
		return workspace.Workspace{}, uuid.Nil, false, err
	}
	owner, err = s.q.FirstOwner(ctx, row.ID)
	return workspaceFromRow(row), owner, err == nil, err
}

// CreateDemo creates the demo with its owner, or returns the one that exists.
func (s *WorkspaceStore) CreateDemo(
	ctx context.Context, w workspace.Workspace, owner uuid.UUID,
) (demo workspace.Workspace, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		if err := q.LockDemo(ctx); err != nil {
			return err
		}
		row, err := q.DemoWorkspace(ctx)
		if !tx.NoRows(err) {
			demo = workspaceFromRow(row)
			return err
		}
		if demo, err = insertWorkspace(ctx, q, w, owner); err != nil {
			return err
		}
		return tx.PutSetting(ctx, q.tx, demoKey, w.ID.String())
	})
	return demo, err
}

// DeleteDemo deletes the demo with everything in it, if it is the given workspace. Sessions that
// show it show another workspace of their user then.
func (s *WorkspaceStore) DeleteDemo(ctx context.Context, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		if err := q.LockDemo(ctx); err != nil {
			return err
		}
		row, err := q.DemoWorkspace(ctx)
		if err != nil {
			return tx.OrNotFound(err, "demo")
		}
		if row.ID != id {
			return apperr.NotFound("demo")
		}
		if err := q.MoveSessionsFrom(ctx, id); err != nil {
			return err
		}
		if err := q.DeletePostsOf(ctx, id); err != nil {
			return err
		}
		return q.DeleteWorkspace(ctx, id)
	})
}
