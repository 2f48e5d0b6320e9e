package publishing

import (
	"context"

	"dateline/internal/identity/audit"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// recordPost records a user's change of a post. Changes by Dateline itself appear only
// in the post's timeline.
func recordPost(
	ctx context.Context, q *queries, row db.ScheduledPost, actor string, action audit.Action, data map[string]any,
) error {
	if actor == post.ActorDateline {
		return nil
	}
	if actor == post.ActorOperator {
		ctx = audit.With(ctx, audit.Origin{Actor: audit.Operator})
	}
	return tx.Record(ctx, q.tx, row.WorkspaceID, action, "post", row.PostID, data)
}
