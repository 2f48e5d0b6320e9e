package api_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"dateline/api"
	"dateline/internal/audience/ingest"
	"dateline/internal/identity/login"
	"dateline/internal/identity/workspace"
	"dateline/internal/publishing/media"
)

var update = flag.Bool("update", false, "rewrite testdata/access.txt") //nolint:gochecknoglobals // flags are

const accessFile = "testdata/access.txt"

// bearers authenticates tokens of the form "role scope".
type bearers struct{ api.IdentityStore }

func (bearers) Bearer(_ context.Context, hash []byte) (workspace.Principal, workspace.TokenStatus, error) {
	for _, role := range workspace.Roles() {
		for _, scope := range append(workspace.Scopes(), workspace.Everything, "") {
			if slices.Equal(hash, workspace.HashToken(tokenOf(role, scope))) {
				return workspace.Principal{
					WorkspaceID: uuid.New(), UserID: uuid.New(), TokenID: uuid.New(), Role: role,
					Scopes: []workspace.Scope{scope},
				}, workspace.TokenActive, nil
			}
		}
	}
	return workspace.Principal{}, workspace.TokenUnknown, nil
}

func tokenOf(role workspace.Role, scope workspace.Scope) string {
	return string(role) + "/" + string(scope)
}

type deaf struct{}

func (deaf) Listen(context.Context, uuid.UUID) <-chan struct{} { return nil }
func (deaf) ListenAll(context.Context) <-chan struct{}         { return nil }
func (deaf) ListenAccess(context.Context) <-chan uuid.UUID     { return nil }
func (deaf) AccessChanged(uuid.UUID)                           {}

// accessControlOnly builds the API without any backend. A request that passes access
// control panics and gets status 500.
func accessControlOnly(t *testing.T) (http.Handler, *openapi3.T) {
	t.Helper()
	doc, err := readDocument()
	if err != nil {
		t.Fatal(err)
	}
	h, err := accessControlOf(t, doc)
	if err != nil {
		t.Fatal(err)
	}
	return h, doc
}

// accessControlOf is accessControlOnly of a document.
func accessControlOf(t *testing.T, doc *openapi3.T) (http.Handler, error) {
	t.Helper()
	sessions, err := login.New(login.Options{PublicURL: "https://dateline.example"})
	if err != nil {
		t.Fatal(err)
	}
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	s := &api.Server{
		Settings: api.Settings{
			Document: func() (*openapi3.T, error) { return doc, nil }, Page: page,
			Log: slog.New(slog.DiscardHandler), MaxBodyBytes: 1 << 10,
		},
		Identity: api.Identity{
			MemberHandler: api.MemberHandler{Store: bearers{}, Events: deaf{}}, SessionHandler: api.SessionHandler{Login: sessions},
		},
		Audience: &api.Audience{}, News: &api.News{},
	}
	s.MediaHandler.Media = &media.Service{MaxBytes: 1}
	return s.Handler()
}

func roleNames(roles map[workspace.Role]bool) (names []string) {
	for _, role := range workspace.Roles() {
		if roles[role] {
			names = append(names, string(role))
		}
	}
	return names
}

// TestAccess_IsExactlyAsListed sends every operation of openapi.yaml with a token of
// every role and scope. testdata/access.txt lists which are allowed. To change access
// on purpose, run the test with -update and review the diff.
func TestAccess_IsExactlyAsListed(t *testing.T) {
	h, doc := accessControlOnly(t)
	var lines []string
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if ingest.Serves(path) {
				continue // without tokens
			}
			lines = append(lines, fmt.Sprintf("%-24s %s", op.OperationID,
				whoMay(t.Context(), h, method, placeholder.ReplaceAllString(path, uuid.NewString()))))
		}
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(accessFile, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(accessFile)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	for _, line := range lines {
		if !slices.Contains(want, line) {
			t.Errorf("got  %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(lines, line) {
			t.Errorf("want %s", line)
		}
	}
}

// whoMay returns the roles and scopes that may call an operation, for example "viewer
// author … with posts:read *". "none" means without any scope.
func whoMay(ctx context.Context, h http.Handler, method, path string) string {
	if !isRefusal(sent(ctx, h, method, path, "")) {
		return "anyone"
	}
	by := map[string]map[workspace.Role]bool{} // scopes to roles
	for _, role := range workspace.Roles() {
		var scopes []string
		for _, scope := range append([]workspace.Scope{"", workspace.Everything}, workspace.Scopes()...) {
			if !isRefusal(sent(ctx, h, method, path, tokenOf(role, scope))) {
				scopes = append(scopes, string(scope))
			}
		}
		text := strings.TrimSpace(strings.Join(scopes, " "))
		if len(scopes) == len(workspace.Scopes())+2 {
			text = "any token"
		}
		if len(scopes) > 0 {
			if by[text] == nil {
				by[text] = map[workspace.Role]bool{}
			}
			by[text][role] = true
		}
	}
	var all []string
	for scopes, roles := range by {
		all = append(all, strings.Join(roleNames(roles), " ")+" with "+scopes)
	}
	slices.Sort(all)
	if len(all) == 0 {
		return "sessions only"
	}
	return strings.Join(all, "; ")
}

func isRefusal(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

func sent(ctx context.Context, h http.Handler, method, path, token string) int {
	r := httptest.NewRequestWithContext(ctx, method, path, http.NoBody)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

// The refusal names the scope that the token lacks (RFC 6750, section 3.1), so that
// clients can request it.
func TestAccess_ARefusalNamesTheMissingScope(t *testing.T) {
	h, _ := accessControlOnly(t)
	for name, row := range map[string]struct {
		method, token string
		want          string
	}{
		"ScopeMissing": {
			http.MethodGet, tokenOf(workspace.Editor, workspace.MediaRead),
			`Bearer realm="dateline", error="insufficient_scope", scope="posts:read"`,
		},
		"RoleTooLow": {http.MethodPost, tokenOf(workspace.Viewer, workspace.Everything), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), row.method, "/api/v1/posts", http.NoBody)
			r.Header.Set("Authorization", "Bearer "+row.token)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Header().Get("WWW-Authenticate"); w.Code != http.StatusForbidden || got != row.want {
				t.Errorf("got %d, WWW-Authenticate %q, want 403, %q", w.Code, got, row.want)
			}
		})
	}
}
