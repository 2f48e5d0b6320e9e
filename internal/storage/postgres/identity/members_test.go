package identity_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/testing/storetest"
)

// join makes a new user, who has logged in, a member.
func (n *newsroom) join(role workspace.Role) uuid.UUID {
	n.T.Helper()
	m, _, err := n.Identity.Workspaces.Invite(n.T.Context(), n.Workspace.ID, storetest.NewID().String()+"@news.example", role, idempotency.Key{})
	n.Must(err)
	n.Must(n.Identity.Logins.RecordLogin(n.T.Context(), m.User.ID, storetest.NewID(), nil))
	return m.User.ID
}

func (n *newsroom) members() map[uuid.UUID]workspace.Member {
	n.T.Helper()
	list, err := n.Identity.Workspaces.Members(n.T.Context(), workspace.MemberFilter{WorkspaceID: n.Workspace.ID, Limit: 100})
	n.Must(err)
	members := map[uuid.UUID]workspace.Member{}
	for _, m := range list {
		members[m.User.ID] = m
	}
	return members
}

func TestMembers_LastOwnerStays(t *testing.T) {
	n := open(t)
	for _, role := range []workspace.Role{workspace.Editor, workspace.Author, workspace.Viewer} {
		_, err := n.Identity.Workspaces.ChangeRole(t.Context(), n.Workspace.ID, n.User, role)
		if e := storetest.Refused(t, err); e.Code != "last_owner" || e.Kind != apperr.KindConflict {
			t.Errorf("%s: %+v", role, e)
		}
	}
	if e := storetest.Refused(t, n.Identity.Workspaces.RemoveMember(t.Context(), n.Workspace.ID, n.User)); e.Code != "last_owner" {
		t.Errorf("%+v", e)
	}
	// An owner who has never logged in may never do so.
	invited, _, err := n.Identity.Workspaces.Invite(t.Context(), n.Workspace.ID, "new@news.example", workspace.Owner, idempotency.Key{})
	n.Must(err)
	if e := storetest.Refused(t, n.Identity.Workspaces.RemoveMember(t.Context(), n.Workspace.ID, n.User)); e.Code != "last_owner" {
		t.Errorf("%+v", e)
	}
	n.Must(n.Identity.Logins.RecordLogin(t.Context(), invited.User.ID, storetest.NewID(), nil))
	n.Must(n.Identity.Workspaces.RemoveMember(t.Context(), n.Workspace.ID, n.User))
	if left := n.members(); len(left) != 1 || left[invited.User.ID].Role != workspace.Owner {
		t.Errorf("left are %+v", left)
	}
}

// Two owners remove each other concurrently in every way: one of them stays.
func TestMembers_TwoOwnersCannotRemoveEachOther(t *testing.T) {
	n := open(t)
	ways := map[string]func(user uuid.UUID) error{
		"remove": func(user uuid.UUID) error {
			return n.Identity.Workspaces.RemoveMember(t.Context(), n.Workspace.ID, user)
		},
		"demote": func(user uuid.UUID) error {
			_, err := n.Identity.Workspaces.ChangeRole(t.Context(), n.Workspace.ID, user, workspace.Viewer)
			return err
		},
	}
	first := n.User
	for range 10 {
		for one, oneWay := range ways {
			for other, otherWay := range ways {
				second := n.join(workspace.Owner)
				start := make(chan struct{})
				errs := make([]error, 2)
				var all sync.WaitGroup
				all.Go(func() { <-start; errs[0] = oneWay(second) })
				all.Go(func() { <-start; errs[1] = otherWay(first) })
				close(start)
				all.Wait()
				done := 0
				for _, err := range errs {
					if err == nil {
						done++
					} else if e := storetest.Refused(t, err); e.Code != "last_owner" {
						t.Errorf("%s and %s: %v", one, other, err)
					}
				}
				var owners []uuid.UUID
				for id, m := range n.members() {
					if m.Role == workspace.Owner {
						owners = append(owners, id)
					}
				}
				if done != 1 || len(owners) != 1 {
					t.Fatalf("%s and %s: %d succeeded, and %d owners are left", one, other, done, len(owners))
				}
				first = owners[0]
			}
		}
	}
}

func TestMembers_RemoveRevokesTokens(t *testing.T) {
	n := open(t)
	user := n.join(workspace.Author)
	elsewhere, _, _ := n.Found("Elsewhere")
	n.Exec("insert into members (workspace_id, user_id, role) values ($1, $2, 'viewer')", elsewhere.ID, user)
	token := func(workspaceID, of uuid.UUID) string {
		t.Helper()
		made, plain := workspace.NewToken(workspaceID, of, "robot")
		_, _, err := n.Identity.Workspaces.CreateToken(t.Context(), made, idempotency.Key{})
		n.Must(err)
		return plain
	}
	here, there, mine := token(n.Workspace.ID, user), token(elsewhere.ID, user), token(n.Workspace.ID, n.User)
	n.Must(n.Identity.Workspaces.RemoveMember(t.Context(), n.Workspace.ID, user))
	if a, b, c := n.tokenStatus(here), n.tokenStatus(there), n.tokenStatus(mine); a != workspace.TokenRevoked ||
		b != workspace.TokenActive || c != workspace.TokenActive {
		t.Errorf("here %d, elsewhere %d, another member's %d", a, b, c)
	}
	// A member who returns starts without tokens.
	n.Exec("insert into members (workspace_id, user_id, role) values ($1, $2, 'owner')", n.Workspace.ID, user)
	if got := n.tokenStatus(here); got != workspace.TokenRevoked {
		t.Errorf("after coming back: %d", got)
	}
	if e := storetest.Refused(t, n.Identity.Workspaces.RemoveMember(t.Context(), n.Workspace.ID, storetest.NewID())); e.Code != "member_not_found" {
		t.Errorf("%+v", e)
	}
}

// A token that is created while its member is removed is removed, too.
func TestMembers_RemoveDuringTokenCreation(t *testing.T) {
	n := open(t)
	for range 20 {
		user := n.join(workspace.Author)
		made, plain := workspace.NewToken(n.Workspace.ID, user, "robot")
		start := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			<-start
			var e *apperr.Error
			if _, _, err := n.Identity.Workspaces.CreateToken(t.Context(), made, idempotency.Key{}); err != nil &&
				(!errors.As(err, &e) || e.Code != "member_not_found") {
				t.Error(err)
			}
		})
		all.Go(func() {
			<-start
			if err := n.Identity.Workspaces.RemoveMember(t.Context(), n.Workspace.ID, user); err != nil {
				t.Error(err)
			}
		})
		close(start)
		all.Wait()
		n.Exec("insert into members (workspace_id, user_id, role) values ($1, $2, 'author')", n.Workspace.ID, user)
		if got := n.tokenStatus(plain); got == workspace.TokenActive {
			t.Fatal("the token is valid again after its member returns")
		}
	}
}

func TestMembers_InvitedUserHasOnlyAnEmail(t *testing.T) {
	n := open(t)
	elsewhere, owner, _ := n.Found("Elsewhere")
	n.Exec("update users set name = 'Real Name', email = 'real@news.example' where id = $1", owner)
	m, replayed, err := n.Identity.Workspaces.Invite(t.Context(), n.Workspace.ID, "real@news.example", workspace.Author,
		idempotency.Key{Key: "k", RequestHash: []byte("h")})
	require.NoError(t, err)
	require.False(t, replayed)
	require.Equal(t, owner, m.User.ID)
	require.Equal(t, "real@news.example", m.User.Name)
	require.Nil(t, m.JoinedAt)
	require.Equal(t, workspace.Author, m.Role)
	if list, err := n.Identity.Workspaces.WorkspacesOf(t.Context(), owner); err != nil || len(list) != 2 ||
		list[1].Workspace.ID != elsewhere.ID || list[0].Role != workspace.Author {
		t.Errorf("%+v %v", list, err)
	}
	again, replayed, err := n.Identity.Workspaces.Invite(t.Context(), n.Workspace.ID, "real@news.example", workspace.Author,
		idempotency.Key{Key: "k", RequestHash: []byte("h")})
	if err != nil || !replayed || again.User.ID != m.User.ID {
		t.Errorf("%+v %v %v", again, replayed, err)
	}
	_, _, err = n.Identity.Workspaces.Invite(t.Context(), n.Workspace.ID, "real@news.example", workspace.Owner, idempotency.Key{})
	if e := storetest.Refused(t, err); e.Code != "already_member" || n.members()[owner].Role != workspace.Author {
		t.Errorf("%+v", e)
	}
	n.Must(n.Identity.Logins.RecordLogin(t.Context(), owner, storetest.NewID(), nil))
	if joined := n.members()[owner]; joined.User.Name != "Real Name" || joined.JoinedAt == nil {
		t.Errorf("%+v", joined)
	}
}
