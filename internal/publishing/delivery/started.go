package delivery

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/batch"
	"dateline/internal/publishing/post"
)

// StartedStore records which posts have a workflow.
type StartedStore interface {
	// AcknowledgeFirst records that the workflows of posts know their first revision.
	AcknowledgeFirst(ctx context.Context, posts []uuid.UUID) error
}

// Started plans new posts for their workflows, and records that these have started. So
// a workflow neither reads its post first nor writes that it has.
type Started struct {
	planner *Planner
	acks    *batch.Batcher[uuid.UUID, struct{}]
	log     *slog.Logger
}

// startedDelay lets the records of many posts share a transaction.
const startedDelay = 500 * time.Millisecond

// NewStarted returns a Started that records until ctx ends.
func NewStarted(ctx context.Context, planner *Planner, store StartedStore, log *slog.Logger) *Started {
	return &Started{planner: planner, log: log, acks: batch.NewWithDelay(ctx, startedDelay, maxBatch, 1,
		func(ctx context.Context, posts []uuid.UUID) ([]struct{}, error) {
			return make([]struct{}, len(posts)), store.AcknowledgeFirst(ctx, posts)
		})}
}

// View plans a post that was just stored.
func (s *Started) View(ctx context.Context, p post.Post) (PostView, error) {
	return s.planner.View(ctx, p)
}

// Acknowledge records a little later that a workflow was started with the first revision
// of its post. If the record is lost, Recovery signals the workflow to read the post.
func (s *Started) Acknowledge(ctx context.Context, id uuid.UUID) {
	ctx = context.WithoutCancel(ctx)
	go func() {
		if _, err := s.acks.Do(ctx, id); err != nil && !errors.Is(err, batch.ErrStopped) {
			s.log.WarnContext(ctx, "recording that a post has a workflow failed; the reconciler signals it", "post_id",
				id, "error", err)
		}
	}()
}
