package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"dateline/internal/publishing/media"
)

// MediaLibrary deletes unused files.
type MediaLibrary interface {
	Sweep(ctx context.Context, heartbeat func(media.SweepResult)) (media.SweepResult, error)
}

// Library maintains the media library.
type Library struct {
	Media MediaLibrary
}

// SweepResult describes a sweep.
type SweepResult media.SweepResult

// SweepMedia deletes files that no post has used, uploads that were never completed,
// and unreferenced objects.
func (l *Library) SweepMedia(ctx context.Context) (SweepResult, error) {
	swept, err := l.Media.Sweep(ctx, func(so media.SweepResult) { activity.RecordHeartbeat(ctx, so) })
	return SweepResult(swept), err
}
