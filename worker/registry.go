package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"dateline/internal/infra/temporalclient"
	"dateline/internal/storage/postgres/installation"
)

// RegistryStore is the database as the registry uses it.
type RegistryStore interface {
	RecordHeartbeat(ctx context.Context, identity string) error
	LeaseDeadWorkers(ctx context.Context, deadAfter, lease time.Duration) ([]string, error)
	RenewWorkerLease(ctx context.Context, identity string, lease time.Duration) (bool, error)
	DeleteWorker(ctx context.Context, identity string) error
	ListDuePosts(
		ctx context.Context, before time.Time, after installation.DuePost, limit int,
	) ([]installation.DuePost, error)
	ListOverduePosts(ctx context.Context, late time.Duration, limit int) ([]uuid.UUID, error)
}

// Releaser makes Temporal dispatch activities again that a worker no longer runs.
type Releaser interface {
	Release(ctx context.Context, postID uuid.UUID, o temporalclient.Orphans) (int, error)
}

// registry detects within seconds that a worker is dead, or never received an
// activity that Temporal dispatched to it. Activity heartbeats of every waiting post
// would detect it as well, but cost Temporal more than the posts: 10,000 that wait
// for minutes send hundreds of heartbeats a second. Here each worker has one row.
type registry struct {
	store    RegistryStore
	releaser Releaser
	running  func(post uuid.UUID) int // attempts of a post in this process
	horizon  time.Duration            // how far ahead of its time a worker may hold a post
	identity string
	log      *slog.Logger
}

const (
	heartbeatInterval = 2 * time.Second
	deadAfter         = 8 * time.Second // since its last heartbeat
	takeoverLease     = 30 * time.Second
	overdueAfter      = 5 * time.Second // past its time, until a post is checked
	maxOverdue        = 200             // posts that are checked at a time
	maxReleases       = 64              // posts that are released in parallel
	releasePage       = 500

	// How long one post may take. A part of Temporal's posts may not respond, until another
	// of its nodes takes over from one that was lost, so the others do not wait long.
	minTimeout = 3 * time.Second
	maxTimeout = 10 * time.Second
	// How long a page of posts may take: less than the lease, which is renewed after it.
	pageTimeout = takeoverLease - 10*time.Second
)

// newIdentity names a worker process. Temporal shows it in its Web UI.
func newIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), uuid.NewString()[:8])
}

// run registers this worker until ctx ends, and takes over from dead ones.
func (r *registry) run(ctx context.Context) {
	tick := time.NewTicker(heartbeatInterval)
	defer tick.Stop()
	// Temporal may respond slowly. Without its heartbeats this worker would count as
	// dead, so it waits for Temporal elsewhere.
	var takeovers sync.WaitGroup
	defer takeovers.Wait()
	checking := make(chan struct{}, 1)
	var trustedFrom time.Time // when the absence of heartbeats means something again
	for ticks := 1; ; ticks++ {
		if err := r.store.RecordHeartbeat(ctx, r.identity); err != nil {
			if ctx.Err() == nil {
				r.log.Warn("recording this worker's heartbeat failed; if that persists, another worker takes "+
					"over its posts", "error", err)
			}
			trustedFrom = time.Now().Add(deadAfter) // other workers could not record theirs either
		}
		if time.Now().After(trustedFrom) {
			r.takeOverDead(ctx, &takeovers)
			if ticks%3 == 0 {
				select {
				case checking <- struct{}{}:
					takeovers.Go(func() { r.releaseLost(ctx); <-checking })
				default:
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// takeOverDead takes over from dead workers.
func (r *registry) takeOverDead(ctx context.Context, all *sync.WaitGroup) {
	dead, err := r.store.LeaseDeadWorkers(ctx, deadAfter, takeoverLease)
	if err != nil {
		return // the next round tries again
	}
	for _, identity := range dead {
		all.Go(func() {
			released, err := r.takeOver(ctx, identity)
			if err != nil {
				r.log.Warn("taking over from a dead worker failed; it is retried", "worker", identity, "released",
					released, "error", err)
				return
			}
			r.log.Info("a worker is dead; its activities have been dispatched again", "worker", identity, "released",
				released)
		})
	}
}

// takeOver releases everything that a worker ran. Posts for which Temporal does not
// respond are tried again after the others, for as long as this worker has the lease.
func (r *registry) takeOver(ctx context.Context, identity string) (released int, err error) {
	var missed []uuid.UUID
	var failure error // the latest, of one post
	orphans := func(uuid.UUID) temporalclient.Orphans { return temporalclient.Orphans{Worker: identity} }
	renew := func() error {
		still, err := r.store.RenewWorkerLease(ctx, identity, takeoverLease)
		if err == nil && !still {
			return errors.New("the worker is back, or another one has taken over")
		}
		return err
	}
	release := func(ids []uuid.UUID, timeout time.Duration) error {
		done, failed, reason := r.releaseAll(ctx, ids, timeout, orphans)
		released += len(done)
		missed = append(missed, failed...)
		if reason != nil {
			failure = reason
		}
		return renew()
	}
	var after installation.DuePost
	for more := true; more; {
		due, err := r.store.ListDuePosts(ctx, time.Now().Add(r.horizon), after, releasePage)
		if err != nil {
			return released, err
		}
		ids := make([]uuid.UUID, len(due))
		for i, d := range due {
			ids[i], after = d.ID, d
		}
		if err := release(ids, minTimeout); err != nil {
			return released, err
		}
		more = len(due) == releasePage
	}
	for timeout := minTimeout; len(missed) > 0; timeout = min(2*timeout, maxTimeout) {
		r.log.Warn("Temporal did not respond about activities of a dead worker; they are tried again",
			"worker", identity, "released", released, "remaining", len(missed), "error", failure)
		select {
		case <-ctx.Done():
			return released, ctx.Err()
		case <-time.After(timeout):
		}
		if err := renew(); err != nil { // also, a worker that is back runs its activities again
			return released, err
		}
		again := missed
		missed = nil
		if err := release(again, timeout); err != nil {
			return released, err
		}
	}
	return released, r.store.DeleteWorker(ctx, identity)
}

// releaseAll releases the orphans of posts, for a few posts at a time. It returns the
// posts that had some, and those for which Temporal did not respond in time: first those
// that it was not even asked about, because others took all the time. failure is an error of
// one of them.
func (r *registry) releaseAll(
	ctx context.Context, posts []uuid.UUID, timeout time.Duration, orphans func(post uuid.UUID) temporalclient.Orphans,
) (released, missed []uuid.UUID, failure error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	var mu sync.Mutex
	var unasked []uuid.UUID
	var all errgroup.Group
	all.SetLimit(maxReleases)
	for _, id := range posts {
		all.Go(func() error {
			if ctx.Err() != nil {
				mu.Lock()
				defer mu.Unlock()
				unasked = append(unasked, id)
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			n, err := r.releaser.Release(ctx, id, orphans(id))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				missed, failure = append(missed, id), err
			case n > 0:
				released = append(released, id)
			}
			return nil
		})
	}
	_ = all.Wait()
	return released, append(unasked, missed...), failure
}

// releaseLost finds posts that Temporal has dispatched to this worker but that
// never arrived: Temporal stopped after it recorded the dispatch.
func (r *registry) releaseLost(ctx context.Context) {
	posts, err := r.store.ListOverduePosts(ctx, overdueAfter, maxOverdue)
	if err != nil {
		return // the next round tries again
	}
	released, missed, failure := r.releaseAll(ctx, posts, minTimeout, func(id uuid.UUID) temporalclient.Orphans {
		return temporalclient.Orphans{Worker: r.identity, Since: overdueAfter, Running: r.running(id)}
	})
	for _, id := range released {
		r.log.Warn("a post never arrived at this worker; it has been dispatched again", "post_id", id)
	}
	if len(missed) > 0 && ctx.Err() == nil {
		r.log.Warn("Temporal did not respond about overdue posts; they are checked again", "posts", len(missed),
			"error", failure)
	}
}
