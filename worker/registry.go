package worker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"

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
	maxReleases       = 16              // posts that are released in parallel
	releasePage       = 500
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

// takeOver releases everything that a worker ran.
func (r *registry) takeOver(ctx context.Context, identity string) (released int, err error) {
	var after installation.DuePost
	for {
		due, err := r.store.ListDuePosts(ctx, time.Now().Add(r.horizon), after, releasePage)
		if err != nil {
			return released, err
		}
		n, err := r.releaseAll(ctx, due, identity)
		released += n
		if err != nil {
			return released, err
		}
		if len(due) < releasePage {
			return released, r.store.DeleteWorker(ctx, identity)
		}
		after = due[len(due)-1]
		if still, err := r.store.RenewWorkerLease(ctx, identity, takeoverLease); err != nil || !still {
			return released, err
		}
	}
}

// releaseAll releases the orphans of posts in parallel. It returns how many it
// released, and the last error.
func (r *registry) releaseAll(
	ctx context.Context, due []installation.DuePost, identity string,
) (released int, err error) {
	ids := make([]uuid.UUID, len(due))
	for i, d := range due {
		ids[i] = d.ID
	}
	var mu sync.Mutex
	inParallel(ids, func(id uuid.UUID) {
		n, failed := r.releaser.Release(ctx, id, temporalclient.Orphans{Worker: identity})
		mu.Lock()
		defer mu.Unlock()
		released += n
		if failed != nil {
			err = failed
		}
	})
	return released, err
}

// releaseLost finds posts that Temporal has dispatched to this worker but that
// never arrived: Temporal stopped after it recorded the dispatch.
func (r *registry) releaseLost(ctx context.Context) {
	posts, err := r.store.ListOverduePosts(ctx, overdueAfter, maxOverdue)
	if err != nil {
		return // the next round tries again
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	inParallel(posts, func(id uuid.UUID) {
		running := r.running(id)
		n, err := r.releaser.Release(ctx, id, temporalclient.Orphans{
			Worker: r.identity, Since: overdueAfter, Running: running,
		})
		switch {
		case err != nil && ctx.Err() == nil:
			r.log.Warn("checking an overdue post failed", "post_id", id, "error", err)
			stop() // Temporal does not respond; the next round tries again
		case n > 0:
			r.log.Warn("a post never arrived at this worker; it has been dispatched again", "post_id", id)
		}
	})
}

// inParallel calls do for each post, for a few at a time.
func inParallel(posts []uuid.UUID, do func(id uuid.UUID)) {
	var all sync.WaitGroup
	queue := make(chan uuid.UUID)
	for range min(maxReleases, len(posts)) {
		all.Go(func() {
			for id := range queue {
				do(id)
			}
		})
	}
	for _, id := range posts {
		queue <- id
	}
	close(queue)
	all.Wait()
}
