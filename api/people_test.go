package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/api"
	"dateline/api/spec"
	"dateline/internal/identity/workspace"
)

func as(token string) []string { return []string{"Authorization", "Bearer " + token} }

func TestMe_ListsWhatRoleAndTokenAllow(t *testing.T) {
	t.Parallel()
	s := start(t)
	editor := s.Join(s.Workspace, workspace.Editor)
	for name, c := range map[string]struct {
		token  string
		role   spec.Role
		scopes string
	}{
		"viewer": {
			s.Member(workspace.Viewer), "viewer",
			"accounts:read articles:read crawl:read media:read notifications:read notifications:write posts:read " +
				"tokens:read tokens:write views:read workspace:read",
		},
		"author": {
			s.Member(workspace.Author), "author",
			"accounts:read articles:read articles:write crawl:read media:read media:write notifications:read " +
				"notifications:write posts:read posts:write tokens:read tokens:write views:read workspace:read",
		},
		"limited editor": {
			s.TokenOf(editor, workspace.PostsRead, workspace.AuditRead, workspace.MembersWrite),
			"editor", "audit:read posts:read",
		},
	} {
		var me spec.Me
		s.decode(s.send("GET", "/api/v1/me", nil, as(c.token)...), 200, &me)
		var scopes []string
		for _, scope := range me.Scopes {
			scopes = append(scopes, string(scope))
		}
		require.Equal(t, c.role, me.Role, "%s: %+v", name, me)
		require.Equal(t, s.Workspace.ID, me.Workspace.Id, "%s: %+v", name, me)
		require.Equal(t, c.scopes, strings.Join(scopes, " "), "%s: %+v", name, me)
		require.NotNil(t, me.Token, "%s: %+v", name, me)
		require.Equal(t, "test", me.Token.Name, "%s: %+v", name, me)
		require.NotNil(t, me.User.Email, "%s: %+v", name, me)
	}
	var me spec.Me
	s.decode(s.send("GET", "/api/v1/me", nil), 200, &me)
	if len(me.Scopes) != len(workspace.Scopes()) || fmt.Sprint(me.Token.Scopes) != "[*]" ||
		me.User.Id != s.Owner.UserID {
		t.Errorf("the owner: %+v", me)
	}
}

func TestWorkspace_UpdateChangesNamedFields(t *testing.T) {
	t.Parallel()
	s := start(t)
	var w spec.Workspace
	s.decode(s.send("PATCH", "/api/v1/workspace", object{"authors_need_approval": true}), 200, &w)
	s.decode(s.send("PATCH", "/api/v1/workspace", object{"name": "  Bản tin  ", "time_zone": "Europe/Berlin"}), 200, &w)
	read := spec.Workspace{}
	s.decode(s.send("GET", "/api/v1/workspace", nil), 200, &read)
	if read != w || read != (spec.Workspace{
		Id: s.Workspace.ID, Name: "Bản tin", TimeZone: "Europe/Berlin",
		AuthorsNeedApproval: true,
	}) {
		t.Errorf("%+v, %+v", w, read)
	}
}

func TestWorkspace_CreateAnother(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.send("POST", "/api/v1/workspaces", object{"name": "Sports"}, "Idempotency-Key", "once")
	var made spec.Workspace
	s.decode(a, 201, &made)
	again := s.send("POST", "/api/v1/workspaces", object{"name": "Sports"}, "Idempotency-Key", "once")
	if again.StatusCode != http.StatusCreated || string(again.body) != string(a.body) ||
		again.Header.Get("Idempotent-Replayed") != "true" || a.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("repeated: got %s %s", again.Status, again.body)
	}
	if made.TimeZone != "Asia/Ho_Chi_Minh" || made.AuthorsNeedApproval || strings.Contains(string(a.body), "dl_") {
		t.Errorf("made %s", a.body)
	}
	var list spec.WorkspaceList
	s.decode(s.send("GET", "/api/v1/workspaces", nil), 200, &list)
	if len(list.Workspaces) != 2 || list.Workspaces[0].Workspace.Id != s.Workspace.ID ||
		list.Workspaces[1].Workspace != made || list.Workspaces[1].Role != "owner" {
		t.Errorf("%+v", list)
	}
	s.decode(s.send("GET", "/api/v1/workspaces", nil, as(s.Member(workspace.Viewer))...), 200, &list)
	if len(list.Workspaces) != 1 || list.Workspaces[0].Role != "viewer" {
		t.Errorf("of a viewer: %+v", list)
	}
}

func TestMembers_InviteListChangeRemove(t *testing.T) {
	t.Parallel()
	s := start(t)
	var made spec.Member
	s.decode(s.send("POST", "/api/v1/members", object{"email": " Person@News.example", "role": "viewer"},
		"Idempotency-Key", "k"), 201, &made)
	require.NotNil(t, made.Email)
	require.Equal(t, "person@news.example", *made.Email)
	require.Equal(t, spec.Role("viewer"), made.Role)
	require.Nil(t, made.JoinedAt)
	require.Equal(t, *made.Email, made.Name)
	again := s.send("POST", "/api/v1/members", object{"email": " Person@News.example", "role": "viewer"},
		"Idempotency-Key", "k")
	if again.StatusCode != http.StatusCreated || again.Header.Get("Idempotent-Replayed") != "true" ||
		!strings.Contains(string(again.body), made.Id.String()) {
		t.Errorf("repeated: got %s %s", again.Status, again.body)
	}
	s.refused(s.send("POST", "/api/v1/members", object{"email": "person@news.example", "role": "editor"}), 409,
		"already_member")
	s.refused(s.send("POST", "/api/v1/members", object{"email": "other@news.example", "role": "editor"},
		"Idempotency-Key", "k"), 422, "idempotency_key_reused", "Idempotency-Key")
	path := "/api/v1/members/" + made.Id.String()
	s.decode(s.send("PATCH", path, object{"role": "editor"}), 200, &made)
	if made.Role != "editor" {
		t.Errorf("changed %+v", made)
	}
	for range 3 {
		s.Join(s.Workspace, workspace.Author)
	}
	var ids []uuid.UUID
	for query := "?limit=2"; query != ""; {
		var page spec.MemberPage
		s.decode(s.send("GET", "/api/v1/members"+query, nil), 200, &page)
		for _, m := range page.Members {
			ids = append(ids, m.Id)
		}
		query = ""
		if page.NextCursor != nil {
			query = "?limit=2&cursor=" + *page.NextCursor
		}
	}
	if len(ids) != 5 || ids[0] != s.Owner.UserID || ids[1] != made.Id || len(slices.Compact(slices.Clone(ids))) != 5 {
		t.Errorf("the pages hold %v", ids)
	}
	if a := s.send("DELETE", path, nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("removed: %s", a.Status)
	}
	s.refused(s.send("DELETE", path, nil), 404, "member_not_found")
	owner := "/api/v1/members/" + s.Owner.UserID.String()
	s.refused(s.send("DELETE", owner, nil), 409, "last_owner")
	s.refused(s.send("PATCH", owner, object{"role": "viewer"}), 409, "last_owner")
}

func TestMembers_RoleChangeAppliesAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	author := s.Join(s.Workspace, workspace.Author)
	token := s.TokenOf(author)
	s.Connect("desk")
	s.post(s.send("POST", "/api/v1/posts", hello(), as(token)...), 201)
	path := "/api/v1/members/" + author.UserID.String()
	s.send("PATCH", path, object{"role": "viewer"})
	s.refused(s.send("POST", "/api/v1/posts", hello(), as(token)...), 403, "role_insufficient")
	s.send("DELETE", path, nil)
	s.refused(s.send("GET", "/api/v1/posts", nil, as(token)...), 401, "token_revoked")
}

func TestTokens_CreateListRevoke(t *testing.T) {
	t.Parallel()
	s := start(t)
	request := object{
		"name": "Robot", "scopes": []string{"posts:write", "posts:read", "posts:write"},
		"expires_in_days": 30,
	}
	a := s.send("POST", "/api/v1/tokens", request, "Idempotency-Key", "k")
	var made spec.TokenWithSecret
	s.decode(a, 201, &made)
	require.NotNil(t, made.Secret)
	require.True(t, strings.HasPrefix(*made.Secret, made.Token.Hint))
	require.Equal(t, "[posts:read posts:write]", fmt.Sprint(made.Token.Scopes))
	require.False(t, made.Token.Expired)
	require.NotNil(t, made.Token.ExpiresAt)
	require.True(t, made.Token.ExpiresAt.Equal(made.Token.ExpiresAt.UTC().Truncate(time.Microsecond)))
	require.Nil(t, made.Token.LastUsedAt)
	again := s.send("POST", "/api/v1/tokens", request, "Idempotency-Key", "k")
	var replay spec.TokenWithSecret
	s.decode(again, 201, &replay)
	if replay.Token.Id != made.Token.Id || replay.Secret != nil || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeated: got %s", again.body)
	}
	if a := s.send("GET", "/api/v1/posts", nil, as(*made.Secret)...); a.StatusCode != http.StatusOK {
		t.Errorf("reading: %s", a.Status)
	}
	list := s.send("GET", "/api/v1/tokens", nil)
	if strings.Contains(string(list.body), *made.Secret) ||
		!strings.Contains(string(list.body), made.Token.Id.String()) {
		t.Errorf("the list is %s", list.body)
	}
	path := "/api/v1/tokens/" + made.Token.Id.String()
	if a := s.send("DELETE", path, nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("revoked: %s", a.Status)
	}
	s.refused(s.send("GET", "/api/v1/posts", nil, as(*made.Secret)...), 401, "token_revoked")
	s.refused(s.send("DELETE", path, nil), 404, "token_not_found")
}

func TestTokens_CannotExceedTheirCreator(t *testing.T) {
	t.Parallel()
	s := start(t)
	limited := as(s.TokenOf(s.Owner, workspace.TokensWrite, workspace.PostsRead))
	request := func(more object) object {
		o := object{"name": "Robot", "scopes": []string{"posts:read"}}
		for k, v := range more {
			o[k] = v
		}
		return o
	}
	s.refused(s.send("POST", "/api/v1/tokens", request(object{"scopes": []string{"posts:read", "posts:write"}}),
		limited...), 422, "invalid_request", "scopes[1]")
	s.refused(s.send("POST", "/api/v1/tokens", request(object{"scopes": []string{"*"}}), limited...), 422,
		"invalid_request", "scopes[0]")
	s.refused(s.send("POST", "/api/v1/tokens", request(object{"never_expires": true}),
		as(s.Member(workspace.Editor))...), 422, "invalid_request", "never_expires")
	s.refused(s.send("POST", "/api/v1/tokens", request(object{"never_expires": true, "expires_in_days": 3})), 422,
		"invalid_request", "expires_in_days")
	s.refused(s.send("POST", "/api/v1/tokens", request(object{"expires_in_days": 366})), 400, "invalid_request",
		"expires_in_days")
	var never, short, child spec.TokenWithSecret
	s.decode(s.send("POST", "/api/v1/tokens", request(object{"never_expires": true})), 201, &never)
	s.decode(s.send("POST", "/api/v1/tokens",
		request(object{"expires_in_days": 2, "scopes": []string{"tokens:write", "posts:read"}})), 201, &short)
	s.decode(s.send("POST", "/api/v1/tokens", request(nil), as(*short.Secret)...), 201, &child)
	if never.Token.ExpiresAt != nil || !child.Token.ExpiresAt.Equal(*short.Token.ExpiresAt) {
		t.Errorf("without expiry got %v; got expiry %v, want that of its creator, %v", never.Token.ExpiresAt,
			child.Token.ExpiresAt, short.Token.ExpiresAt)
	}
	s.refused(s.send("POST", "/api/v1/tokens", request(object{"expires_in_days": 3}), as(*short.Secret)...), 422,
		"invalid_request", "expires_in_days")
	s.refused(s.send("POST", "/api/v1/tokens", request(object{"never_expires": true}), as(*short.Secret)...), 422,
		"invalid_request", "never_expires")
}

func TestTokens_OfOthersNeedAnOwner(t *testing.T) {
	t.Parallel()
	s := start(t)
	editor, viewer := s.Join(s.Workspace, workspace.Editor), s.Join(s.Workspace, workspace.Viewer)
	token := s.TokenOf(editor)
	s.TokenOf(viewer)
	tokens := func(headers ...string) (list []spec.Token) {
		var page spec.TokenPage
		s.decode(s.send("GET", "/api/v1/tokens", nil, headers...), 200, &page)
		return page.Tokens
	}
	if all, own := tokens(), tokens(as(token)...); len(all) != 3 || len(own) != 1 || own[0].User.Id != editor.UserID {
		t.Errorf("the owner sees %+v, an editor %+v", all, own)
	}
	for _, one := range tokens() {
		if one.User.Id == editor.UserID {
			continue
		}
		foreign, unknown := s.send("DELETE", "/api/v1/tokens/"+one.Id.String(), nil, as(token)...), s.send("DELETE",
			"/api/v1/tokens/"+uuid.NewString(), nil, as(token)...)
		s.refused(foreign, 404, "token_not_found")
		if string(foreign.body) != string(unknown.body) {
			t.Errorf("%s and %s", foreign.body, unknown.body)
		}
	}
	own := tokens(as(token)...)[0]
	if a := s.send("DELETE", "/api/v1/tokens/"+own.Id.String(), nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("the owner revokes an editor's: %s", a.Status)
	}
	s.refused(s.send("GET", "/api/v1/me", nil, as(token)...), 401, "token_revoked")
}

func TestTokens_NeverHaveScopesBeyondTheRole(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, role := range workspace.Roles() {
		who := s.Join(s.Workspace, role)
		token := s.TokenOf(who)
		for _, scope := range workspace.Scopes() {
			want, err := api.MinRole(s.answers.doc, scope)
			s.Must(err)
			if scope.MinRole() != want {
				t.Errorf("%s: got the least role %s, want that of its operations, %s", scope, scope.MinRole(), want)
			}
			a := s.send("POST", "/api/v1/tokens", object{"name": "Robot", "scopes": []string{string(scope)}},
				as(token)...)
			if role.AtLeast(scope.MinRole()) {
				s.decode(a, 201, &spec.TokenWithSecret{})
				continue
			}
			s.refused(a, 422, "invalid_request", "scopes[0]")
		}
		s.decode(s.send("POST", "/api/v1/tokens", object{"name": "Robot", "scopes": []string{"*"}}, as(token)...), 201,
			&spec.TokenWithSecret{})
	}
}

// When a user's role is lowered, the user's tokens lose the scopes beyond it, and
// cannot create tokens that exceed it.
func TestTokens_FollowALoweredRole(t *testing.T) {
	t.Parallel()
	s := start(t)
	who := s.Join(s.Workspace, workspace.Owner)
	everything, some := s.TokenOf(who), s.TokenOf(who, workspace.MembersRead, workspace.MembersWrite,
		workspace.TokensWrite, workspace.PostsRead)
	for _, token := range []string{everything, some} {
		s.decode(s.send("GET", "/api/v1/members", nil, as(token)...), 200, &spec.MemberPage{})
	}
	s.decode(s.send("PATCH", "/api/v1/members/"+who.UserID.String(), object{"role": "viewer"}), 200, &spec.Member{})
	for _, token := range []string{everything, some} {
		s.refused(s.send("GET", "/api/v1/members", nil, as(token)...), 403, "role_insufficient")
		s.refused(s.send("POST", "/api/v1/tokens", object{"name": "Robot", "scopes": []string{"members:write"}},
			as(token)...), 422, "invalid_request", "scopes[0]")
		var made spec.TokenWithSecret
		s.decode(s.send("POST", "/api/v1/tokens", object{"name": "Robot", "scopes": []string{"posts:read"}},
			as(token)...), 201, &made)
		var me spec.Me
		s.decode(s.send("GET", "/api/v1/me", nil, as(token)...), 200, &me)
		for _, scope := range me.Scopes {
			if !workspace.Viewer.AtLeast(workspace.Scope(scope).MinRole()) {
				t.Errorf("GET /me of a viewer: got the scope %s, want none beyond the role", scope)
			}
		}
	}
}

func TestIdempotencyKeys_BelongToWhoSentThem(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	author, editor := as(s.Member(workspace.Author)), as(s.Member(workspace.Editor))
	body := object{"content": "Hello", "draft": true}
	key := []string{"Idempotency-Key", "k"}
	mine := s.post(s.send("POST", "/api/v1/posts", body, append(author, key...)...), 201)
	same := s.send("POST", "/api/v1/posts", body, append(editor, key...)...)
	if theirs := s.post(same, 201); theirs.Id == mine.Id || same.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("an editor's request with an author's key: got post %s, replayed %q, want another post than %s",
			theirs.Id, same.Header.Get("Idempotent-Replayed"), mine.Id)
	}
	other := s.send("POST", "/api/v1/posts", object{"content": "Other", "draft": true}, append(as(s.Token), key...)...)
	s.post(other, 201) // not 422 idempotency_key_reused, which would reveal that someone else used the key
	if again := s.post(s.send("POST", "/api/v1/posts", body, append(author, key...)...), 201); again.Id != mine.Id {
		t.Errorf("the author's repetition: got post %s, want %s", again.Id, mine.Id)
	}
	s.refused(s.send("POST", "/api/v1/posts", object{"content": "Other", "draft": true}, append(author, key...)...),
		422, "idempotency_key_reused", "Idempotency-Key")
	upload := func(who []string) spec.Media {
		form, contentType := form(t, "file", string(picture(t)))
		var m spec.Media
		s.decode(s.send("POST", "/api/v1/media", form, append(slices.Clone(who), "Idempotency-Key", "m", "Content-Type",
			contentType)...), 201, &m)
		return m
	}
	if a, b, c := upload(author), upload(editor), upload(author); a.Id == b.Id || a.Id != c.Id {
		t.Errorf("uploads under one key: got %s, %s of another user and %s repeated, want the last to be the "+
			"first alone", a.Id, b.Id, c.Id)
	}
}
