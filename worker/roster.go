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
	"dateline/internal/storage/postgres"
)

// RegistryStore is the database as the roster uses it.
type RegistryStore interface {
	RecordHeartbeat(ctx context.Context, identity string) error
	LeaseDeadWorkers(ctx context.Context, silent, lease time.Duration) ([]string, error)
	RenewWorkerLease(ctx context.Context, identity string, lease time.Duration) (bool, error)
	DeleteWorker(ctx context.Context, identity string) error
	ListDuePosts(ctx context.Context, before time.Time, after postgres.DuePost, most int) ([]postgres.DuePost, error)
	ListOverduePosts(ctx context.Context, late time.Duration, most int) ([]uuid.UUID, error)
}

// Releaser has Temporal hand out anew what a worker does not have any more.
type Releaser interface {
	Release(ctx context.Context, postID uuid.UUID, o temporalclient.Orphans) (int, error)
}

// registry notices in seconds that a worker is gone, or never got what Temporal
// believes it has. Heartbeats of every waiting post would tell as well, but cost
// Temporal more than the posts: 10,000 that wait minutes for their second beat
// hundreds of times a second. Here each worker is seen in one row.
type registry struct {
	store    RegistryStore
	releaser Releaser
	running  func(post uuid.UUID) int // activities of a post that run in this process
	horizon  time.Duration            // how far ahead of its time a post may be in a worker's hands
	identity string
	log      *slog.Logger
}

const (
	heartbeatInterval = 2 * time.Second
	deadAfter         = 8 * time.Second // from when a worker is taken for gone
	takeoverLease     = 30 * time.Second
	overdueAfter      = 5 * time.Second // from when a post is looked for that should be out
	maxOverdue        = 50              // posts that are looked for at a time
	maxReleases       = 16              // posts that are asked about at once
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

// run keeps this worker in the roster until ctx ends.
func (r *registry) run(ctx context.Context) {
	tick := time.NewTicker(heartbeatInterval)
	defer tick.Stop()
	var inheriting sync.WaitGroup
	defer inheriting.Wait()
	var well time.Time // since when the database answers
	for looks := 1; ; looks++ {
		if err := r.store.RecordHeartbeat(ctx, r.identity); err != nil {
			if ctx.Err() == nil {
				r.log.Warn("this worker could not note that it is alive; should that last, another takes over its posts", "error", err)
			}
			well = time.Now().Add(deadAfter) // nobody else was seen either
		}
		if time.Now().After(well) {
			r.takeOverDead(ctx, &inheriting)
			if looks%3 == 0 {
				r.releaseLost(ctx)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// takeOverDead takes over from workers that are gone.
func (r *registry) takeOverDead(ctx context.Context, all *sync.WaitGroup) {
	gone, err := r.store.LeaseDeadWorkers(ctx, deadAfter, takeoverLease)
	if err != nil {
		return // the next look tells
	}
	for _, identity := range gone {
		all.Go(func() {
			released, err := r.takeOver(ctx, identity)
			if err != nil {
				r.log.Warn("taking over from a worker that is gone stopped half way; it is tried again", "worker", identity, "released", released, "error", err)
				return
			}
			r.log.Info("a worker is gone; what it held has been handed out anew", "worker", identity, "released", released)
		})
	}
}

// takeOver releases everything that a worker held.
func (r *registry) takeOver(ctx context.Context, identity string) (released int, err error) {
	var after postgres.DuePost
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

func (r *registry) releaseAll(ctx context.Context, due []postgres.DuePost, identity string) (released int, err error) {
	var (
		mu    sync.Mutex
		all   sync.WaitGroup
		queue = make(chan uuid.UUID)
	)
	for range maxReleases {
		all.Go(func() {
			for id := range queue {
				n, failed := r.releaser.Release(ctx, id, temporalclient.Orphans{Worker: identity})
				mu.Lock()
				released += n
				if failed != nil {
					err = failed
				}
				mu.Unlock()
			}
		})
	}
	for _, d := range due {
		queue <- d.ID
	}
	close(queue)
	all.Wait()
	return released, err
}

// releaseLost looks for posts that Temporal believes to be in this worker's hands
// and that are not: when Temporal stops at the wrong moment, it has noted that it
// gave them out, and they never arrived.
func (r *registry) releaseLost(ctx context.Context) {
	posts, err := r.store.ListOverduePosts(ctx, overdueAfter, maxOverdue)
	if err != nil {
		return // the next look tells
	}
	for _, id := range posts {
		running := r.running(id)
		n, err := r.releaser.Release(ctx, id, temporalclient.Orphans{Worker: r.identity, Since: overdueAfter, Running: running})
		if err != nil {
			if ctx.Err() == nil {
				r.log.Warn("could not look for a post that is late", "post_id", id, "error", err)
			}
			return
		}
		if n > 0 {
			r.log.Warn("a post never arrived at this worker; it has been handed out anew", "post_id", id)
		}
	}
}
