package news

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/news/watch"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// CreateWatch stores a watch, unless the workspace has reached the limit.
func (s *WatchStore) CreateWatch(
	ctx context.Context, w watch.Watch, limit int, key idempotency.Key,
) (created watch.Watch, replayed bool, err error) {
	id := w.ID
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, w.WorkspaceID, key, w.ID)
		if err != nil {
			return err
		}
		if replayed = earlier != uuid.Nil; replayed {
			id = earlier
			return nil
		}
		_, err = q.InsertWatch(ctx, db.InsertWatchParams{
			ID: w.ID, WorkspaceID: w.WorkspaceID,
			UserID: optional.Of(w.UserID), Name: w.Name, Url: w.URL, Selector: w.Selector,
			IntervalMinutes: w.IntervalMinutes, Paused: w.IsPaused, MaxWatches: limit,
		})
		if tx.NoRows(err) {
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "too_many_watches",
				Message: fmt.Sprintf("A workspace can have %d watches. Delete one first.", limit),
			}
		}
		return err
	})
	if err != nil {
		return watch.Watch{}, false, err
	}
	created, err = s.Watch(ctx, w.WorkspaceID, id)
	return created, replayed, err
}

// Watches lists the watches of a workspace, the oldest first.
func (s *WatchStore) Watches(ctx context.Context, workspaceID uuid.UUID) ([]watch.Watch, error) {
	rows, err := s.q.ListWatches(ctx, workspaceID)
	out := make([]watch.Watch, len(rows))
	for i, r := range rows {
		out[i] = watchFromRow(r.Watch)
		out[i].ChangeCount = int(r.Changes)
	}
	return out, err
}

// Watch returns a watch.
func (s *WatchStore) Watch(ctx context.Context, workspaceID, id uuid.UUID) (watch.Watch, error) {
	row, err := s.q.GetWatch(ctx, db.GetWatchParams{ID: id, WorkspaceID: workspaceID})
	if err != nil {
		return watch.Watch{}, tx.OrNotFound(err, "watch")
	}
	w := watchFromRow(row.Watch)
	w.ChangeCount = int(row.Changes)
	return w, nil
}

// UpdateWatch stores a changed watch of the given version.
func (s *WatchStore) UpdateWatch(ctx context.Context, w watch.Watch, version int64, restart bool) (watch.Watch, error) {
	n, err := s.q.UpdateWatch(ctx, db.UpdateWatchParams{
		ID: w.ID, WorkspaceID: w.WorkspaceID, Version: version,
		Name: w.Name, Url: w.URL, Selector: w.Selector,
		IntervalMinutes: w.IntervalMinutes, Paused: w.IsPaused, Restart: restart,
	})
	if err == nil && n == 0 {
		err = watch.VersionMismatch()
	}
	if err != nil {
		return watch.Watch{}, err
	}
	return s.Watch(ctx, w.WorkspaceID, w.ID)
}

// DeleteWatch deletes a watch and its changes.
func (s *WatchStore) DeleteWatch(ctx context.Context, workspaceID, id uuid.UUID) error {
	n, err := s.q.DeleteWatch(ctx, db.DeleteWatchParams{ID: id, WorkspaceID: workspaceID})
	if err == nil && n == 0 {
		err = apperr.NotFound("watch")
	}
	return err
}

// CheckWatchNow makes a watch due, unless it is paused or being checked.
func (s *WatchStore) CheckWatchNow(ctx context.Context, workspaceID, id uuid.UUID) (watch.Watch, error) {
	if _, err := s.q.CheckWatchNow(ctx, db.CheckWatchNowParams{ID: id, WorkspaceID: workspaceID}); err != nil {
		return watch.Watch{}, err
	}
	return s.Watch(ctx, workspaceID, id)
}

// WatchChanges lists the changes of a watch, the newest first.
func (s *WatchStore) WatchChanges(
	ctx context.Context, workspaceID, id, before uuid.UUID, limit int,
) ([]watch.Change, error) {
	rows, err := s.q.ListWatchChanges(ctx, db.ListWatchChangesParams{
		WatchID: id, WorkspaceID: workspaceID, Before: before, PageSize: limit,
	})
	out := make([]watch.Change, len(rows))
	for i, r := range rows {
		out[i] = watch.Change{ID: r.ID, FoundAt: r.FoundAt.UTC(), Added: r.Added, Removed: r.Removed}
	}
	return out, err
}

// ClaimWatches claims due watches for a while.
func (s *WatchStore) ClaimWatches(
	ctx context.Context, claim uuid.UUID, limit int, lease time.Duration,
) ([]watch.Watch, error) {
	rows, err := s.q.ClaimWatches(ctx, db.ClaimWatchesParams{
		Claim: &claim, Seconds: lease.Seconds(), Batch: limit,
	})
	out := make([]watch.Watch, len(rows))
	for i, r := range rows {
		out[i] = watchFromRow(r)
	}
	return out, err
}

// maxEventLines is the number of changed lines that a notification shows.
const maxEventLines = 10

// RecordCheck stores a check, its change and the event in one transaction, unless the
// claim has expired.
func (s *WatchStore) RecordCheck(ctx context.Context, claim uuid.UUID, c watch.Check) error {
	w := c.Watch
	if c.Skipped {
		return s.q.ReleaseWatch(ctx, db.ReleaseWatchParams{
			ID: w.ID, Claim: claim, Problem: string(c.Problem),
			Seconds: c.DueIn.Seconds(),
		})
	}
	return s.inTx(ctx, func(q *queries) error {
		n, err := q.RecordWatchCheck(ctx, db.RecordWatchCheckParams{
			ID: w.ID, Claim: claim, Lines: w.Lines,
			Etag: w.ETag, LastModified: w.LastModified, Problem: string(w.Problem),
			Failures: w.Failures, Seconds: c.DueIn.Seconds(), Changed: c.Change != nil,
		})
		if err != nil || n == 0 || c.Change == nil {
			return err
		}
		if err := q.InsertWatchChange(ctx, db.InsertWatchChangeParams{
			ID: c.Change.ID, WatchID: w.ID,
			Added: column.List(c.Change.Added), Removed: column.List(c.Change.Removed),
		}); err != nil {
			return err
		}
		if err := q.DeleteOldWatchChanges(ctx,
			db.DeleteOldWatchChangesParams{WatchID: w.ID, MaxChanges: watch.MaxChanges}); err != nil {
			return err
		}
		return q.InsertWatchEvent(ctx, db.InsertWatchEventParams{
			WorkspaceID: w.WorkspaceID, WatchID: w.ID,
			ChangeID: c.Change.ID, Name: w.Name, Url: w.URL,
			Added: len(c.Change.Added), Removed: len(c.Change.Removed), Lines: eventLines(*c.Change),
		})
	})
}

// eventLines returns the first changed lines, marked as in a diff.
func eventLines(c watch.Change) []string {
	out := []string{}
	for _, line := range c.Removed[:min(len(c.Removed), maxEventLines/2)] {
		out = append(out, "− "+line)
	}
	for _, line := range c.Added[:min(len(c.Added), maxEventLines-len(out))] {
		out = append(out, "+ "+line)
	}
	return out
}

func watchFromRow(r db.Watch) watch.Watch {
	w := watch.Watch{
		ID: r.ID, WorkspaceID: r.WorkspaceID, Name: r.Name, URL: r.Url, Selector: r.Selector,
		IntervalMinutes: r.IntervalMinutes, IsPaused: r.Paused, Version: r.Version,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Lines: r.Lines,
		CheckedAt: optional.UTC(r.CheckedAt),
		ChangedAt: optional.UTC(r.ChangedAt), Problem: watch.Problem(r.Problem),
		Failures: r.Failures, DueAt: r.DueAt.UTC(), ETag: r.Etag, LastModified: r.LastModified,
	}
	if r.UserID != nil {
		w.UserID = *r.UserID
	}
	return w
}
