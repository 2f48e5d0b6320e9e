package archive

import (
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

// Keep is how long an archive that a workflow wrote is kept.
const Keep = 7 * 24 * time.Hour

// linkLife is how long an address of an archive is good for.
const linkLife = time.Hour

// ContentType is how archives are labelled.
const ContentType = "application/zstd"

// JobStatus is how far an export is.
type JobStatus string

// The statuses.
const (
	JobWaiting JobStatus = "waiting"
	JobWriting JobStatus = "writing"
	JobDone    JobStatus = "done"
	JobFailed  JobStatus = "failed"
	JobExpired JobStatus = "expired" // the archive is there no more
)

// Progress says how much of a workspace is in an archive.
type Progress struct {
	Rows       Exported `json:"rows"`
	Files      int      `json:"files"`
	FilesTotal int      `json:"files_total"` // known once all rows are written
}

// Job is an export that a workflow carries out.
type Job struct {
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	Status      JobStatus
	Progress    Progress
	Bytes       int64 // of the archive, once it is there
	Problem     string
	RequestedAt time.Time
	FinishedAt  *time.Time
	ExpiresAt   *time.Time
	URL         string // where it can be downloaded for an hour; of one that is asked for by its id
}

// JobStore is the database as it keeps exports.
type JobStore interface {
	Source
	BeginExport(ctx context.Context, id, workspace, user uuid.UUID) (Job, error)
	ExportJob(ctx context.Context, id uuid.UUID) (Job, error)
	ExportJobs(ctx context.Context, workspace uuid.UUID) ([]Job, error)
	NoteExportProgress(ctx context.Context, id uuid.UUID, p Progress) (underWay bool, err error)
	FinishExport(ctx context.Context, id uuid.UUID, p Progress, bytes int64, keep time.Duration) (underWay bool, err error)
	FailExport(ctx context.Context, id uuid.UUID, problem string) error
	ExpireExport(ctx context.Context, id uuid.UUID) error
}

// JobObjects is where archives lie.
type JobObjects interface {
	Objects
	Stream(ctx context.Context, key, contentType string, from io.Reader) (int64, error)
	Size(ctx context.Context, key string) (int64, error)
	PresignGet(ctx context.Context, key string, life time.Duration) (string, error)
	Delete(ctx context.Context, key string) error
}

// Workflows tells Temporal of exports.
type Workflows interface {
	StartWorkspaceExport(ctx context.Context, id uuid.UUID) error
}

// Archives has workspaces exported into the object store.
type Archives struct {
	Store     JobStore
	Objects   JobObjects
	Workflows Workflows // only to begin
	Version   string    // of the program
}

// key is where an export's archive lies.
func key(j Job) string {
	return "exports/workspaces/" + j.WorkspaceID.String() + "/" + j.ID.String() + ".tar.zst"
}

// Begin has a workspace exported. When that is under way, it is that export.
func (a *Archives) Begin(ctx context.Context, who workspace.Principal) (Job, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Job{}, err
	}
	job, err := a.Store.BeginExport(ctx, id, who.WorkspaceID, who.UserID)
	if err != nil {
		return job, err
	}
	// Also one that is under way: Temporal may have lost its store since.
	if err := a.Workflows.StartWorkspaceExport(ctx, job.ID); err != nil {
		if job.ID == id {
			err = errors.Join(err, a.Store.FailExport(context.WithoutCancel(ctx), id, "Temporal did not answer."))
		}
		return job, err
	}
	return job, nil
}

// List gives the latest exports of a workspace, the newest first.
func (a *Archives) List(ctx context.Context, who workspace.Principal) ([]Job, error) {
	return a.Store.ExportJobs(ctx, who.WorkspaceID)
}

// Get finds an export. One that is done has an address.
func (a *Archives) Get(ctx context.Context, who workspace.Principal, id uuid.UUID) (Job, error) {
	job, err := a.Store.ExportJob(ctx, id)
	if err == nil && job.WorkspaceID != who.WorkspaceID {
		err = apperr.NotFound("export")
	}
	if err != nil || job.Status != JobDone {
		return job, err
	}
	// After a restore the row may be there and the archive not.
	switch _, err := a.Objects.Size(ctx, key(job)); {
	case errors.Is(err, blob.ErrNotFound):
		job.Status = JobExpired
		return job, nil
	case err != nil:
		return job, err
	}
	job.URL, err = a.Objects.PresignGet(ctx, key(job), linkLife)
	return job, err
}

// Open reads an archive that is done.
func (a *Archives) Open(ctx context.Context, who workspace.Principal, id uuid.UUID) (Job, io.ReadCloser, error) {
	job, err := a.Get(ctx, who, id)
	if err != nil {
		return job, nil, err
	}
	if job.Status != JobDone {
		return job, nil, &apperr.Error{Kind: apperr.KindConflict, Code: "export_" + string(job.Status), Message: "There is no archive of this export: it is " + string(job.Status) + "."}
	}
	body, err := a.Objects.Get(ctx, key(job))
	return job, body, err
}

// progressEvery is how often progress is noted.
const progressEvery = 2 * time.Second

// Write carries an export out. One that is not under way any more is left alone.
func (a *Archives) Write(ctx context.Context, id uuid.UUID) (job Job, err error) {
	if job, err = a.Store.ExportJob(ctx, id); err != nil {
		return job, err
	}
	underWay, err := a.Store.NoteExportProgress(ctx, id, Progress{})
	if err != nil || !underWay {
		return job, err
	}
	var done Progress
	noted := time.Now()
	note := func(p Progress) error {
		done = p
		if time.Since(noted) < progressEvery {
			return nil
		}
		noted = time.Now()
		_, err := a.Store.NoteExportProgress(ctx, id, p)
		return err
	}
	out, in := io.Pipe()
	written := make(chan error, 1)
	go func() {
		_, err := Export(ctx, in, From{Source: a.Store, Objects: a.Objects, Workspace: job.WorkspaceID, Version: a.Version, Note: note})
		_ = in.CloseWithError(err) // nil ends the archive
		written <- err
	}()
	bytes, err := a.Objects.Stream(ctx, key(job), ContentType, out)
	_ = out.CloseWithError(err)
	if failed := <-written; err == nil {
		err = failed
	}
	if err != nil {
		return job, fmt.Errorf("exporting workspace %s: %w", job.WorkspaceID, err)
	}
	if underWay, err = a.Store.FinishExport(ctx, id, done, bytes, Keep); err == nil && underWay {
		job.Status, job.Progress, job.Bytes = JobDone, done, bytes
	}
	return job, err
}

// Fail notes that an export was given up.
func (a *Archives) Fail(ctx context.Context, id uuid.UUID) error {
	return a.Store.FailExport(ctx, id, "It could not be written; the log of the worker says why.")
}

// Expire deletes an archive.
func (a *Archives) Expire(ctx context.Context, id uuid.UUID) error {
	job, err := a.Store.ExportJob(ctx, id)
	var refused *apperr.Error
	if errors.As(err, &refused) {
		return nil // its workspace is gone, and what it owned with it
	}
	if err != nil {
		return err
	}
	if err := a.Objects.Delete(ctx, key(job)); err != nil {
		return err
	}
	return a.Store.ExpireExport(ctx, id)
}
