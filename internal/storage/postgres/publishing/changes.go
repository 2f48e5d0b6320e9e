package publishing

import (
	"context"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/identity/audit"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// Edit changes a post that is not being published yet, or that failed: then its failed
// targets are published again. attachmentURLs belong to change.AttachmentIDs. It
// returns an *apperr.Error if the post cannot be changed.
func (s *PostStore) Edit(
	ctx context.Context, g post.Guard, change post.Change, attachmentURLs []string,
) (post.Post, error) {
	params, err := editParams(g, change, attachmentURLs)
	if err != nil {
		return post.Post{}, err
	}
	data := map[string]any{}
	return s.change(ctx, g, post.EventEdited, data, func(q *queries) (db.ScheduledPost, error) {
		if err := lockMedia(ctx, q, mediaOfChange(change)); err != nil {
			return db.ScheduledPost{}, err
		}
		row, err := q.EditPost(ctx, params)
		if err != nil {
			return row, err
		}
		maps.Copy(data, editedFields(row, change))
		if err := editTargets(ctx, q, row, change); err != nil {
			return row, err
		}
		if post.Status(row.Status).IsFinal() {
			return redrive(ctx, q, row, nil, true, g.Actor, "edited")
		}
		if change.NeedsApproval && row.Status == db.PostStatusDraft && row.Approval == db.ApprovalStatePending {
			return row, addEvent(ctx, q, row, nil, post.EventSubmitted, g.Actor, nil)
		}
		return row, nil
	})
}

// editTargets updates the targets of a post after an edit.
func editTargets(ctx context.Context, q *queries, row db.ScheduledPost, change post.Change) error {
	if change.AccountIDs != nil {
		if err := changeTargets(ctx, q, row, change); err != nil {
			return err
		}
	}
	if err := setOverrides(ctx, q, row.PostID, change.Overrides); err != nil {
		return err
	}
	if !changesText(change) {
		return nil
	}
	p, err := withTargets(ctx, q, row, nil)
	if err != nil {
		return err
	}
	if err := savePostLinks(ctx, q, p, p.Targets); err != nil {
		return err
	}
	ids, fingerprints := fingerprintsOf(p)
	return q.SetFingerprints(ctx, db.SetFingerprintsParams{Ids: ids, Fingerprints: fingerprints})
}

func fingerprintsOf(p post.Post) (targets []uuid.UUID, fingerprints [][]byte) {
	for _, t := range p.Targets {
		targets, fingerprints = append(targets, t.ID), append(fingerprints, column.List(p.Fingerprint(t)))
	}
	return targets, fingerprints
}

// changesText reports whether a change affects what is sent to a target.
func changesText(c post.Change) bool {
	return c.Content != nil || c.Thread != nil || len(c.Overrides) > 0 || c.LinkBase != nil
}

func editParams(g post.Guard, change post.Change, attachmentURLs []string) (db.EditPostParams, error) {
	p := db.EditPostParams{
		PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion,
		Content: change.Content, ScheduledTime: change.ScheduledTime, TimeZone: change.TimeZone,
		Language:      change.Language,
		NeedsApproval: change.NeedsApproval, SubmittedBy: optional.Of(g.UserID),
		MediaChanged: change.AttachmentIDs != nil || change.Thread != nil || change.Options != nil ||
			len(change.Overrides) > 0,
	}
	if change.AttachmentIDs != nil {
		p.AttachmentIds, p.AttachmentUrls = column.List(*change.AttachmentIDs), column.List(attachmentURLs)
	}
	if change.LinkBase != nil {
		p.SetLinkBase, p.LinkBase = true, optional.Of(*change.LinkBase)
	}
	p.Utm = changedUTM(change.UTM)
	p.SetQueueGroup, p.QueueGroupID = queueGroupOf(change)
	if change.LateLimit != nil {
		p.SetLateLimit, p.LateLimitMinutes = true, minutes(*change.LateLimit)
	}
	var err error
	if change.Thread != nil {
		if p.Thread, err = threadJSON(*change.Thread); err != nil {
			return p, err
		}
	}
	if change.Options != nil {
		p.Options, err = optionsJSON(*change.Options)
	}
	return p, err
}

// changeTargets replaces the accounts of a post by those of the change.
func changeTargets(ctx context.Context, q *queries, row db.ScheduledPost, change post.Change) error {
	postID := row.PostID
	if err := q.DeleteTargets(ctx,
		db.DeleteTargetsParams{PostID: postID, KeepAccountIds: *change.AccountIDs}); err != nil {
		return err
	}
	remaining, err := q.TargetsOfPosts(ctx, []uuid.UUID{postID})
	if err != nil {
		return err
	}
	have := map[uuid.UUID]bool{}
	for _, t := range remaining {
		have[t.PostTarget.AccountID] = true
	}
	var added []uuid.UUID
	for _, id := range *change.AccountIDs {
		if !have[id] {
			added = append(added, id)
		}
	}
	return insertTargets(ctx, q, fromRow(row), added, nil)
}

func setOverrides(ctx context.Context, q *queries, postID uuid.UUID, overrides map[uuid.UUID]*post.Override) error {
	if len(overrides) == 0 {
		return nil
	}
	p := db.SetOverridesParams{PostID: postID}
	for account, o := range overrides {
		text, err := overrideJSON(o)
		if err != nil {
			return err
		}
		p.AccountIds, p.Overrides = append(p.AccountIds, account), append(p.Overrides, text)
	}
	return q.SetOverrides(ctx, p)
}

// editedFields returns the data of an edit's event. Edits of drafts have events too, for
// other open windows, but the timeline omits them because drafts are saved while
// somebody types.
func editedFields(row db.ScheduledPost, c post.Change) map[string]any {
	data := changedFields(c)
	if row.Status == db.PostStatusDraft && row.Approval != db.ApprovalStatePending {
		data[post.EditedDraft] = true
	}
	return data
}

func changedFields(c post.Change) map[string]any {
	data := map[string]any{}
	if c.Content != nil {
		data["content"] = true
	}
	if c.ScheduledTime != nil {
		data["scheduled_time"] = *c.ScheduledTime
	}
	if c.TimeZone != nil {
		data["time_zone"] = *c.TimeZone
	}
	if c.Language != nil {
		data["language"] = *c.Language
	}
	if c.AttachmentIDs != nil {
		data["attachments"] = true
	}
	if c.AccountIDs != nil {
		data["accounts"] = *c.AccountIDs
	}
	if c.Thread != nil {
		data["thread"] = len(*c.Thread)
	}
	if c.Options != nil {
		data["options"] = c.Options.Networks()
	}
	if len(c.Overrides) > 0 {
		data["overrides"] = len(c.Overrides)
	}
	if c.LinkBase != nil {
		data["track_links"] = *c.LinkBase != ""
	}
	if c.UTM != nil {
		data["utm"] = true
	}
	if c.QueueGroupID != nil {
		data["queue_group"] = optional.Of(*c.QueueGroupID)
	}
	if c.LateLimit != nil {
		data["drop_if_late_minutes"] = int(*c.LateLimit / time.Minute)
	}
	return data
}

// Cancel cancels a post that is not being published yet, or the segments of a
// published one that wait for their time.
func (s *PostStore) Cancel(ctx context.Context, g post.Guard) (post.Post, error) {
	p, err := s.cancel(ctx, g)
	if isTooLate(err) {
		return s.cancelRemaining(ctx, g)
	}
	return p, err
}

// cancelRemaining stops a thread whose next segment waits for its time. It is too
// late as soon as any segment is in flight.
func (s *PostStore) cancelRemaining(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.change(ctx, g, post.EventCanceled, map[string]any{post.CanceledRemaining: true},
		func(q *queries) (db.ScheduledPost, error) {
			row, err := q.LockWaitingPost(ctx, db.LockWaitingPostParams{
				PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion,
			})
			if err != nil {
				return row, err
			}
			n, err := q.StopWaitingTargets(ctx, g.PostID)
			if err == nil && n == 0 {
				err = pgx.ErrNoRows
			}
			if err != nil {
				return row, err
			}
			if row, err = rollUp(ctx, q, row); err != nil {
				return row, err
			}
			return row, recordPost(ctx, q, row, g.Actor, audit.PostCanceled, map[string]any{
				post.CanceledRemaining: true,
			})
		})
}

func (s *PostStore) cancel(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.change(ctx, g, post.EventCanceled, nil, func(q *queries) (db.ScheduledPost, error) {
		row, err := q.CancelPost(ctx, db.CancelPostParams{
			PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion,
		})
		if err != nil {
			return row, err
		}
		if err := q.CancelTargets(ctx, g.PostID); err != nil {
			return row, err
		}
		return row, recordPost(ctx, q, row, g.Actor, audit.PostCanceled, nil)
	})
}

// ScheduleDraft schedules a draft. The draft or the change must contain a time; only the
// time, time zone and queue of the change are used.
func (s *PostStore) ScheduleDraft(ctx context.Context, g post.Guard, change post.Change) (post.Post, error) {
	return s.change(ctx, g, post.EventScheduled, changedFields(change), func(q *queries) (db.ScheduledPost, error) {
		setGroup, group := queueGroupOf(change)
		return q.ScheduleDraft(ctx, db.ScheduleDraftParams{
			PostID: g.PostID, WorkspaceID: g.WorkspaceID,
			IfVersion: g.IfVersion, Approver: optional.Of(g.UserID),
			ScheduledTime: change.ScheduledTime, TimeZone: change.TimeZone, SetQueueGroup: setGroup,
			QueueGroupID: group,
		})
	})
}

// PublishNow makes a scheduled post or a draft due at once.
func (s *PostStore) PublishNow(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.change(ctx, g, post.EventPublishNow, nil, func(q *queries) (db.ScheduledPost, error) {
		return q.PublishNow(ctx, db.PublishNowParams{
			PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion, Approver: optional.Of(g.UserID),
		})
	})
}

// change runs a guarded statement and inserts its event. If the guard does not match, it
// returns the reason.
func (s *PostStore) change(ctx context.Context, g post.Guard, event string, data map[string]any,
	update func(*queries) (db.ScheduledPost, error),
) (changed post.Post, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := update(q)
		if err != nil {
			return err
		}
		if err := recordCommand(ctx, q, g); err != nil {
			return err
		}
		if err := addEvent(ctx, q, row, nil, event, g.Actor, data); err != nil {
			return err
		}
		changed, err = withTargets(ctx, q, row, nil)
		return err
	})
	if tx.NoRows(err) {
		return post.Post{}, s.whyRefused(ctx, g)
	}
	if err != nil {
		return post.Post{}, slotError(err)
	}
	return changed, nil
}

func (s *PostStore) whyRefused(ctx context.Context, g post.Guard) error {
	current, err := s.PostInWorkspace(ctx, g.WorkspaceID, g.PostID)
	if err != nil {
		return err
	}
	if g.IfVersion != 0 && g.IfVersion != current.Version {
		return post.VersionMismatch(current.Version)
	}
	return post.TooLate(current)
}
