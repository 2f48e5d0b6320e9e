package publishing

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/storage/postgres/publishing/db"
)

// EditMedia changes a file's name and alt text. Both are content of every post that uses
// the file, so pending posts get a new version, and an author who needs approval cannot
// change what was approved. Files are locked before posts, here and wherever files are
// attached to posts.
func (s *MediaStore) EditMedia(
	ctx context.Context, workspaceID, id uuid.UUID, e media.Edit,
) (item media.Item, posts []uuid.UUID, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		item, err = readMedia(q.LockMedia(ctx, db.LockMediaParams{ID: id, WorkspaceID: workspaceID}))
		if err != nil {
			return err
		}
		before := item
		if e.FileName != nil {
			item.FileName = *e.FileName
		}
		if e.AltText != nil {
			item.AltText = *e.AltText
		}
		if before.FileName != item.FileName || before.AltText != item.AltText {
			if posts, err = revisePostsWith(ctx, q, workspaceID, id, e); err != nil {
				return err
			}
		}
		_, err := q.EditMedia(ctx, db.EditMediaParams{
			ID: id, WorkspaceID: workspaceID, FileName: e.FileName, AltText: e.AltText, SearchText: searchText(item),
		})
		if err != nil {
			return err
		}
		return recordMedia(ctx, q, item, audit.MediaChanged, map[string]any{
			"file_name": e.FileName != nil, "alt_text": e.AltText != nil,
		})
	})
	return item, posts, err
}

// revisePostsWith applies the edit of a file to the posts that use it and returns the
// scheduled ones.
func revisePostsWith(
	ctx context.Context, q *queries, workspaceID, id uuid.UUID, e media.Edit,
) (scheduled []uuid.UUID, err error) {
	// Lock drafts first, so that none of them is approved in the meantime.
	drafts, err := q.DraftsWithMedia(ctx, db.DraftsWithMediaParams{WorkspaceID: workspaceID, MediaID: id})
	if err != nil {
		return nil, err
	}
	if e.Author {
		if err := authorMayEdit(ctx, q, workspaceID, id); err != nil {
			return nil, err
		}
	}
	if scheduled, err = q.ScheduledWithMedia(ctx,
		db.ScheduledWithMediaParams{WorkspaceID: workspaceID, MediaID: id}); err != nil {
		return nil, err
	}
	rows, err := q.ReviseForMedia(ctx, append(drafts, scheduled...))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Status == db.PostStatusDraft && row.Approval != db.ApprovalStatePending {
			continue
		}
		if err := addEvent(ctx, q, row, nil, post.EventEdited, e.Actor, map[string]any{"media": id}); err != nil {
			return nil, err
		}
	}
	return scheduled, nil
}

// authorMayEdit returns an error if an author edits a file that an approved post uses.
func authorMayEdit(ctx context.Context, q *queries, workspaceID, id uuid.UUID) error {
	w, err := q.WorkspaceOptions(ctx, workspaceID)
	if err != nil || !w.AuthorsNeedApproval {
		return err
	}
	approved, err := q.ApprovedWithMedia(ctx, id)
	if err != nil || len(approved) == 0 {
		return err
	}
	return post.NeedsApproval("The name and description of a file are content of the posts that use it, and " +
		approved[0].String() +
		" uses it, which is approved or on the schedule. Ask an editor to make the change, or take the file out " +
		"of the post.")
}

// lockMedia prevents edits of files while posts that use them are stored, see EditMedia.
func lockMedia(ctx context.Context, q *queries, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := q.LockUsedMedia(ctx, ids)
	return err
}

// mediaOf lists the files of a new post.
func mediaOf(p post.Post, overrides map[uuid.UUID]*post.Override) []uuid.UUID {
	p.Targets = nil
	for account, o := range overrides {
		p.Targets = append(p.Targets, post.Target{AccountID: account, Override: o})
	}
	return p.MediaIDs()
}

// mediaOfChange lists the files that an edit can add.
func mediaOfChange(c post.Change) []uuid.UUID {
	var p post.Post
	if c.AttachmentIDs != nil {
		p.AttachmentIDs = *c.AttachmentIDs
	}
	if c.Thread != nil {
		p.Thread = *c.Thread
	}
	return mediaOf(p, c.Overrides)
}
