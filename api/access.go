package api

import (
	"errors"
	"fmt"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"

	"dateline/internal/identity/workspace"
)

// access defines who may call an operation.
type access struct {
	public  bool            // without authentication
	session bool            // with the browser's session; if public, it is used if there is one
	token   bool            // with an API token
	least   workspace.Role  // the minimum role
	scope   workspace.Scope // the scope that a token needs; empty: any token
}

// The extensions of openapi.yaml that define the access to an operation, and their values
// besides the roles and scopes.
const (
	roleExtension  = "x-role"
	scopeExtension = "x-scope"
	publicRole     = "public"
	anyScope       = "any"
)

// readAccess returns the access to every operation by operationId. It is an error if an
// operation does not say it.
func readAccess(doc *openapi3.T) (map[string]access, error) {
	table := map[string]access{}
	var problems []error
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			a, err := accessOf(op, doc.Security)
			if err != nil {
				problems = append(problems, fmt.Errorf("openapi.yaml: %s %s: %w", method, path, err))
			}
			table[op.OperationID] = a
		}
	}
	return table, errors.Join(problems...)
}

// accessOf returns the access to an operation that accepts the credentials of its
// `security`, or else those of the document.
func accessOf(op *openapi3.Operation, security openapi3.SecurityRequirements) (a access, err error) {
	if op.Security != nil {
		security = *op.Security
	}
	a.public = len(security) == 0
	for _, one := range security {
		_, hasSession := one["session"]
		_, hasToken := one["token"]
		a.public, a.session, a.token = a.public || len(one) == 0, a.session || hasSession, a.token || hasToken
	}
	role, _ := op.Extensions[roleExtension].(string)
	scope, hasScope := op.Extensions[scopeExtension].(string)
	if a.public != (role == publicRole) {
		return a, fmt.Errorf("%s is %q, but security makes the operation public: %t", roleExtension, role, a.public)
	}
	if a.least = workspace.Role(role); !a.public && !slices.Contains(workspace.Roles(), a.least) {
		return a, fmt.Errorf("%s is %q, want %s or one of %q", roleExtension, role, publicRole, workspace.Roles())
	}
	if needsScope := a.token && !a.public; !needsScope {
		if hasScope {
			return a, fmt.Errorf("%s must be absent, because no token is needed", scopeExtension)
		}
		return a, nil
	}
	if a.scope = workspace.Scope(scope); scope == anyScope {
		a.scope = ""
	} else if !slices.Contains(workspace.Scopes(), a.scope) {
		return a, fmt.Errorf("%s is %q, want %s or one of %q", scopeExtension, scope, anyScope, workspace.Scopes())
	}
	return a, nil
}

// scopesOf lists the scopes of a principal, limited by role and token.
func (s *WorkspaceHandler) scopesOf(who workspace.Principal) []workspace.Scope {
	var out []workspace.Scope
	for _, a := range s.access {
		if a.scope != "" && who.Role.AtLeast(a.least) && who.Has(a.scope) && !slices.Contains(out, a.scope) {
			out = append(out, a.scope)
		}
	}
	slices.Sort(out)
	return out
}
