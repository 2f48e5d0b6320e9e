package store

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/post"
	"dateline/internal/store/db"
)

// Edit applies a change to a post that is not yet being published.
// attachmentURLs belong to change.AttachmentIDs. A refusal is a *post.Error.
func (s *Store) Edit(ctx context.Context, g post.Guard, change post.Change, attachmentURLs []string) (post.Post, error) {
	params := db.EditPostParams{PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion,
		Content: change.Content, ScheduledTime: change.ScheduledTime, TimeZone: change.TimeZone, Language: change.Language}
	if change.AttachmentIDs != nil {
		params.AttachmentIds, params.AttachmentUrls = orEmpty(*change.AttachmentIDs), orEmpty(attachmentURLs)
	}
	return s.change(ctx, g, post.EventEdited, changedFields(change), func(q *db.Queries) (db.ScheduledPost, error) {
		row, err := q.EditPost(ctx, params)
		if err != nil || change.AccountIDs == nil {
			return row, err
		}
		if err := q.DeleteTargets(ctx, db.DeleteTargetsParams{PostID: g.PostID, KeepAccountIds: *change.AccountIDs}); err != nil {
			return row, err
		}
		kept, err := q.TargetsOfPosts(ctx, []uuid.UUID{g.PostID})
		if err != nil {
			return row, err
		}
		have := map[uuid.UUID]bool{}
		for _, t := range kept {
			have[t.AccountID] = true
		}
		var added []uuid.UUID
		for _, id := range *change.AccountIDs {
			if !have[id] {
				added = append(added, id)
			}
		}
		return row, insertTargets(ctx, q, g.PostID, added)
	})
}

func changedFields(c post.Change) map[string]any {
	data := map[string]any{}
	if c.Content != nil {
		data["content"] = true
	}
	if c.ScheduledTime != nil {
		data["scheduled_time"] = *c.ScheduledTime
	}
	if c.AttachmentIDs != nil {
		data["attachments"] = true
	}
	if c.AccountIDs != nil {
		data["accounts"] = *c.AccountIDs
	}
	return data
}

// Cancel takes back a post that is not yet being published.
func (s *Store) Cancel(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.change(ctx, g, post.EventCancelled, nil, func(q *db.Queries) (db.ScheduledPost, error) {
		row, err := q.CancelPost(ctx, db.CancelPostParams{PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion})
		if err != nil {
			return row, err
		}
		return row, q.CancelTargets(ctx, g.PostID)
	})
}

// PublishNow makes a waiting post due at once.
func (s *Store) PublishNow(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.change(ctx, g, post.EventPublishNow, nil, func(q *db.Queries) (db.ScheduledPost, error) {
		return q.PublishNow(ctx, db.PublishNowParams{PostID: g.PostID, WorkspaceID: g.WorkspaceID, IfVersion: g.IfVersion})
	})
}

// change runs one guarded statement with its event, and says why when the
// guard refused.
func (s *Store) change(ctx context.Context, g post.Guard, event string, data map[string]any, update func(*db.Queries) (db.ScheduledPost, error)) (changed post.Post, err error) {
	err = s.inTx(ctx, func(q *db.Queries) error {
		row, err := update(q)
		if err != nil {
			return err
		}
		if err := addEvent(ctx, q, row, nil, event, g.Actor, data); err != nil {
			return err
		}
		changed, err = withTargets(ctx, q, row, nil)
		return err
	})
	if noRows(err) {
		return post.Post{}, s.whyRefused(ctx, g)
	}
	if err != nil {
		return post.Post{}, err
	}
	return changed, nil
}

func (s *Store) whyRefused(ctx context.Context, g post.Guard) error {
	current, err := s.PostInWorkspace(ctx, g.WorkspaceID, g.PostID)
	if err != nil {
		return err
	}
	if current.Status != post.Scheduled && current.Status != post.Draft {
		return post.TooLate(current.Status)
	}
	return post.Stale(current.Version)
}
