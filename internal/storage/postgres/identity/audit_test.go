package identity_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"dateline/internal/identity/audit"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/publishing/post"
	"dateline/internal/testing/storetest"
)

// audited lists the workspace's entries since its account was connected, oldest first.
func (n *newsroom) audited() (lines []string) {
	n.T.Helper()
	entries, err := n.Identity.Workspaces.AuditLog(n.T.Context(), audit.Filter{WorkspaceID: n.Workspace.ID, Limit: 100})
	n.Must(err)
	for _, e := range entries {
		if e.Action != audit.WorkspaceCreated && e.Action != audit.AccountConnected && e.Object.ID != n.firstToken() {
			lines = append([]string{fmt.Sprint(e.Origin.Actor, " ", e.Action)}, lines...)
		}
	}
	return lines
}

func (n *newsroom) firstToken() (id uuid.UUID) {
	n.T.Helper()
	n.Query(&id, "select id from api_tokens where user_id = $1 order by created_at limit 1", n.User)
	return id
}

// by returns the context of a request of the owner.
func (n *newsroom) by(ctx context.Context) context.Context {
	return audit.With(ctx, audit.Origin{Actor: audit.User, UserID: n.User, TokenID: n.firstToken(), RequestID: storetest.NewID()})
}

func TestAudit_RecordsChangesByUsersOnly(t *testing.T) {
	n := open(t)
	ctx := n.by(t.Context())
	person := n.Create()
	_, err := n.Publishing.Posts.Cancel(ctx, n.Guard(person))
	n.Must(err)
	for _, actor := range []string{post.ActorOperator, post.ActorDateline} {
		p := n.Create()
		_, err := n.Publishing.Posts.Cancel(t.Context(), post.Guard{WorkspaceID: n.Workspace.ID, PostID: p.ID, Actor: actor})
		n.Must(err)
	}
	failed := n.Finish(storetest.Failure(n.Claim(n.Create(), 0, 1, 0)))
	_, err = n.Publishing.Ledger.Discard(ctx, n.Guard(failed), nil)
	n.Must(err)
	_, err = n.Publishing.Posts.Cancel(ctx, n.Guard(failed)) // too late
	storetest.Refused(t, err)
	if got := strings.Join(n.audited(), ", "); got != "user post.canceled, operator post.canceled, user "+
		"post.discarded" {
		t.Error(got)
	}
	entries, err := n.Identity.Workspaces.AuditLog(t.Context(), audit.Filter{WorkspaceID: n.Workspace.ID, ObjectID: &person.ID, Limit: 10})
	n.Must(err)
	want := audit.OriginOf(ctx)
	require.Len(t, entries, 1)
	require.Equal(t, want, entries[0].Origin)
	require.Equal(t, "Owner of Desk", entries[0].UserName)
	require.Equal(t, "cli", entries[0].TokenName)
	require.Equal(t, (audit.Object{Type: "post", ID: person.ID, Name: person.Content}), entries[0].Object)
}

func TestAudit_RecordsLoginsInEveryWorkspace(t *testing.T) {
	n := open(t)
	elsewhere, _, _ := n.Found("Elsewhere")
	n.Exec("insert into members (workspace_id, user_id, role) values ($1, $2, 'viewer')", elsewhere.ID, n.User)
	session := storetest.NewID()
	n.Must(n.Identity.Logins.RecordLogin(t.Context(), n.User, session, nil))
	for _, workspaceID := range []uuid.UUID{n.Workspace.ID, elsewhere.ID} {
		entries, err := n.Identity.Workspaces.AuditLog(t.Context(), audit.Filter{
			WorkspaceID: workspaceID, Actions: []string{string(audit.LoggedIn)}, Limit: 10,
		})
		require.NoError(t, err, "%+v %v", entries, err)
		require.Len(t, entries, 1, "%+v %v", entries, err)
		require.Equal(t, n.User, entries[0].Origin.UserID, "%+v %v", entries, err)
		require.Equal(t, session, entries[0].Origin.SessionID, "%+v %v", entries, err)
		require.Equal(t, session, entries[0].Object.ID, "%+v %v", entries, err)
	}
}

func TestAudit_OmitsRejectedChanges(t *testing.T) {
	n := open(t)
	name := n.Workspace.Name
	_, err := n.Identity.Workspaces.ChangeWorkspace(t.Context(), n.Workspace.ID, workspace.Change{Name: &name})
	n.Must(err)
	_, err = n.Identity.Workspaces.ChangeRole(t.Context(), n.Workspace.ID, n.User, workspace.Owner)
	n.Must(err)
	_, err = n.Identity.Workspaces.ChangeRole(t.Context(), n.Workspace.ID, n.User, workspace.Viewer)
	storetest.Refused(t, err)
	storetest.Refused(t, n.Identity.Workspaces.RemoveMember(t.Context(), n.Workspace.ID, n.User))
	storetest.Refused(t, n.Identity.Workspaces.RevokeToken(t.Context(), n.Workspace.ID, storetest.NewID(), nil))
	_, _, err = n.Identity.Workspaces.CreateToken(t.Context(), workspace.Token{
		ID: storetest.NewID(), WorkspaceID: n.Workspace.ID, UserID: storetest.NewID(),
		Name: "x",
	}, idempotency.Key{})
	storetest.Refused(t, err)
	if got := n.audited(); len(got) != 0 {
		t.Error(got)
	}
}

func TestAudit_IsAppendOnly(t *testing.T) {
	n := open(t)
	c, err := pgx.Connect(t.Context(), n.URL)
	n.Must(err)
	defer func() { _ = c.Close(t.Context()) }()
	if _, err := c.Exec(t.Context(), "update audit_log set actor = 'dateline', user_id = null"); err == nil ||
		!strings.Contains(err.Error(), "never changed") {
		t.Errorf("an update: got %v", err)
	}
}

func TestAudit_IsDeletedWithItsWorkspace(t *testing.T) {
	n := open(t)
	n.Exec("delete from workspaces")
	var left int
	n.Query(&left, "select count(*) from audit_log")
	if left != 0 {
		t.Errorf("%d entries are left", left)
	}
}
