package publishing

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/message"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// CreateSeries stores a series. replayed means that an earlier request with the same key
// created the returned series.
func (s *SeriesStore) CreateSeries(
	ctx context.Context, n post.Series, key idempotency.Key,
) (created post.Series, replayed bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, n.WorkspaceID, key, n.ID)
		if err != nil {
			return err
		}
		var row db.Series
		if replayed = earlier != uuid.Nil; replayed {
			row, err = q.GetSeries(ctx, earlier)
		} else {
			row, err = q.InsertSeries(ctx, db.InsertSeriesParams{
				ID: n.ID, WorkspaceID: n.WorkspaceID, UserID: n.UserID,
				Rule: n.Rule, Starts: n.Starts, TimeZone: n.TimeZone, Template: n.Template, ByAuthor: n.ByAuthor,
			})
		}
		created = seriesFromRow(row)
		return err
	})
	return created, replayed, err
}

// ReplayedSeries returns the series that an earlier request with the key created.
func (s *SeriesStore) ReplayedSeries(
	ctx context.Context, workspaceID uuid.UUID, key idempotency.Key,
) (n post.Series, found bool, err error) {
	if key.Key == "" {
		return n, false, nil
	}
	id, err := tx.ResourceOfKey(ctx, s.q.tx, workspaceID, key)
	if tx.NoRows(err) {
		return n, false, nil
	}
	if err != nil {
		return n, false, err
	}
	n, err = s.Series(ctx, id)
	return n, err == nil, err
}

// Series returns a series of any workspace.
func (s *SeriesStore) Series(ctx context.Context, id uuid.UUID) (post.Series, error) {
	return readSeries(s.q.GetSeries(ctx, id))
}

// SeriesInWorkspace returns a series of a workspace.
func (s *SeriesStore) SeriesInWorkspace(ctx context.Context, workspaceID, id uuid.UUID) (post.Series, error) {
	return readSeries(s.q.GetSeriesInWorkspace(ctx, db.GetSeriesInWorkspaceParams{ID: id, WorkspaceID: workspaceID}))
}

func readSeries(row db.Series, err error) (post.Series, error) {
	if tx.NoRows(err) {
		return post.Series{}, apperr.NotFound("series")
	}
	return seriesFromRow(row), err
}

// ListSeries lists series, newest first.
func (s *SeriesStore) ListSeries(ctx context.Context, f post.SeriesFilter) ([]post.Series, error) {
	rows, err := s.q.ListSeries(ctx, db.ListSeriesParams{
		WorkspaceID: f.WorkspaceID, Statuses: column.List(f.Statuses),
		BeforeTime: f.BeforeTime, BeforeID: f.BeforeID, PageSize: f.Limit,
	})
	out := make([]post.Series, len(rows))
	for i, row := range rows {
		out[i] = seriesFromRow(row)
	}
	return out, err
}

// ListOpenSeries lists the series that have not ended, ordered by id.
func (s *SeriesStore) ListOpenSeries(ctx context.Context, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return s.q.OpenSeries(ctx, db.OpenSeriesParams{AfterID: after, Batch: limit})
}

// EditSeries changes the template or schedule of a series.
func (s *SeriesStore) EditSeries(ctx context.Context, g post.Guard, c post.SeriesChange) (post.Series, error) {
	row, err := s.q.EditSeries(ctx, db.EditSeriesParams{
		ID: g.PostID, WorkspaceID: g.WorkspaceID,
		IfVersion: g.IfVersion,
		Rule:      optional.Of(c.Rule), Starts: optional.Of(c.Starts), TimeZone: optional.Of(c.TimeZone),
		Template: c.Template,
		ByAuthor: c.ByAuthor,
	})
	return s.changedSeries(ctx, g, row, err)
}

// SetSeriesStatus pauses, resumes or ends a series.
func (s *SeriesStore) SetSeriesStatus(
	ctx context.Context, g post.Guard, status post.SeriesStatus,
) (post.Series, error) {
	row, err := s.q.SetSeriesStatus(ctx, db.SetSeriesStatusParams{
		ID: g.PostID, WorkspaceID: g.WorkspaceID,
		IfVersion: g.IfVersion,
		Status:    db.SeriesStatus(status),
	})
	return s.changedSeries(ctx, g, row, err)
}

// SetOccurrenceSkipped skips or restores an occurrence.
func (s *SeriesStore) SetOccurrenceSkipped(
	ctx context.Context, g post.Guard, occurrence string, skip bool,
) (post.Series, error) {
	var row db.Series
	err := s.inTx(ctx, func(q *queries) (err error) {
		if row, err = q.TouchSeries(ctx, db.TouchSeriesParams{ID: g.PostID, WorkspaceID: g.WorkspaceID}); err != nil {
			return err
		}
		if skip {
			return q.SaveSeriesException(ctx, db.SaveSeriesExceptionParams{
				SeriesID: g.PostID, Occurrence: occurrence, Kind: db.SeriesExceptionKindSkipped,
			})
		}
		_, err = q.DeleteSkip(ctx, db.DeleteSkipParams{SeriesID: g.PostID, Occurrence: occurrence})
		return err
	})
	return s.changedSeries(ctx, g, row, err)
}

func (s *SeriesStore) changedSeries(ctx context.Context, g post.Guard, row db.Series, err error) (post.Series, error) {
	if !tx.NoRows(err) {
		return seriesFromRow(row), err
	}
	current, err := s.SeriesInWorkspace(ctx, g.WorkspaceID, g.PostID)
	if err != nil {
		return post.Series{}, err
	}
	if current.Status == post.SeriesEnded {
		return post.Series{}, post.SeriesHasEnded()
	}
	return post.Series{}, post.VersionMismatch(current.Version)
}

// SeriesPosts lists the posts of a series starting with an occurrence, and earlier posts
// that are open.
func (s *SeriesStore) SeriesPosts(ctx context.Context, id uuid.UUID, from string) ([]post.Post, error) {
	rows, err := s.q.PostsOfSeries(ctx, db.PostsOfSeriesParams{SeriesID: &id, FromOccurrence: &from})
	if err != nil {
		return nil, err
	}
	posts := make([]post.Post, len(rows))
	for i, row := range rows {
		posts[i] = fromRow(row)
	}
	return posts, addTargets(ctx, s.q, posts)
}

// maxSeriesExceptions limits the exceptions of a series per query.
const maxSeriesExceptions = 5000

// SeriesExceptions lists occurrences without a post, starting with the given one.
func (s *SeriesStore) SeriesExceptions(ctx context.Context, id uuid.UUID, from string) ([]post.SeriesException, error) {
	rows, err := s.q.SeriesExceptions(ctx, db.SeriesExceptionsParams{
		SeriesID: id, FromOccurrence: from, Batch: maxSeriesExceptions,
	})
	return notesFromRows(rows), err
}

// MissedOccurrences lists the latest missed occurrences.
func (s *SeriesStore) MissedOccurrences(ctx context.Context, id uuid.UUID, limit int) ([]post.SeriesException, error) {
	rows, err := s.q.MissedOfSeries(ctx, db.MissedOfSeriesParams{SeriesID: id, Batch: limit})
	return notesFromRows(rows), err
}

// SkippedOccurrences lists the latest skipped occurrences.
func (s *SeriesStore) SkippedOccurrences(ctx context.Context, id uuid.UUID, limit int) ([]string, error) {
	return s.q.SkippedOfSeries(ctx, db.SkippedOfSeriesParams{SeriesID: id, Batch: limit})
}

func notesFromRows(rows []db.SeriesException) []post.SeriesException {
	notes := make([]post.SeriesException, len(rows))
	for i, r := range rows {
		notes[i] = post.SeriesException{
			Occurrence: r.Occurrence, Skipped: r.Kind == db.SeriesExceptionKindSkipped, Reason: messagesFrom(r.Reason),
		}
	}
	return notes
}

// errSeriesMoved rolls back a transaction because the series changed concurrently.
var errSeriesMoved = errors.New("the series changed meanwhile")

// heldSeries runs f while it holds a lock on the series. ok is false if the series has
// changed since it was read; then the change itself updates the posts.
func (s *SeriesStore) heldSeries(ctx context.Context, n post.Series, f func(q *queries) error) (ok bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		if _, err := q.LockSeriesVersion(ctx,
			db.LockSeriesVersionParams{ID: n.ID, Version: n.Version}); tx.NoRows(err) {
			return errSeriesMoved
		} else if err != nil {
			return err
		}
		return f(q)
	})
	if errors.Is(err, errSeriesMoved) {
		return false, nil
	}
	return err == nil, err
}

// CreateOccurrence stores an occurrence's post. It returns the zero post if the occurrence
// already has one. problem is the reason why the post is only a draft.
func (s *SeriesStore) CreateOccurrence(
	ctx context.Context, n post.Series, name string, made post.NewPost, problem string,
) (p post.Post, ok bool, err error) {
	ok, err = s.heldSeries(ctx, n, func(q *queries) error {
		thread, err := threadJSON(made.Post.Thread)
		if err != nil {
			return err
		}
		w := made.Post
		options, err := optionsJSON(w.Options)
		if err != nil {
			return err
		}
		if err := lockMedia(ctx, q, mediaOf(w, made.Overrides)); err != nil {
			return err
		}
		row, err := q.InsertOccurrence(ctx, db.InsertOccurrenceParams{
			PostID: w.ID, WorkspaceID: w.WorkspaceID,
			UserID: w.UserID, Content: w.Content,
			ScheduledTime: optional.OfTime(w.ScheduledTime), TimeZone: w.TimeZone, Status: db.PostStatus(w.Status),
			AttachmentIds: column.List(w.AttachmentIDs), AttachmentUrls: column.List(w.AttachmentURLs), Thread: thread,
			Options:          options,
			LateLimitMinutes: minutes(w.LateLimit), Language: w.Language, LinkBase: optional.Of(w.LinkBase),
			SeriesID: &n.ID, Occurrence: &name, SeriesTemplateRevision: &n.TemplateRevision,
			Approval: approvalState(w.Approval.State),
		})
		if tx.NoRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := insertTargets(ctx, q, w, made.AccountIDs, made.Overrides); err != nil {
			return err
		}
		if err := addEvent(ctx, q, row, nil, post.EventCreated, made.Actor,
			map[string]any{
				"accounts": made.AccountIDs, "status": w.Status,
				"scheduled_time": row.ScheduledTime, "series_id": n.ID, "occurrence": name,
			}); err != nil {
			return err
		}
		if w.Approval.State == post.ApprovalPending {
			if err := addEvent(ctx, q, row, nil, post.EventSubmitted, made.Actor, nil); err != nil {
				return err
			}
		}
		if problem != "" {
			if err := addEvent(ctx, q, row, nil, post.EventProblem, made.Actor,
				map[string]any{"message": problem}); err != nil {
				return err
			}
		}
		p, err = withTargets(ctx, q, row, nil)
		return err
	})
	return p, ok, err
}

// UpdateOccurrence updates a post that nobody has edited to match its series. With
// schedule, a draft is scheduled, or submitted if the change needs approval.
func (s *SeriesStore) UpdateOccurrence(
	ctx context.Context, n post.Series, g post.Guard, change post.Change, urls []string, schedule bool,
) (p post.Post, ok bool, err error) {
	params, err := editParams(g, change, urls)
	if err != nil {
		return post.Post{}, false, err
	}
	ok, err = s.heldSeries(ctx, n, func(q *queries) error {
		if err := lockMedia(ctx, q, mediaOfChange(change)); err != nil {
			return err
		}
		row, err := q.EditPost(ctx, params)
		if tx.NoRows(err) {
			return errSeriesMoved // a user or the publisher changed it first
		}
		if err != nil {
			return err
		}
		if err := editTargets(ctx, q, row, change); err != nil {
			return err
		}
		if !change.IsEmpty() {
			if err := addEvent(ctx, q, row, nil, post.EventEdited, g.Actor, editedFields(row, change)); err != nil {
				return err
			}
		}
		event := post.EventSubmitted
		switch {
		case schedule && !change.NeedsApproval:
			event = post.EventScheduled
			row, err = q.ScheduleDraft(ctx, db.ScheduleDraftParams{PostID: g.PostID, WorkspaceID: g.WorkspaceID})
		case schedule:
			row, err = q.SubmitPost(ctx, db.SubmitPostParams{PostID: g.PostID, WorkspaceID: g.WorkspaceID})
		case !change.NeedsApproval:
			event = ""
		}
		if err != nil {
			return err
		}
		if event != "" {
			if err := addEvent(ctx, q, row, nil, event, g.Actor, nil); err != nil {
				return err
			}
		}
		row, err = q.TakeOccurrence(ctx, db.TakeOccurrenceParams{
			PostID: g.PostID, SeriesTemplateRevision: &n.TemplateRevision,
		})
		p, err = withTargets(ctx, q, row, err)
		return err
	})
	return p, ok, err
}

// WithdrawOccurrence cancels a post that no longer matches its series, so that the
// occurrence can become a post again.
func (s *SeriesStore) WithdrawOccurrence(ctx context.Context, n post.Series, g post.Guard) (ok bool, err error) {
	return s.heldSeries(ctx, n, func(q *queries) error {
		row, err := q.CancelPost(ctx, db.CancelPostParams{
			PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion,
		})
		if tx.NoRows(err) {
			return errSeriesMoved
		}
		if err != nil {
			return err
		}
		if err := q.CancelTargets(ctx, g.PostID); err != nil {
			return err
		}
		if err := q.WithdrawPost(ctx, g.PostID); err != nil {
			return err
		}
		return addEvent(ctx, q, row, nil, post.EventCanceled, g.Actor, map[string]any{"reason": "series"})
	})
}

// SeriesChecked records missed occurrences, the time until which all occurrences are
// materialized, and the problem of the series; empty: none.
func (s *SeriesStore) SeriesChecked(
	ctx context.Context, n post.Series, until time.Time, missed []post.SeriesException, problem message.Messages,
) (ok bool, err error) {
	// Does not use heldSeries: two transactions with a shared lock that both update the
	// row would deadlock.
	err = s.inTx(ctx, func(q *queries) error {
		rows, err := q.SetCheckedUntil(ctx, db.SetCheckedUntilParams{
			ID: n.ID, Version: n.Version, CheckedUntil: until, LastError: messagesJSON(problem),
		})
		if ok = rows == 1; err != nil || !ok {
			return err
		}
		for _, m := range missed {
			if err := q.SaveSeriesException(ctx, db.SaveSeriesExceptionParams{
				SeriesID: n.ID, Occurrence: m.Occurrence,
				Kind: db.SeriesExceptionKindMissed, Reason: messagesJSON(m.Reason),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return ok && err == nil, err
}

// messagesJSON returns nil for no messages.
func messagesJSON(m message.Messages) []byte {
	if len(m) == 0 {
		return nil
	}
	raw, _ := json.Marshal(m) // strings and numbers
	return raw
}

func messagesFrom(raw []byte) (m message.Messages) {
	_ = json.Unmarshal(raw, &m) // written by messagesJSON
	return m
}

func seriesFromRow(r db.Series) post.Series {
	return post.Series{
		ID: r.ID, WorkspaceID: r.WorkspaceID, UserID: r.UserID, Rule: r.Rule, Starts: r.Starts,
		TimeZone: r.TimeZone,
		Template: r.Template, ByAuthor: r.ByAuthor, Status: post.SeriesStatus(r.Status),
		TemplateRevision: r.TemplateRevision, CheckedUntil: r.CheckedUntil.UTC(),
		LastError: messagesFrom(r.LastError), LastErrorAt: r.LastErrorAt, Version: r.Version,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}
