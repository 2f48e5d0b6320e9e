package installation

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/storage/postgres/installation/db"
)

// RecordHeartbeat records that a worker is alive.
func (s *WorkerStore) RecordHeartbeat(ctx context.Context, identity string) error {
	return s.q.RecordWorkerHeartbeat(ctx, identity)
}

// LeaseDeadWorkers leases workers that have sent no heartbeat for the given time, each to
// one caller.
func (s *WorkerStore) LeaseDeadWorkers(ctx context.Context, silent, lease time.Duration) ([]string, error) {
	return s.q.LeaseDeadWorkers(ctx, db.LeaseDeadWorkersParams{
		DeadAfterSeconds: silent.Seconds(), LeaseSeconds: lease.Seconds(),
	})
}

// RenewWorkerLease extends the lease; false: the worker sends heartbeats again.
func (s *WorkerStore) RenewWorkerLease(ctx context.Context, identity string, lease time.Duration) (bool, error) {
	n, err := s.q.RenewWorkerLease(ctx, db.RenewWorkerLeaseParams{Identity: identity, LeaseSeconds: lease.Seconds()})
	return n > 0, err
}

// DeleteWorker deletes a dead worker whose posts were taken over. A worker that sends
// heartbeats again is kept.
func (s *WorkerStore) DeleteWorker(ctx context.Context, identity string) error {
	return s.q.DeleteDeadWorker(ctx, identity)
}

// ListDuePosts lists posts due before a time, which activities may hold, in the
// order of their times and starting after the given one.
func (s *WorkerStore) ListDuePosts(ctx context.Context, before time.Time, after DuePost, limit int) ([]DuePost, error) {
	rows, err := s.q.DuePosts(ctx, db.DuePostsParams{
		Before: &before, AfterTime: after.At, AfterID: after.ID, Most: min(limit, 10_000),
	})
	if err != nil {
		return nil, err
	}
	due := make([]DuePost, len(rows))
	for i, r := range rows {
		due[i] = DuePost{ID: r.PostID, At: *r.ScheduledTime}
	}
	return due, nil
}

// DuePost is a post and its time. The zero value comes before every other.
type DuePost struct {
	ID uuid.UUID
	At time.Time
}

// ListOverduePosts lists up to limit posts that are overdue by more than late and
// have targets without a valid claim.
func (s *WorkerStore) ListOverduePosts(ctx context.Context, late time.Duration, limit int) ([]uuid.UUID, error) {
	return s.q.OverduePosts(ctx, db.OverduePostsParams{LateSeconds: late.Seconds(), Most: min(limit, 10_000)})
}

// FindChanged returns the posts whose revision has changed.
func (s *WorkerStore) FindChanged(ctx context.Context, revisions map[uuid.UUID]int64) ([]uuid.UUID, error) {
	p := db.ChangedPostsParams{}
	for id, revision := range revisions {
		p.PostIds, p.Revisions = append(p.PostIds, id), append(p.Revisions, revision)
	}
	return s.q.ChangedPosts(ctx, p)
}
