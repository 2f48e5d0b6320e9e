package activities

import (
	"context"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"dateline/internal/news/search/indexer"
)

// ArticleIndexer keeps the search index in sync.
type ArticleIndexer interface {
	Sync(ctx context.Context, heartbeat func(done int)) (int, error)
	Reindex(ctx context.Context, at indexer.Progress, heartbeat func(indexer.Progress)) (int, error)
}

// Search contains the activities of search indexing.
type Search struct {
	Indexer ArticleIndexer
	// Prepare updates the settings of the engine. It is called once, before indexing.
	Prepare func(ctx context.Context) error
	// EmbedMissing embeds articles without vectors, up to limit; nil: no embedder.
	EmbedMissing func(ctx context.Context, limit int) (int, error)
	Timing       SearchTiming

	prepared atomic.Bool
}

// SearchTiming configures the intervals of indexing. Zero fields have defaults; tests
// shorten them.
type SearchTiming struct {
	MaxDuration  time.Duration // of one SyncIndex activity; 2 min
	PollInterval time.Duration // between polls of an empty outbox; 1 s
}

const (
	embedBatchSize  = 64
	embedRetryDelay = 30 * time.Second // after a failure
)

// SyncIndex indexes changes for a while and returns their number.
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
				activity.GetLogger(ctx).Warn("could not embed articles; retrying later", "error", err)
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

// Reindex rebuilds the index. A retry continues from the progress of the previous
// attempt.
func (s *Search) Reindex(ctx context.Context) (articles int, err error) {
	var at indexer.Progress
	if activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &at) != nil {
		at = indexer.Progress{}
	}
	return s.Indexer.Reindex(ctx, at, func(at indexer.Progress) { activity.RecordHeartbeat(ctx, at) })
}
