package activities

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/ops/archive"
)

// Archives writes what workspaces own into the object store: portable.Archives.
type Archives interface {
	Write(ctx context.Context, id uuid.UUID) (archive.Job, error)
	Fail(ctx context.Context, id uuid.UUID) error
	Expire(ctx context.Context, id uuid.UUID) error
}

// Archive exports workspaces.
type Archive struct {
	Archives Archives
}

// ArchiveInput names an export.
type ArchiveInput struct {
	ExportID uuid.UUID
}

// ArchiveResult says what was written.
type ArchiveResult struct {
	Written bool // false: it was not to be written any more
	Bytes   int64
	Keep    time.Duration
}

// archivePulse is how often an export gives a sign of life: seldom, for its
// heartbeat timeout is a minute.
const archivePulse = 10 * time.Second

// WriteArchive writes the archive of an export.
func (a *Archive) WriteArchive(ctx context.Context, in ArchiveInput) (ArchiveResult, error) {
	alive := keepAlive(ctx, archivePulse)
	defer alive.stop()
	job, err := a.Archives.Write(ctx, in.ExportID)
	return ArchiveResult{Written: err == nil && job.Status == archive.JobDone, Bytes: job.Bytes, Keep: archive.Keep}, err
}

// FailArchive notes that there will be none.
func (a *Archive) FailArchive(ctx context.Context, in ArchiveInput) error {
	return a.Archives.Fail(ctx, in.ExportID)
}

// DropArchive deletes an archive.
func (a *Archive) DropArchive(ctx context.Context, in ArchiveInput) error {
	return a.Archives.Expire(ctx, in.ExportID)
}
