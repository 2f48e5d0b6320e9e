package identity_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/identity/login"
	"dateline/internal/identity/workspace"
	"dateline/internal/testing/storetest"
)

func TestDemo_IsCreatedOnce(t *testing.T) {
	n := open(t)
	created := sideBySide(n, func(int) (bool, error) {
		wanted := workspace.Workspace{ID: storetest.NewID(), Name: "Demo", TimeZone: "UTC"}
		w, err := n.Identity.Workspaces.CreateDemo(t.Context(), wanted, n.User)
		return w.ID == wanted.ID, err
	})
	require.Equal(t, 1, created)
	w, owner, found, err := n.Identity.Workspaces.DemoWorkspace(t.Context())
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, n.User, owner)
	require.Equal(t, "Demo", w.Name)
}

// Whoever looks at the demo while it is deleted sees another workspace, or is logged out without one.
func TestDeleteDemo_MovesSessionsAndKeepsOtherWorkspaces(t *testing.T) {
	n := open(t)
	ctx := t.Context()
	w, err := n.Identity.Workspaces.CreateDemo(ctx, workspace.Workspace{
		ID: storetest.NewID(), Name: "Demo", TimeZone: "UTC",
	}, n.User)
	n.Must(err)
	guest := storetest.NewID()
	n.Exec("insert into users (id, name) values ($1, 'Guest')", guest)
	n.Exec("insert into members (workspace_id, user_id, role, joined_at) values ($1, $2, 'viewer', now())", w.ID, guest)
	now := time.Now()
	for i, user := range []uuid.UUID{n.User, guest} {
		hash := make([]byte, 32)
		hash[0] = byte(i)
		n.Must(n.Identity.Logins.InsertSession(ctx, login.Session{
			ID: storetest.NewID(), UserID: user, WorkspaceID: w.ID, CreatedAt: now, LastUsedAt: now,
		}, hash, login.Limits{}))
	}
	storetest.Refused(t, n.Identity.Workspaces.DeleteDemo(ctx, n.Workspace.ID))
	n.Must(n.Identity.Workspaces.DeleteDemo(ctx, w.ID))
	var shown uuid.UUID
	n.Query(&shown, "select workspace_id from sessions")
	require.Equal(t, n.Workspace.ID, shown)
	_, _, found, err := n.Identity.Workspaces.DemoWorkspace(ctx)
	require.NoError(t, err)
	require.False(t, found)
	storetest.Refused(t, n.Identity.Workspaces.DeleteDemo(ctx, w.ID))
	again, err := n.Identity.Workspaces.CreateDemo(ctx, workspace.Workspace{
		ID: storetest.NewID(), Name: "Demo", TimeZone: "UTC",
	}, n.User)
	require.NoError(t, err)
	require.NotEqual(t, w.ID, again.ID)
}
