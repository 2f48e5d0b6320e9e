package activities

import (
	"context"
	"log/slog"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
)

// ReconcileStore is the database as the reconciler uses it.
type ReconcileStore interface {
	SeenTemporalStore(ctx context.Context, identity string) (forgotten int64, err error)
	MissingWorkflows(ctx context.Context, limit int) ([]uuid.UUID, error)
	DropOldIdempotencyKeys(ctx context.Context) error
}

// Nudger starts a post's workflow, or tells the running one to read its post.
type Nudger interface {
	Nudge(ctx context.Context, postID uuid.UUID) error
	StoreIdentity(ctx context.Context) (string, error)
}

// Reconciler finds posts that Temporal does not know of, and tells it.
type Reconciler struct {
	Store  ReconcileStore
	Nudger Nudger
	Log    *slog.Logger
}

const reconcileBatch = 200

// ReconcileResult says what a run did.
type ReconcileResult struct {
	Forgotten int64 // posts whose workflow was lost with Temporal's store
	Nudged    int
}

// ReconcilePosts brings rows and workflows together. It ends when a batch
// brings nothing new.
func (r *Reconciler) ReconcilePosts(ctx context.Context) (ReconcileResult, error) {
	var result ReconcileResult
	identity, err := r.Nudger.StoreIdentity(ctx)
	if err != nil {
		return result, err
	}
	if result.Forgotten, err = r.Store.SeenTemporalStore(ctx, identity); err != nil {
		return result, err
	}
	if result.Forgotten > 0 {
		r.Log.Warn("Temporal's store is a new one; starting the workflows of all open posts anew", "posts", result.Forgotten)
	}
	nudged := map[uuid.UUID]bool{}
	for {
		ids, err := r.Store.MissingWorkflows(ctx, reconcileBatch)
		if err != nil {
			return result, err
		}
		fresh := 0
		for _, id := range ids {
			if nudged[id] {
				continue
			}
			nudged[id] = true
			fresh++
			if err := r.Nudger.Nudge(ctx, id); err != nil {
				return result, err
			}
			result.Nudged++
			activity.RecordHeartbeat(ctx, result.Nudged)
		}
		if fresh == 0 || len(ids) < reconcileBatch {
			break
		}
	}
	return result, r.Store.DropOldIdempotencyKeys(ctx)
}
