package activities

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"dateline/internal/system/archive"
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

// ArchiveResult describes the written archive.
type ArchiveResult struct {
	Written bool // false: it was not to be written any more
	Bytes   int64
	Keep    time.Duration
}

// exportHeartbeatInterval is shorter than the export's heartbeat timeout, a
// minute.
const exportHeartbeatInterval = 40 * time.Second

// WriteArchive writes the archive of an export.
func (a *Archive) WriteArchive(ctx context.Context, in ArchiveInput) (ArchiveResult, error) {
	defer heartbeat(ctx, exportHeartbeatInterval)()
	job, err := a.Archives.Write(ctx, in.ExportID)
	return ArchiveResult{
		Written: err == nil && job.Status == archive.JobDone, Bytes: job.Bytes,
		Keep: archive.Retention,
	}, err
}

// FailArchive records that the export failed.
func (a *Archive) FailArchive(ctx context.Context, in ArchiveInput) error {
	return a.Archives.Fail(ctx, in.ExportID)
}

// DropArchive deletes an archive.
func (a *Archive) DropArchive(ctx context.Context, in ArchiveInput) error {
	return a.Archives.Expire(ctx, in.ExportID)
}

// heartbeat records a heartbeat at every interval until it is stopped.
func heartbeat(ctx context.Context, interval time.Duration) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return stop
}
