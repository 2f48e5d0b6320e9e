package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/ops/archive"

	"dateline/internal/storage/postgres/db"
)

// BeginExport notes that a workspace is to be exported, and who asked for it. One
// that is under way is given instead.
func (s *Store) BeginExport(ctx context.Context, id, workspaceID, user uuid.UUID) (job archive.Job, err error) {
	err = s.inTx(ctx, func(q *db.Queries) error {
		row, err := q.InsertExport(ctx, db.InsertExportParams{ID: id, WorkspaceID: workspaceID, UserID: orNone(user)})
		if noRows(err) {
			if row, err = q.ExportUnderWay(ctx, workspaceID); noRows(err) { // it has just ended
				row, err = q.InsertExport(ctx, db.InsertExportParams{ID: id, WorkspaceID: workspaceID, UserID: orNone(user)})
			}
		}
		if err != nil {
			return err
		}
		if job, err = jobOf(row); err != nil || row.ID != id {
			return err
		}
		return record(ctx, q, workspaceID, audit.WorkspaceExported, "workspace", workspaceID, map[string]any{"export_id": id})
	})
	return job, err
}

// ExportJob finds an export.
func (s *Store) ExportJob(ctx context.Context, id uuid.UUID) (archive.Job, error) {
	row, err := s.q.WorkspaceExport(ctx, id)
	if noRows(err) {
		return archive.Job{}, apperr.NotFound("export")
	}
	if err != nil {
		return archive.Job{}, err
	}
	return jobOf(row)
}

// ExportJobs lists the latest exports of a workspace, the newest first.
func (s *Store) ExportJobs(ctx context.Context, workspaceID uuid.UUID) ([]archive.Job, error) {
	rows, err := s.q.ListExports(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	jobs := make([]archive.Job, len(rows))
	for i, row := range rows {
		if jobs[i], err = jobOf(row); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// NoteExportProgress notes how far an export is; false: it is not under way.
func (s *Store) NoteExportProgress(ctx context.Context, id uuid.UUID, p archive.Progress) (bool, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return false, err
	}
	n, err := s.q.NoteExportProgress(ctx, db.NoteExportProgressParams{ID: id, Progress: raw})
	return n == 1, err
}

// FinishExport notes that an archive is there, for a while; false: it was not
// under way.
func (s *Store) FinishExport(ctx context.Context, id uuid.UUID, p archive.Progress, bytes int64, keep time.Duration) (bool, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return false, err
	}
	n, err := s.q.FinishExport(ctx, db.FinishExportParams{ID: id, Progress: raw, Bytes: bytes, KeepSeconds: keep.Seconds()})
	return n == 1, err
}

// FailExport notes why there will be no archive.
func (s *Store) FailExport(ctx context.Context, id uuid.UUID, problem string) error {
	return s.q.FailExport(ctx, db.FailExportParams{ID: id, Problem: problem})
}

// ExpireExport notes that the archive is there no more.
func (s *Store) ExpireExport(ctx context.Context, id uuid.UUID) error {
	return s.q.ExpireExport(ctx, id)
}

// NoteMoved writes to the audit log that what a workspace owns was written to a
// file by an operator, or is taken in, or was.
func (s *Store) NoteMoved(ctx context.Context, workspaceID uuid.UUID, what audit.Action, data map[string]any) error {
	return record(ctx, s.q, workspaceID, what, "workspace", workspaceID, data)
}

func jobOf(r db.WorkspaceExport) (archive.Job, error) {
	job := archive.Job{ID: r.ID, WorkspaceID: r.WorkspaceID, Status: archive.JobStatus(r.Status), Bytes: r.Bytes, Problem: r.Problem,
		RequestedAt: r.RequestedAt.UTC(), FinishedAt: r.FinishedAt, ExpiresAt: r.ExpiresAt}
	return job, json.Unmarshal(r.Progress, &job.Progress)
}
