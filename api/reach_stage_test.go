package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"dateline/internal/identity/workspace"
)

// caller is a member with tokens of every kind.
type caller struct {
	workspace.Principal
	token, expired, revoked string
}

// stage is an installation with two workspaces and their members.
type stage struct {
	*server
	members, rivals []caller // by role, from least to most
	things          things
	database        *pgx.Conn
}

func openStage(t *testing.T) *stage {
	t.Helper()
	g := &stage{server: start(t)}
	g.things = things{s: g.server, ownAccount: g.Connect("desk")}
	rivals, rival, _ := g.Found("Rivals")
	for _, role := range workspace.Roles() {
		own, theirs := g.Owner, rival
		if role != workspace.Owner {
			own, theirs = g.Join(g.Workspace, role), g.Join(rivals, role)
		}
		g.members, g.rivals = append(g.members, g.caller(own)), append(g.rivals, g.caller(theirs))
	}
	g.watch()
	return g
}

func (g *stage) caller(who workspace.Principal) caller {
	g.t.Helper()
	c := caller{who, g.TokenOf(who), g.TokenOf(who), g.TokenOf(who)}
	g.Exec("update api_tokens set expires_at = now() - interval '1 second' where hash = $1",
		workspace.HashToken(c.expired))
	revoked, _, err := g.Store.Identity.Workspaces.Bearer(g.t.Context(), workspace.HashToken(c.revoked))
	g.Must(err)
	g.Must(g.Store.Identity.Workspaces.RevokeToken(g.t.Context(), who.WorkspaceID, revoked.TokenID, nil))
	return c
}

// request builds a valid request of a caller.
func (g *stage) request(r reach, c caller, unknown bool) (request, bool) {
	x := g.things
	x.caller, x.unknown = c.Principal, unknown
	built := r.build(&x)
	return built, x.given
}

func (g *stage) operations() map[string]operation {
	all := map[string]operation{}
	for path, item := range g.answers.doc.Paths.Map() {
		for method, op := range item.Operations() {
			all[op.OperationID] = operation{method, path, item.Parameters, op}
		}
	}
	return all
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// reach sends a request. It reads only the beginning of a stream.
func (g *stage) reach(op operation, r request, token string) answer {
	g.t.Helper()
	args := r.args
	path := placeholder.ReplaceAllStringFunc(op.path, func(string) string {
		arg := fmt.Sprint(args[0])
		args = args[1:]
		return arg
	})
	if r.query != "" {
		path += "?" + r.query
	}
	var body io.Reader
	if text, ok := r.body.(string); ok {
		body = strings.NewReader(text)
	} else if r.body != nil {
		raw, err := json.Marshal(r.body)
		g.Must(err)
		body = bytes.NewReader(raw)
	}
	ctx, hangUp := context.WithCancel(g.t.Context())
	defer hangUp()
	out, err := http.NewRequestWithContext(ctx, op.method, g.url+path, body)
	g.Must(err)
	if r.authorization != "" {
		out.Header.Set("Authorization", r.authorization)
	} else if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		out.Header.Set("Content-Type", "application/json")
	}
	if r.ifMatch != "" {
		out.Header.Set("If-Match", r.ifMatch)
	}
	if r.contentType != "" {
		out.Header.Set("Content-Type", r.contentType)
	}
	got, err := g.client.Do(out)
	g.Must(err)
	defer func() { _ = got.Body.Close() }()
	if strings.HasPrefix(got.Header.Get("Content-Type"), "text/event-stream") {
		return answer{got, nil}
	}
	raw, err := io.ReadAll(got.Body)
	g.Must(err)
	return answer{got, raw}
}

// watch prepares databaseState: triggers record every row that changes. It omits when tokens
// were used, which every request changes. Comparing the contents of all tables instead took
// most of the time of these tests.
func (g *stage) watch() {
	g.t.Helper()
	c, err := pgx.Connect(g.t.Context(), g.DatabaseURL)
	g.Must(err)
	g.t.Cleanup(func() { _ = c.Close(context.Background()) })
	_, err = c.Exec(g.t.Context(), `create schema watching; create table watching.changes (name text not null);
		create function watching.note() returns trigger language plpgsql as
			$$ begin insert into watching.changes values (tg_argv[0]); return null; end $$`)
	g.Must(err)
	rows, err := c.Query(g.t.Context(),
		"select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') "+
			"and not relispartition order by 1")
	g.Must(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	g.Must(err)
	for _, table := range tables {
		columns := "%s.*"
		if table == "api_tokens" {
			columns = "(%[1]s.id, %[1]s.hash, %[1]s.user_id, %[1]s.scopes, %[1]s.expires_at, %[1]s.revoked_at)"
		}
		name := pgx.Identifier{table}.Sanitize()
		_, err := c.Exec(g.t.Context(), fmt.Sprintf(`
			create trigger watch_rows after insert or delete on %[1]s for each row
				execute function watching.note('%[2]s');
			create trigger watch_updates after update on %[1]s for each row when (%[3]s is distinct from %[4]s)
				execute function watching.note('%[2]s')`,
			name, table, fmt.Sprintf(columns, "old"), fmt.Sprintf(columns, "new")))
		g.Must(err)
	}
	g.database = c
	for _, change := range []string{"name || '.'", "left(name, -1)", "name"} {
		_, err := c.Exec(g.t.Context(), "update users set name = "+change)
		g.Must(err)
	}
	if got, users := g.databaseState(), 2*g.Count("select count(*) from users"); got != fmt.Sprintf("users %d", users) {
		g.t.Fatalf("after two changes of each user: got %q, want users %d", got, users)
	}
}

// databaseState returns how many rows of each table have changed.
func (g *stage) databaseState() string {
	g.t.Helper()
	rows, err := g.database.Query(g.t.Context(),
		"select name || ' ' || count(*) from watching.changes group by name order by name")
	g.Must(err)
	counts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	g.Must(err)
	return strings.Join(counts, "\n")
}

var bareID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
