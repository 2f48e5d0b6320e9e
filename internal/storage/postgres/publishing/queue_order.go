package publishing

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// ReorderQueue moves a post within its queue, and returns all posts that got another
// slot.
func (s *PostStore) ReorderQueue(
	ctx context.Context, g post.Guard, move post.QueueMove,
) (moved []post.Post, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		if _, err := q.LockGroup(ctx, db.LockGroupParams{ID: move.GroupID, WorkspaceID: g.WorkspaceID}); err != nil {
			return tx.OrNotFound(err, "account group")
		}
		rows, err := q.LockQueue(ctx, db.LockQueueParams{WorkspaceID: g.WorkspaceID, GroupID: move.GroupID})
		if err != nil {
			return err
		}
		queue := make([]post.QueuedPost, len(rows))
		for i, r := range rows {
			queue[i] = post.QueuedPost{PostID: r.PostID, GroupID: move.GroupID, At: r.At}
		}
		slices.SortFunc(queue, func(a, b post.QueuedPost) int { return a.At.Compare(b.At) })
		changed, ok := move.Reorder(queue)
		if !ok {
			return post.NotInQueue()
		}
		moved, err = enterSlots(ctx, q, g, move.GroupID, changed)
		return err
	})
	if err != nil {
		return nil, slotError(err)
	}
	return moved, nil
}

func enterSlots(
	ctx context.Context, q *queries, g post.Guard, group uuid.UUID, changed []post.QueuedPost,
) ([]post.Post, error) {
	if len(changed) == 0 {
		return nil, nil
	}
	ids, ats := make([]uuid.UUID, len(changed)), make([]time.Time, len(changed))
	for i, c := range changed {
		ids[i], ats[i] = c.PostID, c.At
	}
	if err := q.LeaveSlots(ctx, ids); err != nil {
		return nil, err
	}
	rows, err := q.EnterSlots(ctx, db.EnterSlotsParams{GroupID: group, PostIds: ids, Ats: ats})
	if err != nil {
		return nil, err
	}
	if early, err := q.HasEarlyReply(ctx, ids); err != nil || early {
		if early {
			err = post.EarlyReply()
		}
		return nil, err
	}
	moved := make([]post.Post, 0, len(rows))
	for _, row := range rows {
		if err := addEvent(ctx, q, row, nil, post.EventEdited, g.Actor,
			map[string]any{"scheduled_time": row.ScheduledTime}); err != nil {
			return nil, err
		}
		p, err := withTargets(ctx, q, row, nil)
		if err != nil {
			return nil, err
		}
		moved = append(moved, p)
	}
	slices.SortFunc(moved, func(a, b post.Post) int { return a.ScheduledTime.Compare(b.ScheduledTime) })
	return moved, nil
}
