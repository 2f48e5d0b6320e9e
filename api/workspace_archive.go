package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/system/archive"
)

// ArchiveHandler exports and imports workspaces.
type ArchiveHandler struct {
	Exports *archive.Archives
	Into    archive.Target // what imports are written to, without Who
	Log     *slog.Logger
}

// ExportWorkspace starts an export.
func (s *ArchiveHandler) ExportWorkspace(
	ctx context.Context, _ spec.ExportWorkspaceRequestObject,
) (spec.ExportWorkspaceResponseObject, error) {
	job, err := s.Exports.Start(ctx, principal(ctx))
	return spec.ExportWorkspace202JSONResponse(exportJSON(job)), err
}

// ListWorkspaceExports lists the latest exports.
func (s *ArchiveHandler) ListWorkspaceExports(
	ctx context.Context, _ spec.ListWorkspaceExportsRequestObject,
) (spec.ListWorkspaceExportsResponseObject, error) {
	jobs, err := s.Exports.List(ctx, principal(ctx))
	out := spec.ListWorkspaceExports200JSONResponse{Exports: []spec.WorkspaceExport{}}
	for _, job := range jobs {
		out.Exports = append(out.Exports, exportJSON(job))
	}
	return out, err
}

// GetWorkspaceExport returns an export.
func (s *ArchiveHandler) GetWorkspaceExport(
	ctx context.Context, r spec.GetWorkspaceExportRequestObject,
) (spec.GetWorkspaceExportResponseObject, error) {
	job, err := s.Exports.Get(ctx, principal(ctx), r.Id)
	return spec.GetWorkspaceExport200JSONResponse(exportJSON(job)), err
}

// CancelWorkspaceExport cancels an export.
func (s *ArchiveHandler) CancelWorkspaceExport(
	ctx context.Context, r spec.CancelWorkspaceExportRequestObject,
) (spec.CancelWorkspaceExportResponseObject, error) {
	job, err := s.Exports.Cancel(ctx, principal(ctx), r.Id)
	return spec.CancelWorkspaceExport200JSONResponse(exportJSON(job)), err
}

// DownloadWorkspaceExport streams an archive.
func (s *ArchiveHandler) DownloadWorkspaceExport(
	ctx context.Context, r spec.DownloadWorkspaceExportRequestObject,
) (spec.DownloadWorkspaceExportResponseObject, error) {
	job, body, err := s.Exports.Open(ctx, principal(ctx), r.Id)
	if err != nil {
		return nil, err
	}
	return archiveDownload{ctx: ctx, archives: s, job: job, body: body}, nil
}

type archiveDownload struct {
	ctx      context.Context
	archives *ArchiveHandler
	job      archive.Job
	body     io.ReadCloser
}

// VisitDownloadWorkspaceExportResponse writes the archive. On an error it aborts the
// connection, so that the client does not mistake a partial archive for a complete one.
func (d archiveDownload) VisitDownloadWorkspaceExportResponse(w http.ResponseWriter) error {
	defer func() { _ = d.body.Close() }()
	w.Header().Set("Content-Type", archive.ContentType)
	w.Header().Set("Content-Length", strconv.FormatInt(d.job.Bytes, 10))
	w.Header().Set("Content-Disposition", `attachment; filename="workspace-`+
		d.job.RequestedAt.Format("20060102-150405")+`.tar.zst"`)
	w.WriteHeader(http.StatusOK)
	_, err := io.Copy(w, d.body)
	if err == nil {
		return nil
	}
	if d.ctx.Err() == nil {
		d.archives.Log.ErrorContext(d.ctx, "the download of an export was aborted", "export_id", d.job.ID, "error", err)
	}
	return http.ErrAbortHandler
}

func exportJSON(job archive.Job) spec.WorkspaceExport {
	out := spec.WorkspaceExport{
		Id: job.ID, Status: spec.WorkspaceExportStatus(job.Status),
		RequestedAt: job.RequestedAt, FinishedAt: job.FinishedAt, ExpiresAt: job.ExpiresAt,
		Rows: map[string]int64{}, Files: job.Progress.Files, Error: optional.Of(job.Error), Url: optional.Of(job.URL),
	}
	for section, n := range job.Progress.Rows {
		out.Rows[string(section)] = int64(n)
	}
	if job.Progress.RowsTotal > 0 {
		out.RowsTotal = &job.Progress.RowsTotal
	}
	if job.Progress.FilesTotal > 0 {
		out.FilesTotal = &job.Progress.FilesTotal
	}
	if job.Bytes > 0 {
		out.Bytes = &job.Bytes
	}
	return out
}

// ImportWorkspace imports an archive.
func (s *ArchiveHandler) ImportWorkspace(
	ctx context.Context, r spec.ImportWorkspaceRequestObject,
) (spec.ImportWorkspaceResponseObject, error) {
	into := s.Into
	into.Who = principal(ctx)
	done, err := archive.Import(ctx, r.Body, into)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "body", Code: "too_large",
			Message: "The archive is too large; an operator can import it with `dateline import`.",
		})
	case errors.Is(err, archive.ErrInvalid):
		return nil, apperr.InvalidFields(apperr.FieldError{Field: "body", Code: "invalid", Message: err.Error()})
	case err != nil:
		return nil, err
	}
	out := spec.ImportWorkspace200JSONResponse{Added: map[string]int64{}, Skipped: append([]string{}, done.Skipped...)}
	for section, n := range done.Added {
		out.Added[string(section)] = n
	}
	return out, nil
}
