package postgres

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/db"
)

// Events reads up to limit events of a post's timeline behind the event after.
func (s *Store) Events(ctx context.Context, postID uuid.UUID, after int64, limit int) ([]post.Event, error) {
	rows, err := s.q.EventsAfter(ctx, db.EventsAfterParams{PostID: postID, AfterID: after, PageSize: int32(limit)}) //nolint:gosec // callers ask for hundreds
	if err != nil {
		return nil, err
	}
	events := make([]post.Event, len(rows))
	for i, r := range rows {
		events[i] = post.Event{ID: r.ID, PostID: postID, TargetID: r.TargetID, Type: r.Type, Actor: r.Actor, Data: r.Data, At: r.At.UTC()}
	}
	return events, nil
}

// LatestEventCursor gives the place behind all events that are settled now.
func (s *Store) LatestEventCursor(ctx context.Context) (post.EventCursor, error) {
	row, err := s.q.EventsNow(ctx)
	// Transactions are numbered from 3, see "Transactions and Identifiers" in
	// the manual of Postgres.
	return post.EventCursor{Tx: row.Tx - 1, ID: row.ID}, err
}

// WorkspaceEvents reads what happened in a workspace behind a place, in an
// order in which nothing comes in between later. It looks at up to limit
// events: next is the place behind them, and more says that there are others,
// which can be read at once or soon.
func (s *Store) WorkspaceEvents(ctx context.Context, f post.EventFilter, after post.EventCursor, limit int) (events []post.WorkspaceEvent, next post.EventCursor, more bool, err error) {
	rows, err := s.q.WorkspaceEvents(ctx, db.WorkspaceEventsParams{WorkspaceID: f.WorkspaceID, Types: orEmpty(f.Types), Account: f.AccountID,
		AfterTx: after.Tx, AfterID: after.ID, PageSize: int32(limit)}) //nolint:gosec // callers ask for hundreds
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
		events = append(events, post.WorkspaceEvent{Cursor: next, PostID: r.PostID, TargetID: r.TargetID, AccountID: r.AccountID,
			Type: r.Type, Actor: r.Actor, Data: r.Data, At: r.At.UTC()})
	}
	return events, next, len(rows) == limit, nil
}

// AlignCursor makes a database that was restored from a dump usable for
// readers of whole workspaces: transactions of the server that it comes from
// would look as if they were still to come.
func (s *Store) AlignCursor(ctx context.Context) (restored bool, err error) {
	if restored, err = s.q.EventsFromTheFuture(ctx); err != nil || !restored {
		return restored, err
	}
	return true, s.inTx(ctx, func(q *db.Queries) error {
		if err := q.RestartCursor(ctx); err != nil {
			return err
		}
		return q.RestartEvents(ctx)
	})
}
