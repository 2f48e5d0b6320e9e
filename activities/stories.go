package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
)

// StoryPlacer places queued articles: story.Placer.
type StoryPlacer interface {
	Place(ctx context.Context, progress func(done int)) (int, error)
}

// StoryMaintainer merges and splits stories: story.Maintainer.
type StoryMaintainer interface {
	Review(ctx context.Context, limit int) (int, error)
	Nightly(ctx context.Context) (int64, error)
}

// StoryAlerter sends alerts about stories: story.Alerter.
type StoryAlerter interface {
	Alert(ctx context.Context) (int, error)
}

// Stories contains the activities of stories.
type Stories struct {
	Placer     StoryPlacer
	Maintainer StoryMaintainer
	Alerter    StoryAlerter
	Timing     StoryTiming
}

// StoryTiming configures the intervals of PlaceArticles. Zero fields have defaults; tests
// shorten them.
type StoryTiming struct {
	MaxDuration   time.Duration // of one PlaceArticles activity; 2 min
	PollInterval  time.Duration // between polls of an empty queue; 1 s
	CheckInterval time.Duration // between checks for reviews and alerts; 20 s
}

// maxReviews is the number of stories that are reviewed before articles are placed again,
// so that the reviews of a night do not delay them.
const maxReviews = 20

// PlaceArticles places articles for a while and returns their number. It is idempotent and
// may run concurrently: the stories of a language are locked, and articles leave the queue
// in the transaction that places them.
func (s *Stories) PlaceArticles(ctx context.Context) (done int, err error) {
	duration, interval, check := s.Timing.MaxDuration, s.Timing.PollInterval, s.Timing.CheckInterval
	if duration <= 0 {
		duration = 2 * time.Minute
	}
	if interval <= 0 {
		interval = time.Second
	}
	if check <= 0 {
		check = 20 * time.Second
	}
	end := time.NewTimer(duration)
	defer end.Stop()
	var reviewAt, alertAt time.Time
	for {
		n, err := s.Placer.Place(ctx, func(n int) { activity.RecordHeartbeat(ctx, done+n) })
		done += n
		if now := time.Now(); now.After(reviewAt) {
			reviewed, reviewErr := s.Maintainer.Review(ctx, maxReviews)
			err = errors.Join(err, reviewErr)
			if reviewed < maxReviews {
				reviewAt = now.Add(check)
			}
		}
		if now := time.Now(); now.After(alertAt) {
			_, alertErr := s.Alerter.Alert(ctx)
			err = errors.Join(err, alertErr)
			alertAt = now.Add(check)
		}
		if err != nil { // each step is tried although another one fails
			return done, err
		}
		activity.RecordHeartbeat(ctx, done)
		select {
		case <-ctx.Done():
			return done, ctx.Err()
		case <-activity.GetWorkerStopChannel(ctx):
			return done, nil
		case <-end.C:
			return done, nil
		case <-time.After(interval):
		}
	}
}

// RequestReviews makes recent stories due for review and deletes what is outdated.
func (s *Stories) RequestReviews(ctx context.Context) (int64, error) {
	return s.Maintainer.Nightly(ctx)
}
