package api

import (
	"context"
	"errors"
	"net/http"

	"dateline/api/spec"
	"dateline/internal/portable"
	"dateline/internal/post"
)

// ExportWorkspace streams everything that the workspace owns.
func (s *Server) ExportWorkspace(ctx context.Context, _ spec.ExportWorkspaceRequestObject) (spec.ExportWorkspaceResponseObject, error) {
	return moving{ctx, s}, nil
}

type moving struct {
	ctx    context.Context
	server *Server
}

// VisitExportWorkspaceResponse writes the archive. When something goes wrong on
// the way the connection is cut, so that nobody takes half of it for the whole.
func (m moving) VisitExportWorkspaceResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/zstd")
	w.Header().Set("Content-Disposition", `attachment; filename="workspace.tar.zst"`)
	w.WriteHeader(http.StatusOK)
	_, err := portable.Export(m.ctx, w, m.server.Store, m.server.Media.Objects, principal(m.ctx).WorkspaceID, "")
	if err == nil {
		return nil
	}
	if !errors.Is(err, context.Canceled) {
		m.server.Log.Error("the export of a workspace was cut off", "error", err)
	}
	return http.ErrAbortHandler
}

// ImportWorkspace takes an archive in.
func (s *Server) ImportWorkspace(ctx context.Context, r spec.ImportWorkspaceRequestObject) (spec.ImportWorkspaceResponseObject, error) {
	into := portable.Into{Store: s.Store, Objects: s.Media.Objects, Media: s.Media, Who: principal(ctx)}
	if s.Views != nil {
		into.Sites = s.Views.Sites
	}
	if s.Crawl != nil {
		into.Seeds = s.Crawl
	}
	done, err := portable.Import(ctx, r.Body, into)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, post.InvalidFields(post.Problem{Field: "body", Code: "too_large", Message: "The archive is too large; an operator can take it in with `dateline import`."})
	case errors.Is(err, portable.ErrNoArchive):
		return nil, post.InvalidFields(post.Problem{Field: "body", Code: "invalid", Message: err.Error()})
	case err != nil:
		return nil, err
	}
	out := spec.ImportWorkspace200JSONResponse{Added: map[string]int64{}, LeftOut: append([]string{}, done.Left...)}
	for section, n := range done.Added {
		out.Added[string(section)] = n
	}
	return out, nil
}
