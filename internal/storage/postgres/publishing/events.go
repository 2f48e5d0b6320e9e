package publishing

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
)

// Events returns up to limit events of a post's timeline after the given event.
func (s *PostStore) Events(ctx context.Context, postID uuid.UUID, after int64, limit int) ([]post.Event, error) {
	rows, err := s.q.EventsAfter(ctx, db.EventsAfterParams{PostID: postID, AfterID: after, PageSize: limit})
	if err != nil {
		return nil, err
	}
	events := make([]post.Event, len(rows))
	for i, r := range rows {
		events[i] = post.Event{
			ID: r.ID, PostID: postID, TargetID: r.TargetID, Type: r.Type, Actor: r.Actor,
			Data: r.Data, At: r.At.UTC(),
		}
	}
	return events, nil
}

// LatestEventCursor returns the position after all committed events.
func (s *PostStore) LatestEventCursor(ctx context.Context) (post.EventCursor, error) {
	row, err := s.q.EventHorizon(ctx)
	// Transactions are numbered from 3, see "Transactions and Identifiers" in
	// the manual of Postgres.
	return post.EventCursor{Tx: row.Tx - 1, ID: row.ID}, err
}

// WorkspaceEvents returns events of a workspace after a position, in an order in which
// no event is inserted later. It reads up to limit events: next is the position after
// them, and more means that there are others, available now or soon.
func (s *PostStore) WorkspaceEvents(
	ctx context.Context, f post.EventFilter, after post.EventCursor, limit int,
) (events []post.WorkspaceEvent, next post.EventCursor, more bool, err error) {
	rows, err := s.q.WorkspaceEvents(ctx, db.WorkspaceEventsParams{
		WorkspaceID: f.WorkspaceID, Types: column.List(f.Types),
		Account: f.AccountID,
		AfterTx: after.Tx, AfterID: after.ID, PageSize: limit,
	})
	if err != nil {
		return nil, after, false, err
	}
	next = after
	for _, r := range rows {
		if !r.Settled {
			return events, next, true, nil
		}
		next = post.EventCursor{Tx: r.Tx, ID: r.ID}
		if !r.Wanted {
			continue
		}
		events = append(events, post.WorkspaceEvent{
			Cursor: next, PostID: r.PostID, TargetID: r.TargetID,
			AccountID: r.AccountID,
			Type:      r.Type, Actor: r.Actor, Data: r.Data, At: r.At.UTC(),
		})
	}
	return events, next, len(rows) == limit, nil
}
