package identity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/storage/postgres"
)

// tokenStatus returns the status of a token.
func (n *newsroom) tokenStatus(plain string) workspace.TokenStatus {
	n.T.Helper()
	who, status, err := n.Identity.Workspaces.Bearer(n.T.Context(), workspace.HashToken(plain))
	n.Must(err)
	if status != workspace.TokenActive && (who.WorkspaceID != (workspace.Principal{}).WorkspaceID || who.Role != "" ||
		who.Scopes != nil) {
		n.T.Errorf("a token with status %d identifies %+v", status, who)
	}
	return status
}

func TestToken_IsStoredAsHashOnly(t *testing.T) {
	n := open(t)
	var leaks int
	n.Query(&leaks, "select count(*) from api_tokens t where t::text like '%' || $1 || '%'", n.Token[7:])
	if leaks != 0 {
		t.Error("the token is stored in plain text")
	}
	who, status, err := n.Identity.Workspaces.Bearer(t.Context(), workspace.HashToken(n.Token))
	if err != nil || status != workspace.TokenActive {
		t.Fatal(status, err)
	}
	require.Equal(t, n.Workspace.ID, who.WorkspaceID)
	require.Equal(t, n.User, who.UserID)
	require.Equal(t, workspace.Owner, who.Role)
	require.Equal(t, "cli", who.TokenName)
	require.True(t, who.Has(workspace.AuditRead))
	if got := n.tokenStatus(n.Token + "x"); got != workspace.TokenUnknown {
		t.Errorf("another token is %d", got)
	}
}

func TestBearer_ReturnsTokenStatus(t *testing.T) {
	n := open(t)
	replacement, plain := workspace.NewToken(n.Workspace.ID, n.User, "cli")
	n.Must(n.Identity.Workspaces.ReplaceToken(t.Context(), replacement))
	if old, fresh := n.tokenStatus(n.Token), n.tokenStatus(plain); old != workspace.TokenRevoked ||
		fresh != workspace.TokenActive {
		t.Errorf("old %d, new %d", old, fresh)
	}
	other, otherPlain := workspace.NewToken(n.Workspace.ID, n.User, "other")
	n.Must(n.Identity.Workspaces.ReplaceToken(t.Context(), other))
	if got := n.tokenStatus(plain); got != workspace.TokenActive {
		t.Errorf("a token of another name is %d", got)
	}
	n.Exec("update api_tokens set expires_at = now() + interval '1 hour' where id = $1", other.ID)
	if got := n.tokenStatus(otherPlain); got != workspace.TokenActive {
		t.Errorf("before it expires it is %d", got)
	}
	n.Exec("update api_tokens set expires_at = now() - interval '1 second' where id = $1", other.ID)
	if got := n.tokenStatus(otherPlain); got != workspace.TokenExpired {
		t.Errorf("after it has expired it is %d", got)
	}
}

func TestReplaceToken_KeepsTokensOfOthers(t *testing.T) {
	n := open(t)
	_, _, err := n.Identity.Workspaces.Invite(t.Context(), n.Workspace.ID, "other@news.example", workspace.Owner, idempotency.Key{})
	n.Must(err)
	var other workspace.Token
	n.Query(&other.UserID, "select id from users where email = 'other@news.example'")
	other, plain := workspace.NewToken(n.Workspace.ID, other.UserID, "cli")
	n.Must(n.Identity.Workspaces.ReplaceToken(t.Context(), other))
	if mine, theirs := n.tokenStatus(n.Token), n.tokenStatus(plain); mine != workspace.TokenActive ||
		theirs != workspace.TokenActive {
		t.Errorf("mine %d, theirs %d", mine, theirs)
	}
}

func TestBearer_TokenEndsWithTheMembership(t *testing.T) {
	n := open(t)
	n.Exec("delete from members where user_id = $1", n.User)
	if got := n.tokenStatus(n.Token); got != workspace.TokenUnknown {
		t.Errorf("after the membership ended it is %d", got)
	}
}

// The use is recorded asynchronously: closing the store waits for it.
func TestToken_LastUsedUpdatesOncePerMinute(t *testing.T) {
	n := open(t)
	used := func() (at *time.Time) {
		t.Helper()
		s, err := postgres.Open(t.Context(), n.URL)
		n.Must(err)
		for range 3 {
			_, _, err = s.Identity.Workspaces.Bearer(t.Context(), workspace.HashToken(n.Token))
			n.Must(err)
		}
		s.Close()
		n.Query(&at, "select last_used_at from api_tokens")
		return at
	}
	first := used()
	if first == nil {
		t.Fatal("the use was not recorded")
	}
	if second := used(); !second.Equal(*first) {
		t.Errorf("recorded at %s and at %s", first, second)
	}
	n.Exec("update api_tokens set last_used_at = now() - interval '2 minutes'")
	if third := used(); third.Before(*first) {
		t.Errorf("still recorded at %s", third)
	}
}

func TestToken_LastUsedUpdatesWhileStoreIsOpen(t *testing.T) {
	n := open(t)
	n.tokenStatus(n.Token)
	for noted := false; !noted; {
		n.Query(&noted, "select last_used_at is not null from api_tokens")
	}
}

func TestFirstWorkspace_IsTheOldest(t *testing.T) {
	n := open(t)
	n.Found("Later")
	w, owner, found, err := n.Identity.Workspaces.FirstWorkspace(t.Context())
	if err != nil || !found || w != n.Workspace || owner != n.User {
		t.Errorf("%+v %s %v %v", w, owner, found, err)
	}
	if got, err := n.Identity.Workspaces.Workspace(t.Context(), w.ID); err != nil || got != w {
		t.Errorf("%+v %v", got, err)
	}
}
