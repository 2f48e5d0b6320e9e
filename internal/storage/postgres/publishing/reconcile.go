package publishing

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// AcknowledgeRevision returns a post for its workflow and records the revision that the
// workflow has seen.
func (s *LedgerStore) AcknowledgeRevision(ctx context.Context, postID uuid.UUID) (post.Post, error) {
	// Usually it has seen the revision before; skip the write, which waits for the disk.
	row, err := s.q.GetPost(ctx, postID)
	if err == nil && (row.WorkflowRevision == nil || *row.WorkflowRevision != row.Revision) {
		row, err = s.q.AcknowledgeRevision(ctx, postID)
	}
	return withTargets(ctx, s.q, row, err)
}

// AcknowledgeFirst records that the workflows of posts were started with their first
// revision.
func (s *LedgerStore) AcknowledgeFirst(ctx context.Context, posts []uuid.UUID) error {
	return s.q.AcknowledgeFirst(ctx, posts)
}

// ListMissingWorkflows lists posts whose workflow was never notified of the newest
// revision or is overdue, by time, from the one that follows after; zero: from the first.
func (s *LedgerStore) ListMissingWorkflows(
	ctx context.Context, after post.Unattended, limit int,
) ([]post.Unattended, error) {
	rows, err := s.q.PostsMissingWorkflow(ctx, db.PostsMissingWorkflowParams{
		AfterTime: after.ScheduledTime, AfterID: after.PostID, Batch: limit,
	})
	if err != nil {
		return nil, err
	}
	missing := make([]post.Unattended, len(rows))
	for i, r := range rows {
		missing[i] = post.Unattended{
			PostID: r.PostID, ScheduledTime: r.ScheduledTime.UTC(),
			IsStale: r.WorkflowRevision == nil || *r.WorkflowRevision != r.Revision,
		}
	}
	return missing, nil
}

const temporalStoreKey = "temporal_store"

// DetectNewTemporalStore compares the identity of Temporal's store with the last one. In a
// new store, all workflows are missing: it marks every open post and every open webhook
// delivery as missing its workflow, and returns the number of posts in forgotten.
func (s *LedgerStore) DetectNewTemporalStore(ctx context.Context, identity string) (forgotten int64, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		before, err := tx.Setting(ctx, q.tx, temporalStoreKey)
		if err != nil && !tx.NoRows(err) {
			return err
		}
		if before == identity {
			return nil
		}
		if before != "" {
			if forgotten, err = q.ForgetWorkflows(ctx); err != nil {
				return err
			}
			if err := q.ForgetDeliveryWorkflows(ctx); err != nil {
				return err
			}
		}
		return tx.PutSetting(ctx, q.tx, temporalStoreKey, identity)
	})
	return forgotten, err
}

// DeleteExpiredIdempotencyKeys deletes keys older than a week.
func (s *LedgerStore) DeleteExpiredIdempotencyKeys(ctx context.Context) error {
	if _, err := s.q.DeleteOldIdempotencyKeys(ctx); err != nil {
		return err
	}
	_, err := s.q.DeleteOldBulkAnswers(ctx)
	return err
}
