package store

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/post"
	"dateline/internal/store/db"
)

// Events reads up to limit events of a post's timeline behind the event after.
func (s *Store) Events(ctx context.Context, postID uuid.UUID, after int64, limit int) ([]post.Event, error) {
	rows, err := s.q.EventsAfter(ctx, db.EventsAfterParams{PostID: postID, AfterID: after, PageSize: int32(limit)}) //nolint:gosec // callers ask for hundreds
	if err != nil {
		return nil, err
	}
	events := make([]post.Event, len(rows))
	for i, r := range rows {
		events[i] = post.Event{ID: r.ID, PostID: r.PostID, TargetID: r.TargetID, Type: r.Type, Actor: r.Actor, Data: r.Data, At: r.At.UTC()}
	}
	return events, nil
}
