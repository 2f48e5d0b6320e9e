package tx

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/optional"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/tx/db"
)

// Record writes an entry of the audit log, in the transaction of the change that it
// records. The actor is the origin of ctx.
func Record(ctx context.Context, tx DBTX, workspaceID uuid.UUID, action audit.Action, kind string, id uuid.UUID,
	data map[string]any,
) error {
	raw, err := column.Object(data)
	if err != nil {
		return err
	}
	o := audit.OriginOf(ctx)
	return db.New(tx).InsertAudit(ctx, db.InsertAuditParams{
		WorkspaceID: workspaceID, Actor: string(o.Actor),
		UserID: optional.Of(o.UserID), TokenID: optional.Of(o.TokenID),
		SessionID: optional.Of(o.SessionID), Action: string(action), ObjectType: kind, ObjectID: id,
		RequestID: optional.Of(o.RequestID), Data: raw,
	})
}
