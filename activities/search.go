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
	Sync(ctx context.Context, beat func(done int)) (int, error)
	Reindex(ctx context.Context, at indexer.Progress, beat func(indexer.Progress)) (int, error)
}

// Search keeps the index of the search.
type Search struct {
	Indexer ArticleIndexer
	// Prepare brings the engine's settings up to date; it is called before the first look.
	Prepare func(ctx context.Context) error
	// EmbedMissing makes vectors that are missing, so many at most; nil: there are none to make.
	EmbedMissing func(ctx context.Context, most int) (int, error)
	Timing       SearchTiming

	prepared atomic.Bool
}

// SearchTiming are the pauses of the indexing. A zero field has its default;
// tests shorten them.
type SearchTiming struct {
	MaxDuration  time.Duration // how long one activity watches the outbox; 2 min
	PollInterval time.Duration // between two looks that find nothing; 1 s
}

const (
	embedBatchSize  = 64
	embedRetryDelay = 30 * time.Second // after it failed
)

// SyncIndex takes what changes into the index, for a while. It gives how
// many changes that were.
func (s *Search) SyncIndex(ctx context.Context) (done int, err error) {
	watch, look := s.Timing.MaxDuration, s.Timing.PollInterval
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
		n, err := s.Indexer.Sync(ctx, func(n int) { activity.RecordHeartbeat(ctx, done+n) })
		done += n
		if err != nil {
			return done, err
		}
		if s.EmbedMissing != nil && n == 0 && time.Now().After(embedAfter) {
			if _, err := s.EmbedMissing(ctx, embedBatchSize); err != nil {
				embedAfter = time.Now().Add(embedRetryDelay)
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
