package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
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
	stateQuery      string // sum of each table; see databaseState
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

// watch prepares databaseState. It omits when tokens were used, which every request
// changes.
func (g *stage) watch() {
	g.t.Helper()
	c, err := pgx.Connect(g.t.Context(), g.DatabaseURL)
	g.Must(err)
	g.t.Cleanup(func() { _ = c.Close(context.Background()) })
	// Planning the query and starting processes for it take longer than reading tables
	// of a few rows.
	_, err = c.Exec(g.t.Context(), "set max_parallel_workers_per_gather = 0; set plan_cache_mode = force_generic_plan")
	g.Must(err)
	rows, err := c.Query(g.t.Context(),
		"select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') "+
			"and not relispartition order by 1")
	g.Must(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	g.Must(err)
	queries := make([]string, len(tables))
	for i, table := range tables {
		columns := "r"
		if table == "api_tokens" {
			columns = "r.id, r.hash, r.user_id, r.scopes, r.expires_at, r.revoked_at"
		}
		queries[i] = fmt.Sprintf("select '%s ' || coalesce(md5(string_agg(t, '' order by t)), '') from (select "+
			"row(%s)::text as t from %s r) rows",
			table, columns, pgx.Identifier{table}.Sanitize())
	}
	g.database, g.stateQuery = c, strings.Join(queries, " union all ")
}

// databaseState returns a checksum of each table.
func (g *stage) databaseState() string {
	g.t.Helper()
	rows, err := g.database.Query(g.t.Context(), g.stateQuery)
	g.Must(err)
	sums, err := pgx.CollectRows(rows, pgx.RowTo[string])
	g.Must(err)
	slices.Sort(sums) // Postgres may read the tables in parallel
	return strings.Join(sums, "\n")
}

var bareID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
