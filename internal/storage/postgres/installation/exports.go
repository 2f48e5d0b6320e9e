package installation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/storage/postgres/installation/db"
	"dateline/internal/storage/postgres/tx"
	"dateline/internal/system/archive"
)

// CreateExport creates an export of a workspace, or returns the active one.
func (s *ArchiveStore) CreateExport(ctx context.Context, id, workspaceID, user uuid.UUID) (job archive.Job, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.InsertExport(ctx, db.InsertExportParams{
			ID: id, WorkspaceID: workspaceID,
			UserID: optional.Of(user),
		})
		if tx.NoRows(err) {
			if row, err = q.ActiveExport(ctx, workspaceID); tx.NoRows(err) { // it ended concurrently
				row, err = q.InsertExport(ctx, db.InsertExportParams{
					ID: id, WorkspaceID: workspaceID, UserID: optional.Of(user),
				})
			}
		}
		if err != nil {
			return err
		}
		if job, err = toJob(row); err != nil || row.ID != id {
			return err
		}
		return tx.Record(ctx, q.tx, workspaceID, audit.WorkspaceExported, "workspace", workspaceID, map[string]any{
			"export_id": id,
		})
	})
	return job, err
}

// ExportJob returns an export.
func (s *ArchiveStore) ExportJob(ctx context.Context, id uuid.UUID) (archive.Job, error) {
	row, err := s.q.WorkspaceExport(ctx, id)
	if tx.NoRows(err) {
		return archive.Job{}, apperr.NotFound("export")
	}
	if err != nil {
		return archive.Job{}, err
	}
	return toJob(row)
}

// ExportJobs lists the latest exports of a workspace, newest first.
func (s *ArchiveStore) ExportJobs(ctx context.Context, workspaceID uuid.UUID) ([]archive.Job, error) {
	rows, err := s.q.ListExports(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	jobs := make([]archive.Job, len(rows))
	for i, row := range rows {
		if jobs[i], err = toJob(row); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// UpdateExportProgress stores the progress of an export and reports whether it is active.
func (s *ArchiveStore) UpdateExportProgress(ctx context.Context, id uuid.UUID, p archive.Progress) (bool, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return false, err
	}
	n, err := s.q.UpdateExportProgress(ctx, db.UpdateExportProgressParams{ID: id, Progress: raw})
	return n == 1, err
}

// FinishExport marks an export as done and reports whether it was active.
func (s *ArchiveStore) FinishExport(
	ctx context.Context, id uuid.UUID, p archive.Progress, bytes int64, retention time.Duration,
) (bool, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return false, err
	}
	n, err := s.q.FinishExport(ctx, db.FinishExportParams{
		ID: id, Progress: raw, Bytes: bytes, RetentionSeconds: retention.Seconds(),
	})
	return n == 1, err
}

// FailExport marks an export as failed.
func (s *ArchiveStore) FailExport(ctx context.Context, id uuid.UUID, reason string) error {
	return s.q.FailExport(ctx, db.FailExportParams{ID: id, Error: reason})
}

// CancelExport marks an active export as canceled.
func (s *ArchiveStore) CancelExport(ctx context.Context, workspaceID, id uuid.UUID) error {
	return s.q.CancelExport(ctx, db.CancelExportParams{ID: id, WorkspaceID: workspaceID})
}

// ExpireExport marks an export whose archive was deleted.
func (s *ArchiveStore) ExpireExport(ctx context.Context, id uuid.UUID) error {
	return s.q.ExpireExport(ctx, id)
}

// AuditArchive records an export or an import of a workspace in the audit log.
func (s *ArchiveStore) AuditArchive(
	ctx context.Context, workspaceID uuid.UUID, action audit.Action, data map[string]any,
) error {
	return tx.Record(ctx, s.q.tx, workspaceID, action, "workspace", workspaceID, data)
}

func toJob(r db.WorkspaceExport) (archive.Job, error) {
	job := archive.Job{
		ID: r.ID, WorkspaceID: r.WorkspaceID, Status: archive.JobStatus(r.Status), Bytes: r.Bytes,
		Error:       r.Error,
		RequestedAt: r.RequestedAt.UTC(), FinishedAt: r.FinishedAt, ExpiresAt: r.ExpiresAt,
	}
	return job, json.Unmarshal(r.Progress, &job.Progress)
}
