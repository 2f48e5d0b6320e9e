package publishing

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// SimilarCalls returns the calls and posts that reconciliation of a call must consider.
// since limits the remote posts and the uncertain calls.
func (s *LedgerStore) SimilarCalls(
	ctx context.Context, accountID uuid.UUID, call post.Call, since time.Time,
) (post.SimilarCalls, error) {
	row, err := s.q.SimilarCalls(ctx, db.SimilarCallsParams{
		AccountID: accountID, ContentKey: call.ContentKey, OperationID: call.OperationID, Since: since,
	})
	if err != nil {
		return post.SimilarCalls{}, err
	}
	out := post.SimilarCalls{KnownRemoteIDs: make(map[string]bool, len(row.Known)), InFlight: row.InFlight}
	for _, id := range row.Known {
		out.KnownRemoteIDs[id] = true
	}
	return out, json.Unmarshal(row.Calls, &out.Calls)
}

// UnresolvedSince returns the time of the first other send of a segment that the network
// may have executed although the post was not found.
func (s *LedgerStore) UnresolvedSince(
	ctx context.Context, targetID uuid.UUID, segment int, except uuid.UUID,
) (sent time.Time, found bool, err error) {
	sent, err = s.q.UnresolvedSince(ctx, db.UnresolvedSinceParams{
		TargetID: targetID, Segment: segment, OperationID: except,
	})
	if tx.NoRows(err) {
		return time.Time{}, false, nil
	}
	return sent, err == nil, err
}
