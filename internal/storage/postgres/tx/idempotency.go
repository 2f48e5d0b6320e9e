package tx

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/storage/postgres/tx/db"
)

// ClaimKey stores an idempotency key for a new resource. It returns the resource that an
// earlier request with the key created, or the nil id.
func ClaimKey(
	ctx context.Context, tx DBTX, workspaceID uuid.UUID, i idempotency.Key, resource uuid.UUID,
) (uuid.UUID, error) {
	if i.Key == "" {
		return uuid.Nil, nil
	}
	// Waits until a concurrent request with the same key commits.
	n, err := db.New(tx).InsertIdempotencyKey(ctx, db.InsertIdempotencyKeyParams{
		WorkspaceID: workspaceID, Key: userKey(i), RequestHash: i.RequestHash, ResourceID: resource,
	})
	if err != nil || n == 1 {
		return uuid.Nil, err
	}
	return ResourceOfKey(ctx, tx, workspaceID, i)
}

// userKey returns the stored form of an idempotency key, which belongs to one user:
// otherwise members could find out which keys other members have used, and use them
// first. It is hashed because a key may be as long as the column.
func userKey(i idempotency.Key) string {
	sum := sha256.Sum256([]byte(i.UserID.String() + "\n" + i.Key))
	return hex.EncodeToString(sum[:])
}

// ResourceOfKey returns the resource that an earlier request with the key created.
func ResourceOfKey(ctx context.Context, tx DBTX, workspaceID uuid.UUID, i idempotency.Key) (uuid.UUID, error) {
	row, err := db.New(tx).GetIdempotencyKey(ctx, db.GetIdempotencyKeyParams{WorkspaceID: workspaceID, Key: userKey(i)})
	if err != nil {
		return uuid.Nil, err
	}
	if !bytes.Equal(row.RequestHash, i.RequestHash) {
		return uuid.Nil, &apperr.Error{
			Kind: apperr.KindInvalid, Code: "idempotency_key_reused",
			Message: "This Idempotency-Key was used for a different request. Use a new key for a new request.",
			Fields: []apperr.FieldError{{
				Field: "Idempotency-Key", Code: "reused",
				Message: "The key belongs to a different request.",
			}},
		}
	}
	return row.ResourceID, nil
}
