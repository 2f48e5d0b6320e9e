package indexer

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// RebuildStatus is the status of the last rebuild of the index.
type RebuildStatus string

// The statuses.
const (
	NotRebuilt      RebuildStatus = "none"
	RebuildPending  RebuildStatus = "pending" // no worker has started it yet
	RebuildRunning  RebuildStatus = "running"
	RebuildDone     RebuildStatus = "done"
	RebuildCanceled RebuildStatus = "canceled"
)

// Rebuild is the last rebuild of the index.
type Rebuild struct {
	Status      RebuildStatus
	Done, Total int64 // articles; Total is 0 while it is pending
	StartedAt   time.Time
	FinishedAt  *time.Time
}

// IsActive reports whether the rebuild is pending or running.
func (r Rebuild) IsActive() bool { return r.Status == RebuildPending || r.Status == RebuildRunning }

// RequestStore stores the last rebuild.
type RequestStore interface {
	Rebuild(ctx context.Context) (Rebuild, error)
	RequestRebuild(ctx context.Context) error
	CancelRebuild(ctx context.Context) error
}

// Workflows starts the workflow of a rebuild, unless it is running.
type Workflows interface {
	StartReindex(ctx context.Context) (id string, err error)
}

// Rebuilds starts and cancels rebuilds. There is one at a time.
type Rebuilds struct {
	Store     RequestStore
	Workflows Workflows // only required by Start
}

// Start starts a rebuild, or returns the active one.
func (r *Rebuilds) Start(ctx context.Context) (Rebuild, error) {
	before, err := r.Store.Rebuild(ctx)
	if err != nil {
		return before, err
	}
	if err := r.Store.RequestRebuild(ctx); err != nil {
		return before, err
	}
	// Also for an active rebuild: Temporal may have lost its data.
	if _, err := r.Workflows.StartReindex(ctx); err != nil {
		if !before.IsActive() {
			err = errors.Join(err, r.Store.CancelRebuild(context.WithoutCancel(ctx)))
		}
		return before, err
	}
	return r.Store.Rebuild(ctx)
}

// Get returns the last rebuild.
func (r *Rebuilds) Get(ctx context.Context) (Rebuild, error) { return r.Store.Rebuild(ctx) }

// Cancel cancels the active rebuild, if there is one, and returns the last rebuild. The
// worker notices it before the next batch.
func (r *Rebuilds) Cancel(ctx context.Context) (Rebuild, error) {
	if err := r.Store.CancelRebuild(ctx); err != nil {
		return Rebuild{}, err
	}
	return r.Store.Rebuild(ctx)
}

// Progress is the progress of a rebuild.
type Progress struct {
	Name     string
	After    uuid.UUID
	Articles int
}

// Reindex rebuilds the index while the live one serves searches, and replaces it. at is
// the progress of an earlier attempt, or zero. A canceled rebuild leaves the live index as
// it is; if another one was requested in the meantime, it starts.
func (x *Indexer) Reindex(ctx context.Context, at Progress, heartbeat func(Progress)) (articles int, err error) {
	for {
		if at.Name == "" {
			if active, err := x.startRebuild(ctx, &at); err != nil || !active {
				return articles, err
			}
			heartbeat(at)
		}
		active, err := x.fillRebuild(ctx, &at, heartbeat)
		articles = at.Articles
		if err != nil {
			return articles, err
		}
		if active {
			if err := x.Engine.FinishRebuild(ctx, at.Name); err != nil {
				return articles, err
			}
			return articles, x.Store.FinishRebuild(ctx, at.Name, int64(articles))
		}
		if err := x.Store.ClearRebuild(ctx, at.Name); err != nil {
			return articles, err
		}
		if err := x.Engine.DiscardRebuild(ctx, at.Name); err != nil {
			return articles, err
		}
		at = Progress{}
	}
}

func (x *Indexer) startRebuild(ctx context.Context, at *Progress) (active bool, err error) {
	if active, err := x.Store.StartRebuild(ctx); err != nil || !active {
		return false, err
	}
	if err := x.Engine.Prepare(ctx); err != nil {
		return false, err
	}
	if at.Name, err = x.Engine.StartRebuild(ctx); err != nil {
		return false, err
	}
	return true, x.Store.SetRebuild(ctx, at.Name)
}

// fillRebuild adds all articles to the new index, unless the rebuild is canceled.
func (x *Indexer) fillRebuild(ctx context.Context, at *Progress, heartbeat func(Progress)) (active bool, err error) {
	for {
		if active, err := x.Store.UpdateRebuild(ctx, at.Name, int64(at.Articles)); err != nil || !active {
			return false, err
		}
		docs, err := x.Store.SearchDocumentsAfter(ctx, at.After, batchSize)
		if err != nil || len(docs) == 0 {
			return err == nil, err
		}
		if err := x.Engine.AddToRebuild(ctx, at.Name, docs); err != nil {
			return false, err
		}
		ids := idsOf(docs)
		current, err := x.Store.SearchDocuments(ctx, ids)
		if err != nil {
			return false, err
		}
		if deleted := missingIDs(ids, current); len(deleted) > 0 {
			if err := x.Engine.DeleteFromRebuild(ctx, at.Name, deleted); err != nil {
				return false, err
			}
		}
		at.After, at.Articles = ids[len(ids)-1], at.Articles+len(docs)
		heartbeat(*at)
	}
}
