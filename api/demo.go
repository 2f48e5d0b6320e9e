package api

import (
	"context"

	"dateline/api/spec"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
)

// DemoHandler serves the demo.
type DemoHandler struct {
	Demo *workspace.Demo // nil: the sandbox is off
}

// GetDemo returns whether there is a demo.
func (s *DemoHandler) GetDemo(ctx context.Context, _ spec.GetDemoRequestObject) (spec.GetDemoResponseObject, error) {
	out := spec.GetDemo200JSONResponse{Available: s.Demo != nil}
	if s.Demo == nil {
		return out, nil
	}
	w, found, err := s.Demo.Find(ctx, principal(ctx))
	if found {
		demo := workspaceJSON(w)
		out.Workspace = &demo
	}
	return out, err
}

// CreateDemo creates the demo.
func (s *DemoHandler) CreateDemo(
	ctx context.Context, _ spec.CreateDemoRequestObject,
) (spec.CreateDemoResponseObject, error) {
	if s.Demo == nil {
		return nil, demoNeedsSandbox()
	}
	w, err := s.Demo.Create(ctx, principal(ctx))
	return spec.CreateDemo201JSONResponse(workspaceJSON(w)), err
}

// RemoveDemo deletes the demo.
func (s *DemoHandler) RemoveDemo(
	ctx context.Context, _ spec.RemoveDemoRequestObject,
) (spec.RemoveDemoResponseObject, error) {
	if s.Demo == nil {
		return nil, demoNeedsSandbox()
	}
	return spec.RemoveDemo204Response{}, s.Demo.Remove(ctx, principal(ctx))
}

func demoNeedsSandbox() error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "sandbox_off",
		Message: "The demo needs the sandbox, which `dateline up` starts unless DATELINE_SANDBOX is false.",
	}
}
