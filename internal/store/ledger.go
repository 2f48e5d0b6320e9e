package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/store/db"
)

// UnclearSince finds the first send of a segment, apart from one, that the
// network may have acted on although it was not found there.
func (s *Store) UnclearSince(ctx context.Context, targetID uuid.UUID, segment int, except uuid.UUID) (sent time.Time, found bool, err error) {
	sent, err = s.q.UnclearSince(ctx, db.UnclearSinceParams{TargetID: targetID, Segment: int32(segment), OperationID: except}) //nolint:gosec // a handful
	if noRows(err) {
		return time.Time{}, false, nil
	}
	return sent, err == nil, err
}
