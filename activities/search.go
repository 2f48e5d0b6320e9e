package activities

import (
	"context"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"dateline/internal/news/search/indexer"
)

// ArticleIndexer brings articles into the index of the search.
type ArticleIndexer interface {
	Drain(ctx context.Context, beat func(done int)) (int, error)
	Reindex(ctx context.Context, at indexer.Progress, beat func(indexer.Progress)) (int, error)
}

// Search keeps the index of the search.
type Search struct {
	Indexer ArticleIndexer
	// Prepare brings the engine's settings up to date; it is called before the first look.
	Prepare func(ctx context.Context) error
	// Missing makes vectors that are missing, so many at most; nil: there are none to make.
	Missing func(ctx context.Context, most int) (int, error)
	Timing  SearchTiming

	prepared atomic.Bool
}

// SearchTiming are the pauses of the indexing. A zero field has its default;
// tests shorten them.
type SearchTiming struct {
	Watch time.Duration // how long one activity watches the outbox; 2 min
	Look  time.Duration // between two looks that find nothing; 1 s
}

const (
	vectorsAtOnce = 64
	embedderRest  = 30 * time.Second // after it failed
)

// FollowArticles takes what changes into the index, for a while. It gives how
// many changes that were.
func (s *Search) FollowArticles(ctx context.Context) (done int, err error) {
	watch, look := s.Timing.Watch, s.Timing.Look
	if watch <= 0 {
		watch = 2 * time.Minute
	}
	if look <= 0 {
		look = time.Second
	}
	if !s.prepared.Load() {
		if err := s.Prepare(ctx); err != nil {
			return 0, err
		}
		s.prepared.Store(true)
	}
	var embedAfter time.Time
	end := time.NewTimer(watch)
	defer end.Stop()
	for {
		n, err := s.Indexer.Drain(ctx, func(n int) { activity.RecordHeartbeat(ctx, done+n) })
		done += n
		if err != nil {
			return done, err
		}
		if s.Missing != nil && n == 0 && time.Now().After(embedAfter) {
			if _, err := s.Missing(ctx, vectorsAtOnce); err != nil {
				embedAfter = time.Now().Add(embedderRest)
				activity.GetLogger(ctx).Warn("articles wait to be embedded", "error", err)
			}
		}
		activity.RecordHeartbeat(ctx, done)
		select {
		case <-ctx.Done():
			return done, ctx.Err()
		case <-activity.GetWorkerStopChannel(ctx):
			return done, nil
		case <-end.C:
			return done, nil
		case <-time.After(look):
		}
	}
}

// Reindex builds the index anew. A retry goes on where the last try was.
func (s *Search) Reindex(ctx context.Context) (articles int, err error) {
	var at indexer.Progress
	if activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &at) != nil {
		at = indexer.Progress{}
	}
	return s.Indexer.Reindex(ctx, at, func(at indexer.Progress) { activity.RecordHeartbeat(ctx, at) })
}
