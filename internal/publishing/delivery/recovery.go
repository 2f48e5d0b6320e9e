package delivery

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

// RecoveryStore is the database as Recovery uses it.
type RecoveryStore interface {
	DetectNewTemporalStore(ctx context.Context, identity string) (forgotten int64, err error)
	ListMissingWorkflows(ctx context.Context, limit int) ([]post.Unattended, error)
	ListReconnected(ctx context.Context, limit int) ([]uuid.UUID, error)
	RedriveReconnected(ctx context.Context, postID uuid.UUID) (post.Post, error)
	MarkLate(ctx context.Context, after time.Duration, limit int) ([]uuid.UUID, error)
	DeleteExpiredIdempotencyKeys(ctx context.Context) error
}

// Signaler starts a post's workflow. SignalChanged also tells one that runs to read its
// post; EnsureRunning leaves one alone that gets on, which costs Temporal next to
// nothing: when it is overloaded, all posts are late. began says that none did.
type Signaler interface {
	SignalChanged(ctx context.Context, postID uuid.UUID) error
	EnsureRunning(ctx context.Context, postID uuid.UUID) (began bool, err error)
	StoreIdentity(ctx context.Context) (string, error)
}

// Recovery starts the workflows of posts that have none, and signals those that
// missed a change.
type Recovery struct {
	Store    RecoveryStore
	Signaler Signaler
	Live     LiveBus
	Log      *slog.Logger
}

const (
	reconcileBatch = 200
	// lateAfter is how far out of time a post has to be for its timeline to say
	// so. Retries of a network's short trouble stay below it.
	lateAfter = 30 * time.Second
)

// RecoveryResult is the outcome of one Recovery run.
type RecoveryResult struct {
	Forgotten int64 // posts whose workflow was lost with Temporal's store
	Returned  int   // posts whose account is connected again
	Late      int   // posts found out of time
	Signaled  int
}

// Run brings rows and workflows together. It ends when a batch
// brings nothing new.
func (r *Recovery) Run(ctx context.Context, heartbeat func(done int)) (RecoveryResult, error) {
	var result RecoveryResult
	identity, err := r.Signaler.StoreIdentity(ctx)
	if err != nil {
		return result, err
	}
	if result.Forgotten, err = r.Store.DetectNewTemporalStore(ctx, identity); err != nil {
		return result, err
	}
	if result.Forgotten > 0 {
		r.Log.WarnContext(ctx, "Temporal's store is a new one; starting the workflows of all open posts anew", "posts", result.Forgotten)
	}
	if err := r.returnReconnected(ctx, &result, heartbeat); err != nil {
		return result, err
	}
	late, err := r.Store.MarkLate(ctx, lateAfter, reconcileBatch)
	if err != nil {
		return result, err
	}
	for _, id := range late {
		r.Log.WarnContext(ctx, "a post is late", "post_id", id)
		r.Live.Changed(ctx, id)
	}
	result.Late = len(late)
	signaled := map[uuid.UUID]bool{}
	for {
		missing, err := r.Store.ListMissingWorkflows(ctx, reconcileBatch)
		if err != nil {
			return result, err
		}
		fresh := 0
		for _, m := range missing {
			if signaled[m.PostID] {
				continue
			}
			signaled[m.PostID] = true
			fresh++
			if err := r.tell(ctx, m); err != nil {
				return result, err
			}
			result.Signaled++
			heartbeat(result.Signaled)
		}
		if fresh == 0 || len(missing) < reconcileBatch {
			break
		}
	}
	return result, r.Store.DeleteExpiredIdempotencyKeys(ctx)
}

// tell makes sure that a post's workflow runs and knows its newest revision. One
// that begins reads the post by itself.
func (r *Recovery) tell(ctx context.Context, m post.Unattended) error {
	began, err := r.Signaler.EnsureRunning(ctx, m.PostID)
	if err != nil || began || !m.Untold {
		return err
	}
	return r.Signaler.SignalChanged(ctx, m.PostID)
}

// returnReconnected sends posts out again that failed for want of access to an
// account which a person has connected since.
func (r *Recovery) returnReconnected(ctx context.Context, result *RecoveryResult, heartbeat func(done int)) error {
	ids, err := r.Store.ListReconnected(ctx, reconcileBatch)
	if err != nil {
		return err
	}
	for _, id := range ids {
		_, err := r.Store.RedriveReconnected(ctx, id)
		var refusal *apperr.Error
		if errors.As(err, &refusal) {
			continue // somebody else was faster
		}
		if err != nil {
			return err
		}
		r.Live.Changed(ctx, id)
		if err := r.Signaler.SignalChanged(ctx, id); err != nil {
			return err
		}
		result.Returned++
		heartbeat(result.Returned)
	}
	return nil
}
