package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"dateline/internal/publishing/media"
)

// MediaLibrary deletes what nothing needs.
type MediaLibrary interface {
	Sweep(ctx context.Context, heartbeat func(media.SweepResult)) (media.SweepResult, error)
}

// Library keeps the media library in order.
type Library struct {
	Media MediaLibrary
}

// SweepResult says what a sweep did.
type SweepResult media.SweepResult

// SweepMedia deletes files that no post has used, uploads that were never
// completed, and objects that nothing refers to.
func (l *Library) SweepMedia(ctx context.Context) (SweepResult, error) {
	swept, err := l.Media.Sweep(ctx, func(so media.SweepResult) { activity.RecordHeartbeat(ctx, so) })
	return SweepResult(swept), err
}
