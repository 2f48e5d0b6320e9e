package publishing

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/publishing/db"
)

// EditWaiting changes segments of threads that wait for their time. It is too late as
// soon as any segment is in flight.
func (s *PostStore) EditWaiting(ctx context.Context, g post.Guard, change post.Change) (post.Post, error) {
	params := db.EditWaitingPostParams{PostID: g.PostID}
	if change.Thread != nil {
		var err error
		if params.Thread, err = threadJSON(*change.Thread); err != nil {
			return post.Post{}, err
		}
	}
	data := map[string]any{}
	return s.change(ctx, g, post.EventEdited, data, func(q *queries) (db.ScheduledPost, error) {
		if err := lockMedia(ctx, q, mediaOfChange(change)); err != nil {
			return db.ScheduledPost{}, err
		}
		row, err := q.LockWaitingPost(ctx, db.LockWaitingPostParams{
			PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion,
		})
		if err != nil {
			return row, err
		}
		waiting, err := q.WaitingTargets(ctx, g.PostID)
		if err == nil && len(waiting) == 0 {
			err = pgx.ErrNoRows
		}
		if err != nil {
			return row, err
		}
		before, err := withTargets(ctx, q, row, nil)
		if err != nil {
			return row, err
		}
		if row, err = q.EditWaitingPost(ctx, params); err != nil {
			return row, err
		}
		if err := editTargets(ctx, q, row, change); err != nil {
			return row, err
		}
		after, err := withTargets(ctx, q, row, nil)
		if err != nil {
			return row, err
		}
		if !post.KeepsPublished(before, after, waiting) {
			return row, post.AlreadyPublished()
		}
		maps.Copy(data, editedFields(row, change))
		return row, setWaits(ctx, q, after, waiting)
	})
}

// setWaits sets when the next segment of each waiting target is due.
func setWaits(ctx context.Context, q *queries, p post.Post, waiting []uuid.UUID) error {
	for _, t := range p.Targets {
		if !slices.Contains(waiting, t.ID) {
			continue
		}
		var until *time.Time
		segments, next := p.Segments(t), len(t.Published)
		if next > 0 && next < len(segments) && segments[next].AfterMinutes > 0 {
			last := t.Published[next-1]
			at := last.PostedAt
			if last.SentAt != nil {
				at = *last.SentAt
			}
			at = at.Add(time.Duration(segments[next].AfterMinutes) * time.Minute)
			until = &at
		}
		if err := q.SetWait(ctx, db.SetWaitParams{ID: t.ID, WaitsUntil: until}); err != nil {
			return err
		}
	}
	return nil
}
