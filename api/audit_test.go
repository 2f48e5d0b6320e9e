package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
)

func (s *server) audit(query string) (page spec.AuditPage) {
	s.t.Helper()
	s.decode(s.send("GET", "/api/v1/audit"+query, nil), 200, &page)
	return page
}

// Every kind of change is recorded with its user, token and request, without secrets,
// server addresses or IP addresses.
func TestAudit_RecordsActorAndAction(t *testing.T) {
	t.Parallel()
	s := start(t)
	owner, err := s.Store.Identity.Workspaces.Workspace(t.Context(), s.Workspace.ID)
	s.Must(err)
	requests := map[string]string{} // by action
	did := func(action string, a answer) answer {
		t.Helper()
		if a.StatusCode > 299 {
			t.Fatalf("%s: %s %s", action, a.Status, a.body)
		}
		requests[action] = a.Header.Get("X-Request-ID")
		return a
	}
	there, err := s.Fake.AddAccount("desk")
	s.Must(err)
	did("account.connected",
		s.send("POST", "/api/v1/accounts", object{
			"network": "mastodon", "base_url": s.Fake.URL(), "access_token": there.Token,
		}))
	did("workspace.changed", s.send("PATCH", "/api/v1/workspace", object{"authors_need_approval": true}))
	var m spec.Member
	s.decode(did("member.invited",
		s.send("POST", "/api/v1/members", object{"email": "private@news.example", "role": "author"})), 201, &m)
	did("member.role_changed", s.send("PATCH", "/api/v1/members/"+m.Id.String(), object{"role": "viewer"}))
	did("member.removed", s.send("DELETE", "/api/v1/members/"+m.Id.String(), nil))
	var token spec.TokenWithSecret
	s.decode(did("token.created",
		s.send("POST", "/api/v1/tokens", object{"name": "Robot", "scopes": []string{"posts:read"}})), 201, &token)
	did("token.revoked", s.send("DELETE", "/api/v1/tokens/"+token.Token.Id.String(), nil))
	var w spec.WebhookWithSecret
	s.decode(did("webhook.created", s.send("POST", webhooksPath, object{"url": "https://hooks.example/private-path"})),
		201, &w)
	hook := webhooksPath + "/" + w.Webhook.Id.String()
	did("webhook.changed", s.send("PATCH", hook, object{"description": "Bot"}))
	did("webhook.secret_rotated", s.send("POST", hook+"/rotate-secret", nil))
	did("webhook.deleted", s.send("DELETE", hook, nil))
	body, contentType := form(t, "file", string(picture(t)))
	var file spec.Media
	s.decode(did("media.added", s.send("POST", "/api/v1/media", body.String(), "Content-Type", contentType)), 201,
		&file)
	did("media.changed", s.send("PATCH", "/api/v1/media/"+file.Id.String(), object{"alt_text": "private"}))
	did("media.deleted", s.send("DELETE", "/api/v1/media/"+file.Id.String(), nil))
	did("post.canceled", s.send("DELETE", "/api/v1/posts/"+s.Schedule().ID.String(), nil))
	did("post.discarded", s.send("POST", "/api/v1/posts/"+s.Dead(s.Schedule(), post.TargetFailed).ID.String()+
		"/discard", nil))
	doubtful := func() string {
		p := s.Dead(s.Schedule(), post.TargetUncertain)
		return "/api/v1/posts/" + p.ID.String() + "/targets/" + p.Targets[0].ID.String()
	}
	did("post.resent", s.send("POST", doubtful()+"/resend", nil))
	did("post.confirmed", s.send("POST", doubtful()+"/confirm", object{"url": "https://social.example/@desk/1"}))

	page := s.audit("?limit=200&actor=" + s.Owner.UserID.String())
	for _, e := range page.Entries {
		if e.RequestId == nil || requests[e.Action] != e.RequestId.String() {
			t.Errorf("%s: request %v, want %s", e.Action, e.RequestId, requests[e.Action])
		}
		delete(requests, e.Action)
		require.Equal(t, s.Owner.UserID, *e.Actor.UserId, "%s by %+v", e.Action, e.Actor)
		require.NotNil(t, e.Actor.TokenId, "%s by %+v", e.Action, e.Actor)
		require.Equal(t, s.Owner.TokenID, *e.Actor.TokenId, "%s by %+v", e.Action, e.Actor)
		require.Equal(t, "cli", *e.Actor.TokenName, "%s by %+v", e.Action, e.Actor)
		require.Equal(t, "Owner of "+owner.Name, *e.Actor.Name, "%s by %+v", e.Action, e.Actor)
	}
	if len(requests) != 0 {
		t.Errorf("not audited: %v", requests)
	}
	handle := "@desk@" + strings.TrimPrefix(s.Fake.URL(), "http://")
	for _, secret := range []string{there.Token, *token.Secret, w.Secret, "private", "127.0.0.1", "Hello"} {
		if n := s.Count("select count(*) from audit_log l where replace(l::text, $1, '') like '%' || $2 || '%'", handle,
			secret); n != 0 {
			t.Errorf("%d entries contain %q", n, secret)
		}
	}
	if log := string(s.send("GET", "/api/v1/audit?limit=200", nil).body); strings.Contains(log, "private@") {
		t.Errorf("the log has the address of a former member:\n%s", log)
	}
}

// auditedNames returns the name of the last object of each action of the log, with a mark of deleted ones.
func (s *server) auditedNames(headers ...string) map[string]string {
	s.t.Helper()
	var page spec.AuditPage
	s.decode(s.send("GET", "/api/v1/audit?limit=200", nil, headers...), 200, &page)
	names := map[string]string{}
	for _, e := range page.Entries {
		name := optional.Value(e.Object.Name)
		if optional.Value(e.Object.Deleted) {
			name += " (deleted)"
		}
		if _, later := names[e.Action]; !later {
			names[e.Action] = name
		}
	}
	return names
}

func TestAudit_NamesObjectsAlsoDeletedOnes(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Connect("desk")
	p := s.Schedule()
	s.post(s.send("DELETE", "/api/v1/posts/"+p.ID.String(), nil), 200)
	var site struct{ Site spec.Site }
	s.decode(s.send("POST", "/api/v1/sites", object{"name": "Báo Mai", "time_zone": "Asia/Ho_Chi_Minh"}), 201, &site)
	s.send("PATCH", "/api/v1/sites/"+site.Site.Id.String(), object{"name": "Báo Trưa"})
	var token spec.TokenWithSecret
	s.decode(s.send("POST", "/api/v1/tokens", object{"name": "Robot", "scopes": []string{"audit:read"}}), 201, &token)
	var m spec.Member
	s.decode(s.send("POST", "/api/v1/members", object{"email": "lan@news.example", "role": "author"}), 201, &m)
	body, contentType := form(t, "file", string(picture(t)))
	var file spec.Media
	s.decode(s.send("POST", "/api/v1/media", body.String(), "Content-Type", contentType), 201, &file)
	var w spec.WebhookWithSecret
	s.decode(s.send("POST", webhooksPath, object{"url": "https://hooks.example/private-path"}), 201, &w)
	s.send("DELETE", webhooksPath+"/"+w.Webhook.Id.String(), nil)
	want := map[string]string{
		"post.canceled": p.Content, "site.created": "Báo Trưa", "site.changed": "Báo Trưa", "token.created": "Robot",
		"member.invited": "lan@news.example", "media.added": file.FileName, "webhook.created": "hooks.example (deleted)",
		"webhook.deleted": "hooks.example (deleted)",
	}
	got := s.auditedNames()
	for action, name := range want {
		if got[action] != name {
			t.Errorf("%s: got %q, want %q", action, got[action], name)
		}
	}
	// A token that may not read posts and files does not see their names either.
	got = s.auditedNames(as(*token.Secret)...)
	for _, action := range []string{"post.canceled", "media.added"} {
		if got[action] != "" {
			t.Errorf("%s: got %q by a token without the scope", action, got[action])
		}
	}
	if got["site.created"] != "Báo Trưa" {
		t.Errorf("got %q", got["site.created"])
	}
	s.send("DELETE", "/api/v1/members/"+m.Id.String(), nil)
	s.send("DELETE", "/api/v1/sites/"+site.Site.Id.String(), nil)
	got = s.auditedNames()
	for action, name := range map[string]string{
		"member.removed": " (deleted)", "site.deleted": "Báo Trưa (deleted)", "site.created": "Báo Trưa (deleted)",
	} {
		if got[action] != name {
			t.Errorf("%s: got %q, want %q", action, got[action], name)
		}
	}
}

func TestAudit_ConnectionBelongsToWhoStartedIt(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := s.Fake.AddAccount("desk")
	s.Must(err)
	x := things{s: s}
	a := s.send("GET", "/api/v1/oauth/callback?"+x.callback(), nil, "Authorization", "")
	page := s.audit("?action=account.connected")
	require.Equal(t, http.StatusOK, a.StatusCode)
	require.Len(t, page.Entries, 1)
	require.Equal(t, s.Owner.UserID, *page.Entries[0].Actor.UserId)
	require.Nil(t, page.Entries[0].Actor.TokenId)
	require.Equal(t, a.Header.Get("X-Request-ID"), page.Entries[0].RequestId.String())
	require.Equal(t, "mastodon", page.Entries[0].Data["network"])
}

func TestAudit_FiltersAndPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	begin := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	editor := s.Join(s.Workspace, workspace.Editor)
	token := s.TokenOf(editor)
	s.Connect("desk")
	var canceled []uuid.UUID
	for range 5 {
		p := s.Schedule()
		s.post(s.send("DELETE", "/api/v1/posts/"+p.ID.String(), nil, as(token)...), 200)
		canceled = append(canceled, p.ID)
	}
	var seen []uuid.UUID
	for query := ""; ; {
		page := s.audit("?limit=2&action=post.canceled,post.discarded" + query)
		for _, e := range page.Entries {
			seen = append(seen, e.Object.Id)
		}
		if page.NextCursor == nil {
			break
		}
		query = "&cursor=" + *page.NextCursor
	}
	slices.Reverse(seen)
	if !slices.Equal(seen, canceled) {
		t.Errorf("pages: got %v, want %v", seen, canceled)
	}
	for query, want := range map[string]int{
		"?actor=" + editor.UserID.String() + "&action=post.canceled":  5,
		"?actor=" + s.Owner.UserID.String() + "&action=post.canceled": 0,
		"?actor=operator": 0,
		"?actor=" + strings.ToUpper(editor.UserID.String()) + "&limit=200": 6, // and the login
		"?object=" + canceled[2].String():                                  1,
		"?from=" + begin + "&action=post.canceled":                         5,
		"?to=" + begin:              0,
		"?action=account.connected": 1,
		"?object=" + canceled[2].String() + "&action=member.invited":             0,
		"?action=login.succeeded,member.invited&object=" + uuid.NewString():      0,
		"?action=member.invited&actor=dateline&object=" + editor.UserID.String(): 1,
	} {
		if page := s.audit(query); len(page.Entries) != want {
			t.Errorf("%s: got %d entries: %+v", query, len(page.Entries), page.Entries)
		}
	}
	for query, field := range map[string]string{
		"?actor=me": "actor", "?action=Post%20canceled": "action",
		"?object=x": "object", "?from=today": "from",
		"?cursor=abc": "cursor", "?limit=0": "limit",
	} {
		s.refused(s.send("GET", "/api/v1/audit"+query, nil), 400, "invalid_request", field)
	}
	s.refused(s.send("GET", "/api/v1/audit?cursor=9999999999999999999", nil), 422, "invalid_request", "cursor")
}
