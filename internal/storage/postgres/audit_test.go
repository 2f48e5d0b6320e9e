package postgres_test

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
)

// audited lists the workspace's entries since its account was connected, oldest first.
func (n *newsroom) audited() (lines []string) {
	n.t.Helper()
	entries, err := n.AuditLog(n.t.Context(), audit.Filter{WorkspaceID: n.workspace.ID, Limit: 100})
	n.must(err)
	for _, e := range entries {
		if e.Action != audit.WorkspaceCreated && e.Action != audit.AccountConnected && e.Object.ID != n.firstToken() {
			lines = append([]string{fmt.Sprint(e.Origin.Actor, " ", e.Action)}, lines...)
		}
	}
	return lines
}

func (n *newsroom) firstToken() (id uuid.UUID) {
	n.t.Helper()
	n.query(&id, "select id from api_tokens where user_id = $1 order by created_at limit 1", n.user)
	return id
}

// by returns the context of a request of the owner.
func (n *newsroom) by(ctx context.Context) context.Context {
	return audit.With(ctx, audit.Origin{Actor: audit.User, UserID: n.user, TokenID: n.firstToken(), RequestID: newID()})
}

func TestAudit_RecordsChangesByUsersOnly(t *testing.T) {
	n := open(t)
	ctx := n.by(t.Context())
	person := n.create()
	_, err := n.Cancel(ctx, n.guard(person))
	n.must(err)
	for _, actor := range []string{post.ActorOperator, post.ActorDateline} {
		p := n.create()
		_, err := n.Cancel(t.Context(), post.Guard{WorkspaceID: n.workspace.ID, PostID: p.ID, Actor: actor})
		n.must(err)
	}
	failed := n.finish(failure(n.claim(n.create(), 0, 1, 0)))
	_, err = n.Discard(ctx, n.guard(failed), nil)
	n.must(err)
	_, err = n.Cancel(ctx, n.guard(failed)) // too late
	refused(t, err)
	if got := strings.Join(n.audited(), ", "); got != "user post.canceled, operator post.canceled, user "+
		"post.discarded" {
		t.Error(got)
	}
	entries, err := n.AuditLog(t.Context(), audit.Filter{WorkspaceID: n.workspace.ID, ObjectID: &person.ID, Limit: 10})
	n.must(err)
	want := audit.OriginOf(ctx)
	require.Len(t, entries, 1)
	require.Equal(t, want, entries[0].Origin)
	require.Equal(t, "Owner of Desk", entries[0].UserName)
	require.Equal(t, "cli", entries[0].TokenName)
	require.Equal(t, (audit.Object{Type: "post", ID: person.ID}), entries[0].Object)
}

func TestAudit_RecordsLoginsInEveryWorkspace(t *testing.T) {
	n := open(t)
	elsewhere, _, _ := n.found("Elsewhere")
	n.exec("insert into members (workspace_id, user_id, role) values ($1, $2, 'viewer')", elsewhere.ID, n.user)
	session := newID()
	n.must(n.RecordLogin(t.Context(), n.user, session))
	for _, workspaceID := range []uuid.UUID{n.workspace.ID, elsewhere.ID} {
		entries, err := n.AuditLog(t.Context(), audit.Filter{
			WorkspaceID: workspaceID, Actions: []string{string(audit.LoggedIn)}, Limit: 10,
		})
		require.NoError(t, err, "%+v %v", entries, err)
		require.Len(t, entries, 1, "%+v %v", entries, err)
		require.Equal(t, n.user, entries[0].Origin.UserID, "%+v %v", entries, err)
		require.Equal(t, session, entries[0].Origin.SessionID, "%+v %v", entries, err)
		require.Equal(t, session, entries[0].Object.ID, "%+v %v", entries, err)
	}
}

func TestAudit_OmitsRejectedChanges(t *testing.T) {
	n := open(t)
	name := n.workspace.Name
	_, err := n.ChangeWorkspace(t.Context(), n.workspace.ID, workspace.Change{Name: &name})
	n.must(err)
	_, err = n.ChangeRole(t.Context(), n.workspace.ID, n.user, workspace.Owner)
	n.must(err)
	_, err = n.ChangeRole(t.Context(), n.workspace.ID, n.user, workspace.Viewer)
	refused(t, err)
	refused(t, n.RemoveMember(t.Context(), n.workspace.ID, n.user))
	refused(t, n.RevokeToken(t.Context(), n.workspace.ID, newID(), nil))
	_, _, err = n.CreateToken(t.Context(), workspace.Token{
		ID: newID(), WorkspaceID: n.workspace.ID, UserID: newID(),
		Name: "x",
	}, idempotency.Key{})
	refused(t, err)
	if got := n.audited(); len(got) != 0 {
		t.Error(got)
	}
}

func TestAudit_IsAppendOnly(t *testing.T) {
	n := open(t)
	c, err := pgx.Connect(t.Context(), n.url)
	n.must(err)
	defer func() { _ = c.Close(t.Context()) }()
	if _, err := c.Exec(t.Context(), "update audit_log set actor = 'dateline', user_id = null"); err == nil ||
		!strings.Contains(err.Error(), "never changed") {
		t.Errorf("an update: got %v", err)
	}
}

func TestAudit_IsDeletedWithItsWorkspace(t *testing.T) {
	n := open(t)
	n.exec("delete from workspaces")
	var left int
	n.query(&left, "select count(*) from audit_log")
	if left != 0 {
		t.Errorf("%d entries are left", left)
	}
}
