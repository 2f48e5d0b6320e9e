package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"

	"dateline/internal/infra/blob"
)

// Retention is how long the archive of an export is stored.
const Retention = 7 * 24 * time.Hour

// linkTTL is the validity of the download URL of an archive.
const linkTTL = time.Hour

// ContentType is the media type of archives.
const ContentType = "application/zstd"

// JobStatus is the status of an export.
type JobStatus string

// The statuses.
const (
	JobPending  JobStatus = "pending"
	JobRunning  JobStatus = "running"
	JobDone     JobStatus = "done"
	JobFailed   JobStatus = "failed"
	JobExpired  JobStatus = "expired" // the archive was deleted
	JobCanceled JobStatus = "canceled"
)

// Progress is the progress of an export.
type Progress struct {
	Rows       Exported `json:"rows"`
	RowsTotal  int      `json:"rows_total"`
	Files      int      `json:"files"`
	FilesTotal int      `json:"files_total"` // known after all rows are written
}

// Job is an export that a workflow executes.
type Job struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	Status      JobStatus
	Progress    Progress
	Bytes       int64 // size of the archive
	Error       string
	RequestedAt time.Time
	FinishedAt  *time.Time
	ExpiresAt   *time.Time
	URL         string // download URL, valid for one hour; set by Get
}

// JobStore stores exports.
type JobStore interface {
	Source
	CreateExport(ctx context.Context, id, workspace, user uuid.UUID) (Job, error)
	ExportJob(ctx context.Context, id uuid.UUID) (Job, error)
	ExportJobs(ctx context.Context, workspace uuid.UUID) ([]Job, error)
	UpdateExportProgress(ctx context.Context, id uuid.UUID, p Progress) (active bool, err error)
	FinishExport(ctx context.Context, id uuid.UUID, p Progress, bytes int64, retention time.Duration) (active bool,
		err error)
	FailExport(ctx context.Context, id uuid.UUID, reason string) error
	CancelExport(ctx context.Context, workspace, id uuid.UUID) error
	ExpireExport(ctx context.Context, id uuid.UUID) error
}

// JobObjects stores archives in the object store.
type JobObjects interface {
	Objects
	Stream(ctx context.Context, key, contentType string, from io.Reader) (int64, error)
	Size(ctx context.Context, key string) (int64, error)
	PresignGet(ctx context.Context, key string, ttl time.Duration) (string, error)
	Delete(ctx context.Context, key string) error
}

// Workflows starts export workflows.
type Workflows interface {
	StartWorkspaceExport(ctx context.Context, id uuid.UUID) error
}

// Archives exports workspaces to the object store.
type Archives struct {
	Store     JobStore
	Objects   JobObjects
	Workflows Workflows // only required by Start
	Version   string    // of the program
	// ProgressInterval is the minimum interval of progress updates, each of which notices a
	// cancellation; default 2 s.
	ProgressInterval time.Duration
}

// key returns the object key of the archive.
func key(j Job) string {
	return "exports/workspaces/" + j.WorkspaceID.String() + "/" + j.ID.String() + ".tar.zst"
}

// Start starts an export of a workspace, or returns the active one.
func (a *Archives) Start(ctx context.Context, who workspace.Principal) (Job, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Job{}, err
	}
	job, err := a.Store.CreateExport(ctx, id, who.WorkspaceID, who.UserID)
	if err != nil {
		return job, err
	}
	// Also for an active export: Temporal may have lost its data.
	if err := a.Workflows.StartWorkspaceExport(ctx, job.ID); err != nil {
		if job.ID == id {
			err = errors.Join(err, a.Store.FailExport(context.WithoutCancel(ctx), id, "Temporal is not available."))
		}
		return job, err
	}
	return job, nil
}

// List returns the latest exports of a workspace, newest first.
func (a *Archives) List(ctx context.Context, who workspace.Principal) ([]Job, error) {
	return a.Store.ExportJobs(ctx, who.WorkspaceID)
}

// Get returns an export, with its download URL if it is done.
func (a *Archives) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Job, error) {
	job, err := a.Store.ExportJob(ctx, id)
	if err == nil && job.WorkspaceID != who.WorkspaceID {
		err = apperr.NotFound("export")
	}
	if err != nil || job.Status != JobDone {
		return job, err
	}
	// After a restore, the archive can be missing.
	switch _, err := a.Objects.Size(ctx, key(job)); {
	case errors.Is(err, blob.ErrNotFound):
		job.Status = JobExpired
		return job, nil
	case err != nil:
		return job, err
	}
	job.URL, err = a.Objects.PresignGet(ctx, key(job), linkTTL)
	return job, err
}

// Cancel cancels an export that is pending or running, and returns it. Its archive is not
// stored.
func (a *Archives) Cancel(ctx context.Context, who workspace.Principal, id uuid.UUID) (Job, error) {
	if err := a.Store.CancelExport(ctx, who.WorkspaceID, id); err != nil {
		return Job{}, err
	}
	return a.Get(ctx, who, id)
}

// Open opens the archive of an export.
func (a *Archives) Open(ctx context.Context, who workspace.Principal, id uuid.UUID) (Job, io.ReadCloser, error) {
	job, err := a.Get(ctx, who, id)
	if err != nil {
		return job, nil, err
	}
	if job.Status != JobDone {
		return job, nil, &apperr.Error{
			Kind: apperr.KindConflict, Code: "export_" + string(job.Status),
			Message: "This export has no archive, because it is " + string(job.Status) + ".",
		}
	}
	body, err := a.Objects.Get(ctx, key(job))
	return job, body, err
}

const progressInterval = 2 * time.Second

// errCanceled ends the writing of an export that was canceled.
var errCanceled = errors.New("the export was canceled") //nolint:gochecknoglobals // a sentinel

// Write executes an export, unless it is no longer active.
func (a *Archives) Write(ctx context.Context, id uuid.UUID) (job Job, err error) {
	if job, err = a.Store.ExportJob(ctx, id); err != nil {
		return job, err
	}
	active, err := a.Store.UpdateExportProgress(ctx, id, Progress{})
	if err != nil || !active {
		return job, err
	}
	var done Progress
	updatedAt := time.Now()
	update := func(p Progress) error {
		done = p
		if time.Since(updatedAt) < cmp.Or(a.ProgressInterval, progressInterval) {
			return nil
		}
		updatedAt = time.Now()
		active, err := a.Store.UpdateExportProgress(ctx, id, p)
		if err == nil && !active {
			err = errCanceled
		}
		return err
	}
	out, in := io.Pipe()
	written := make(chan error, 1)
	go func() {
		_, err := Export(ctx, in, ExportOptions{
			Source: a.Store, Objects: a.Objects, Workspace: job.WorkspaceID, Version: a.Version, OnProgress: update,
		})
		_ = in.CloseWithError(err) // nil means end of file
		written <- err
	}()
	bytes, err := a.Objects.Stream(ctx, key(job), ContentType, out)
	_ = out.CloseWithError(err)
	if failed := <-written; err == nil {
		err = failed
	}
	if errors.Is(err, errCanceled) {
		job.Status = JobCanceled
		return job, nil
	}
	if err != nil {
		return job, fmt.Errorf("exporting workspace %s: %w", job.WorkspaceID, err)
	}
	if active, err = a.Store.FinishExport(ctx, id, done, bytes, Retention); err != nil {
		return job, err
	}
	if !active {
		job.Status = JobCanceled
		return job, a.Objects.Delete(ctx, key(job))
	}
	job.Status, job.Progress, job.Bytes = JobDone, done, bytes
	return job, nil
}

// Fail marks an export as failed.
func (a *Archives) Fail(ctx context.Context, id uuid.UUID) error {
	return a.Store.FailExport(ctx, id, "The archive could not be written; see the log of the worker.")
}

// Expire deletes an archive.
func (a *Archives) Expire(ctx context.Context, id uuid.UUID) error {
	job, err := a.Store.ExportJob(ctx, id)
	var refused *apperr.Error
	if errors.As(err, &refused) {
		return nil // the workspace was deleted
	}
	if err != nil {
		return err
	}
	if err := a.Objects.Delete(ctx, key(job)); err != nil {
		return err
	}
	return a.Store.ExpireExport(ctx, id)
}
