package activities

import (
	"context"
	"log/slog"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
)

// SeriesStore is the database as it lists series.
type SeriesStore interface {
	ListOpenSeries(ctx context.Context, after uuid.UUID, limit int) ([]uuid.UUID, error)
}

// SeriesMaterializer creates the posts of a series.
type SeriesMaterializer interface {
	Materialize(ctx context.Context, series uuid.UUID) (changed []uuid.UUID, err error)
}

// PostSignaler starts a post's workflow, or signals the running one to read its post.
type PostSignaler interface {
	SignalChanged(ctx context.Context, postID uuid.UUID) error
}

// Series creates the posts of recurring series.
type Series struct {
	Store     SeriesStore
	Scheduler SeriesMaterializer
	Signaler  PostSignaler
	Log       *slog.Logger
}

// seriesBatch is the number of series that are listed at once.
const seriesBatch = 100

// MaterializeResult describes a run.
type MaterializeResult struct {
	Series  int
	Changed int // posts created, updated or withdrawn
	Failed  int // series whose posts could not be created; the next run retries
}

// MaterializeSeries creates and updates the posts of every series by its rule. A series
// that fails does not stop the others.
func (s *Series) MaterializeSeries(ctx context.Context) (result MaterializeResult, err error) {
	isSignaling := true
	for after := uuid.Nil; ; {
		ids, err := s.Store.ListOpenSeries(ctx, after, seriesBatch)
		if err != nil {
			return result, err
		}
		for _, id := range ids {
			changed, err := s.Scheduler.Materialize(ctx, id)
			if err != nil {
				s.Log.ErrorContext(ctx, "creating the posts of a series failed", "series_id", id, "error", err)
				result.Failed++
			}
			result.Series++
			result.Changed += len(changed)
			for _, post := range changed {
				if !isSignaling {
					break // the reconciler does it
				}
				if err := s.Signaler.SignalChanged(ctx, post); err != nil {
					s.Log.WarnContext(ctx, "signaling Temporal failed; the reconciler retries", "post_id", post,
						"error", err)
					isSignaling = false
				}
			}
			activity.RecordHeartbeat(ctx, result.Series)
			after = id
		}
		if len(ids) < seriesBatch {
			return result, ctx.Err()
		}
	}
}
