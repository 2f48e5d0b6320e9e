package publishing

import (
	"context"
	"errors"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/review"
	"dateline/internal/storage/postgres/publishing/db"
)

// Submit submits a draft for approval. The draft or the change must contain a time; only
// the time, time zone and queue of the change are used.
func (s *PostStore) Submit(ctx context.Context, g post.Guard, change post.Change) (post.Post, error) {
	return s.change(ctx, g, post.EventSubmitted, changedFields(change), func(q *queries) (db.ScheduledPost, error) {
		setGroup, group := queueGroupOf(change)
		return q.SubmitPost(ctx, db.SubmitPostParams{
			PostID: g.PostID, WorkspaceID: g.WorkspaceID,
			IfVersion:   g.IfVersion,
			SubmittedBy: optional.Of(g.UserID), ScheduledTime: change.ScheduledTime, TimeZone: change.TimeZone,
			SetQueueGroup: setGroup, QueueGroupID: group,
		})
	})
}

// Approve schedules a post that is pending approval. If its time has passed, the
// post stays pending and an error is returned.
func (s *PostStore) Approve(ctx context.Context, g post.Guard) (post.Post, error) {
	p, err := s.change(ctx, g, post.EventApproved, reviewData(g, nil), func(q *queries) (db.ScheduledPost, error) {
		row, err := q.ApprovePost(ctx, db.ApprovePostParams{
			PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion, Approver: optional.Of(g.UserID),
		})
		if err != nil {
			return row, err
		}
		if err := decideByLink(ctx, q, g, review.Approved); err != nil {
			return row, err
		}
		return row, recordPost(ctx, q, row, g.Actor, audit.PostApproved, reviewData(g, nil))
	})
	if err == nil {
		return p, nil
	}
	return p, s.whyUndecided(ctx, g, err)
}

// Reject returns a submitted post to its author.
func (s *PostStore) Reject(ctx context.Context, g post.Guard, note string) (post.Post, error) {
	p, err := s.change(ctx, g, post.EventRejected, reviewData(g, map[string]any{"note": note}),
		func(q *queries) (db.ScheduledPost, error) {
			row, err := q.RejectPost(ctx, db.RejectPostParams{
				PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion, Approver: optional.Of(g.UserID),
				Note: note,
			})
			if err != nil {
				return row, err
			}
			if err := decideByLink(ctx, q, g, review.Rejected); err != nil {
				return row, err
			}
			return row, recordPost(ctx, q, row, g.Actor, audit.PostRejected, reviewData(g, nil))
		})
	if err == nil {
		return p, nil
	}
	return p, s.whyUndecided(ctx, g, err)
}

// Reopen undoes an approval or a request for changes. The database decides whether publishing was faster.
func (s *PostStore) Reopen(ctx context.Context, g post.Guard) (post.Post, error) {
	p, err := s.change(ctx, g, post.EventReopened, nil, func(q *queries) (db.ScheduledPost, error) {
		row, err := q.ReopenPost(ctx, db.ReopenPostParams{
			PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion,
		})
		if err != nil {
			return row, err
		}
		return row, recordPost(ctx, q, row, g.Actor, audit.PostReopened, nil)
	})
	if err == nil || !isTooLate(err) {
		return p, err
	}
	current, read := s.PostInWorkspace(ctx, g.WorkspaceID, g.PostID)
	switch {
	case read != nil:
		return post.Post{}, read
	case current.Approval.State == post.ApprovalGranted && current.Status != post.Draft:
		return post.Post{}, post.TooLate(current)
	default:
		return post.Post{}, post.NotDecided(current)
	}
}

// whyUndecided returns the error for a post that could not be approved or rejected.
func (s *PostStore) whyUndecided(ctx context.Context, g post.Guard, err error) error {
	if !isTooLate(err) {
		return err
	}
	current, read := s.PostInWorkspace(ctx, g.WorkspaceID, g.PostID)
	switch {
	case read != nil:
		return read
	case current.IsPendingApproval():
		return s.overdue(ctx, g, current)
	default:
		return post.NotPending(current)
	}
}

// overdue records in the post's timeline, once, that its time has passed.
func (s *PostStore) overdue(ctx context.Context, g post.Guard, p post.Post) error {
	refusal := post.Overdue(p.ScheduledTime)
	g.IfVersion = 0
	_, err := s.change(ctx, g, post.EventRefused, map[string]any{
		"asked": "approve", "code": refusal.Code,
		"reason": refusal.Message,
	}, func(q *queries) (db.ScheduledPost, error) {
		return q.NoteOverdue(ctx, db.NoteOverdueParams{
			PostID: g.PostID, WorkspaceID: g.WorkspaceID, Note: refusal.Message,
		})
	})
	if err != nil && !isTooLate(err) {
		return err
	}
	return refusal
}

func isTooLate(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e) && e.Kind == apperr.KindConflict
}
