package api

import (
	"context"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/optional"
)

// WorkspaceHandler serves workspaces.
type WorkspaceHandler struct {
	Store  IdentityStore
	People *workspace.Service

	access map[string]access // by operationId
}

// GetMe returns the principal of the request.
func (s *WorkspaceHandler) GetMe(ctx context.Context, _ spec.GetMeRequestObject) (spec.GetMeResponseObject, error) {
	who := principal(ctx)
	user, err := s.Store.User(ctx, who.UserID)
	if err != nil {
		return nil, err
	}
	w, err := s.Store.Workspace(ctx, who.WorkspaceID)
	if err != nil {
		return nil, err
	}
	me := spec.GetMe200JSONResponse{
		User: userJSON(user), Role: spec.Role(who.Role), Workspace: workspaceJSON(w),
		Scopes: scopesJSON(s.scopesOf(who)),
	}
	if who.TokenName != "" {
		me.Token = &spec.MyToken{
			Id: who.TokenID, Name: who.TokenName, Scopes: scopesJSON(who.Scopes), ExpiresAt: who.ExpiresAt,
		}
	}
	return me, nil
}

// GetWorkspace returns the workspace.
func (s *WorkspaceHandler) GetWorkspace(
	ctx context.Context, _ spec.GetWorkspaceRequestObject,
) (spec.GetWorkspaceResponseObject, error) {
	w, err := s.Store.Workspace(ctx, principal(ctx).WorkspaceID)
	return spec.GetWorkspace200JSONResponse(workspaceJSON(w)), err
}

// UpdateWorkspace changes the workspace's settings.
func (s *WorkspaceHandler) UpdateWorkspace(
	ctx context.Context, r spec.UpdateWorkspaceRequestObject,
) (spec.UpdateWorkspaceResponseObject, error) {
	w, err := s.People.ChangeWorkspace(ctx, principal(ctx),
		workspace.Change{
			Name: r.Body.Name, TimeZone: r.Body.TimeZone,
			AuthorsNeedApproval: r.Body.AuthorsNeedApproval, KeepMediaCredit: r.Body.KeepMediaCredit,
		})
	return spec.UpdateWorkspace200JSONResponse(workspaceJSON(w)), err
}

// ListWorkspaces lists the workspaces of the user.
func (s *WorkspaceHandler) ListWorkspaces(
	ctx context.Context, _ spec.ListWorkspacesRequestObject,
) (spec.ListWorkspacesResponseObject, error) {
	list, err := s.Store.WorkspacesOf(ctx, principal(ctx).UserID)
	out := spec.ListWorkspaces200JSONResponse{Workspaces: []spec.MyWorkspace{}}
	session := ownSession(ctx)
	for _, m := range list {
		if !session.Reaches(m.Workspace.ID) {
			continue
		}
		out.Workspaces = append(out.Workspaces, spec.MyWorkspace{
			Workspace: workspaceJSON(m.Workspace), Role: spec.Role(m.Role),
		})
	}
	return out, err
}

// CreateWorkspace creates another workspace.
func (s *WorkspaceHandler) CreateWorkspace(
	ctx context.Context, r spec.CreateWorkspaceRequestObject,
) (spec.CreateWorkspaceResponseObject, error) {
	who := principal(ctx)
	key, err := idempotencyOf(ctx, r.Params.IdempotencyKey, "workspace of "+who.UserID.String(), r.Body)
	if err != nil {
		return nil, err
	}
	w, replayed, err := s.People.CreateWorkspace(ctx, who, r.Body.Name, optional.Value(r.Body.TimeZone), key)
	return spec.CreateWorkspace201JSONResponse{
		Body:    workspaceJSON(w),
		Headers: spec.CreateWorkspace201ResponseHeaders{IdempotentReplayed: ifReplayed(replayed)},
	}, err
}

// ifReplayed is the header Idempotent-Replayed.
func ifReplayed(replayed bool) *string {
	if !replayed {
		return nil
	}
	yes := "true"
	return &yes
}

func workspaceJSON(w workspace.Workspace) spec.Workspace {
	return spec.Workspace{
		Id: w.ID, Name: w.Name, TimeZone: w.TimeZone, AuthorsNeedApproval: w.AuthorsNeedApproval,
		KeepMediaCredit: w.KeepMediaCredit,
	}
}

func userJSON(u workspace.User) spec.User {
	return spec.User{Id: u.ID, Name: u.Name, Email: optional.Of(u.Email)}
}

func scopesJSON(scopes []workspace.Scope) []spec.Scope {
	out := make([]spec.Scope, len(scopes))
	for i, scope := range scopes {
		out[i] = spec.Scope(scope)
	}
	return out
}
