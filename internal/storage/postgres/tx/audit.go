package tx

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
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
		UserID: column.Null(o.UserID), TokenID: column.Null(o.TokenID),
		SessionID: column.Null(o.SessionID), Action: string(action), ObjectType: kind, ObjectID: id,
		RequestID: column.Null(o.RequestID), Data: raw,
	})
}
