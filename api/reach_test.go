package api_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
)

// masked is a response without ids and the request's own path.
func masked(a answer) string {
	return a.Status + " " + a.Header.Get("Content-Type") + " " + bareID.ReplaceAllString(string(a.body), "<id>")
}

// TestAccess_IsolatesWorkspaces sends every operation of openapi.yaml with every role,
// in its own and in another workspace, with all kinds of tokens and without one.
func TestAccess_IsolatesWorkspaces(t *testing.T) {
	t.Parallel()
	g := openStage(t)
	operations, known := g.operations(), reachable()
	for _, id := range slices.Sorted(maps.Keys(known)) {
		if _, ok := operations[id]; !ok {
			t.Errorf("%s is no longer in openapi.yaml", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(operations)) {
		t.Run(id, func(t *testing.T) {
			r, ok := known[id]
			if !ok {
				t.Fatal("add a valid request of this operation to reachable(), and who may send it")
			}
			s, inner, newsroom := *g, *g.server, *g.Newsroom
			newsroom.T, inner.t, inner.Newsroom = t, t, &newsroom
			s.server, s.things.s = &inner, &inner
			s.check(operations[id], r)
		})
	}
}

func (g *stage) check(op operation, r reach) {
	if r.least == "" {
		built, _ := g.request(r, caller{}, false)
		g.succeeds(op, built, "")
		return
	}
	if r.own {
		g.rejectsTokens(op, r)
		return
	}
	var least caller
	for _, c := range g.members {
		built, _ := g.request(r, c, false)
		before := g.databaseState()
		g.refuses(op, built, "", 401, "token_required")
		g.refuses(op, built, c.token+"x", 401, "token_invalid")
		g.refuses(op, built, c.expired, 401, "token_expired")
		g.refuses(op, built, c.revoked, 401, "token_revoked")
		may := c.Role.AtLeast(r.least)
		switch {
		case !may:
			g.refuses(op, built, c.token, 403, "role_insufficient")
		case r.scope != "":
			before = g.withToken(c, func(s workspace.Scope) bool { return s != r.scope }, func(token string) {
				g.refuses(op, built, token, 403, "scope_insufficient")
			})
		}
		if after := g.databaseState(); after != before {
			g.t.Errorf("a request of a %s that was refused changed\n%s\nto\n%s", c.Role, before, after)
		}
		if may {
			g.succeeds(op, built, c.token)
			if least.Role == "" {
				least = c
			}
		}
	}
	built, named := g.request(r, least, false)
	g.withToken(least, func(s workspace.Scope) bool {
		return s == r.scope || r.scope == "" &&
			s == workspace.AuditRead
	}, func(token string) { g.succeeds(op, built, token) })
	for _, c := range g.rivals {
		g.checkOtherWorkspace(op, r, c, named)
	}
}

// rejectsTokens checks that operations about a browser's session reject every token.
func (g *stage) rejectsTokens(op operation, r reach) {
	before := g.databaseState()
	for _, c := range slices.Concat(g.members, g.rivals) {
		built, _ := g.request(r, c, false)
		g.refuses(op, built, "", 401, "session_required")
		g.refuses(op, built, c.token+"x", 401, "token_invalid")
		g.refuses(op, built, c.token, 403, "session_required")
	}
	if after := g.databaseState(); after != before {
		g.t.Errorf("a refused request changed\n%s\nto\n%s", before, after)
	}
}

// withToken creates a token with some scopes, returns databaseState and then runs use.
func (g *stage) withToken(c caller, wanted func(workspace.Scope) bool, use func(token string)) (before string) {
	g.t.Helper()
	t, plain := workspace.NewToken(c.WorkspaceID, c.UserID, "scoped")
	t.Scopes = slices.DeleteFunc(workspace.Scopes(), func(s workspace.Scope) bool { return !wanted(s) })
	_, _, err := g.Store.Identity.Workspaces.CreateToken(g.t.Context(), t, idempotency.Key{})
	g.Must(err)
	before = g.databaseState()
	use(plain)
	return before
}

// checkOtherWorkspace sends a request from another workspace: resources of the first
// one look like unknown ones.
func (g *stage) checkOtherWorkspace(op operation, r reach, c caller, named bool) {
	theirs, _ := g.request(r, c, false)
	nowhere, _ := g.request(r, c, true)
	before := g.databaseState()
	foreign := g.reach(op, theirs, c.token)
	switch {
	case !c.Role.AtLeast(r.least):
		g.refused(foreign, 403, "role_insufficient")
	case named:
		unknown := g.reach(op, nowhere, c.token)
		if masked(foreign) != masked(unknown) {
			g.t.Errorf("%s %s from another workspace: got\n%s\nwant the response for an unknown resource\n%s",
				op.method, op.path, masked(foreign), masked(unknown))
		}
		if len(theirs.args) > 0 && foreign.StatusCode != http.StatusNotFound {
			g.t.Errorf("%s %s from another workspace: %s %s", op.method, op.path, foreign.Status, foreign.body)
		}
	case op.method != http.MethodGet:
		return // changes only the caller's own workspace
	}
	if theirs.queryNames && c.Role.AtLeast(r.least) {
		if a := g.reach(op, theirs, c.token); a.StatusCode != http.StatusNotFound {
			g.t.Errorf("%s %s from elsewhere: %s %s", op.method, op.path, a.Status, a.body)
		}
	} else if op.method == http.MethodGet && len(theirs.args) == 0 && c.Role.AtLeast(r.least) {
		var unfiltered request
		if theirs.queryRequired {
			unfiltered.query = theirs.query
		}
		g.showsNothingOfTheOtherWorkspace(op, g.reach(op, unfiltered, c.token))
	}
	if after := g.databaseState(); after != before {
		g.t.Errorf("%s %s from elsewhere changed\n%s\nto\n%s", op.method, op.path, before, after)
	}
}

func (g *stage) showsNothingOfTheOtherWorkspace(op operation, a answer) {
	if a.StatusCode != http.StatusOK {
		g.t.Errorf("%s %s from another workspace: %s %s", op.method, op.path, a.Status, a.body)
	}
	for _, text := range bareID.FindAllString(string(a.body), -1) {
		if g.Count(
			`select count(*) from (select id, id as workspace_id from workspaces union all select user_id, workspace_id from members
			union all select id, workspace_id from accounts union all select post_id, workspace_id from scheduled_posts union all select id, workspace_id from media
			union all select id, workspace_id from webhook_endpoints union all select id, workspace_id from sites union all select id, workspace_id from api_tokens union all select id, workspace_id from series
			union all select object_id, workspace_id from audit_log) all_of_it where id = $1 and workspace_id = $2`,
			uuid.MustParse(text), g.Workspace.ID) > 0 {
			g.t.Errorf("%s %s shows %s of the first workspace to the other: %s", op.method, op.path, text, a.body)
		}
	}
}

func (g *stage) succeeds(op operation, r request, token string) {
	g.t.Helper()
	if a := g.reach(op, r, token); a.StatusCode < 200 || a.StatusCode > 302 {
		g.t.Errorf("%s %s: %s %s", op.method, op.path, a.Status, a.body)
	}
}

func (g *stage) refuses(op operation, r request, token string, status int, code string) {
	g.t.Helper()
	g.refused(g.reach(op, r, token), status, code)
}
