package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

// RecoveryStore is the database as Recovery uses it.
type RecoveryStore interface {
	DetectNewTemporalStore(ctx context.Context, identity string) (forgotten int64, err error)
	ListMissingWorkflows(ctx context.Context, after post.Unattended, limit int) ([]post.Unattended, error)
	ListReconnected(ctx context.Context, limit int) ([]uuid.UUID, error)
	RedriveReconnected(ctx context.Context, postID uuid.UUID) (post.Post, error)
	MarkLate(ctx context.Context, after time.Duration, limit int) ([]uuid.UUID, error)
	DeleteExpiredIdempotencyKeys(ctx context.Context) error
}

// Signaler starts the workflows of posts. SignalChanged also signals a running one
// to read its post. EnsureRunning leaves a running one alone, which costs Temporal
// almost nothing: when it is overloaded, all posts are late. started reports that
// there was none.
type Signaler interface {
	SignalChanged(ctx context.Context, postID uuid.UUID) error
	EnsureRunning(ctx context.Context, postID uuid.UUID) (started bool, err error)
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
	recoveryBatch = 200
	// parallelStarts is how many workflows start at the same time: each start waits for
	// Temporal's disk, and after the loss of its store all due posts wait for theirs.
	parallelStarts = 16
	// lateAfter is how late a post has to be for its timeline to show it. Retries
	// after short outages of a network stay below it.
	lateAfter = 30 * time.Second
)

// RecoveryResult is the outcome of one Recovery run.
type RecoveryResult struct {
	Lost     int64 // posts whose workflow was lost with Temporal's store
	Redriven int   // posts whose account was reconnected
	Late     int   // posts that are late
	Signaled int
}

// Run makes workflows match the rows, by the time of their posts.
func (r *Recovery) Run(ctx context.Context, heartbeat func(done int)) (RecoveryResult, error) {
	var result RecoveryResult
	identity, err := r.Signaler.StoreIdentity(ctx)
	if err != nil {
		return result, err
	}
	if result.Lost, err = r.Store.DetectNewTemporalStore(ctx, identity); err != nil {
		return result, err
	}
	if result.Lost > 0 {
		r.Log.WarnContext(ctx, "Temporal has a new store; restarting the workflows of all open posts", "posts",
			result.Lost)
	}
	if err := r.redriveReconnected(ctx, &result, heartbeat); err != nil {
		return result, err
	}
	late, err := r.Store.MarkLate(ctx, lateAfter, recoveryBatch)
	if err != nil {
		return result, err
	}
	for _, id := range late {
		r.Log.WarnContext(ctx, "a post is late", "post_id", id)
		r.Live.Changed(ctx, id)
	}
	result.Late = len(late)
	if result.Signaled, err = r.startMissing(ctx, heartbeat); err != nil {
		return result, err
	}
	return result, r.Store.DeleteExpiredIdempotencyKeys(ctx)
}

// startMissing starts or signals the workflows of all unattended posts.
func (r *Recovery) startMissing(ctx context.Context, heartbeat func(done int)) (int, error) {
	var (
		done atomic.Int64
		last post.Unattended
	)
	for {
		missing, err := r.Store.ListMissingWorkflows(ctx, last, recoveryBatch)
		if err != nil {
			return int(done.Load()), err
		}
		starts, batch := errgroup.WithContext(ctx)
		starts.SetLimit(parallelStarts)
		for _, m := range missing {
			starts.Go(func() error {
				if err := r.signalIfNeeded(batch, m); err != nil {
					return err
				}
				heartbeat(int(done.Add(1)))
				return nil
			})
			last = m
		}
		if err := starts.Wait(); err != nil || len(missing) < recoveryBatch {
			return int(done.Load()), err
		}
	}
}

// signalIfNeeded makes sure that a post's workflow runs and knows its latest
// revision. A new workflow reads the post by itself.
func (r *Recovery) signalIfNeeded(ctx context.Context, m post.Unattended) error {
	started, err := r.Signaler.EnsureRunning(ctx, m.PostID)
	if err != nil || started || !m.IsStale {
		return err
	}
	return r.Signaler.SignalChanged(ctx, m.PostID)
}

// redriveReconnected redrives posts that failed because their account was
// disconnected, and that a person has reconnected since.
func (r *Recovery) redriveReconnected(ctx context.Context, result *RecoveryResult, heartbeat func(done int)) error {
	ids, err := r.Store.ListReconnected(ctx, recoveryBatch)
	if err != nil {
		return err
	}
	for _, id := range ids {
		_, err := r.Store.RedriveReconnected(ctx, id)
		var refusal *apperr.Error
		if errors.As(err, &refusal) {
			continue // another request was faster
		}
		if err != nil {
			return err
		}
		r.Live.Changed(ctx, id)
		if err := r.Signaler.SignalChanged(ctx, id); err != nil {
			return err
		}
		result.Redriven++
		heartbeat(result.Redriven)
	}
	return nil
}
