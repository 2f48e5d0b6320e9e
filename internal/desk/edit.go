package desk

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/account"
	"dateline/internal/media"
	"dateline/internal/post"
)

// changedTime reads a new time, zone or both. A new zone alone keeps the
// instant: it only changes how the time is shown.
func (c *check) changedTime(edit Edit, current post.Post, parent *post.Post, change *post.Change) {
	zone := current.TimeZone
	if edit.TimeZone != nil {
		zone = *edit.TimeZone
		change.TimeZone = &zone
	}
	if edit.ScheduledTime != nil {
		var at time.Time
		at, zone = c.when(*edit.ScheduledTime, zone)
		change.ScheduledTime = &at
		if parent != nil {
			c.notBefore(*parent, at)
		}
		return
	}
	if _, err := post.LoadZone(zone); err != nil {
		c.add("time_zone", "unknown", "%s.", err)
	}
}

// answered reads the post that one answers; nil when it answers none.
func (c *check) answered(ctx context.Context, current post.Post) (*post.Post, error) {
	if current.ThreadParentID == nil {
		return nil, nil
	}
	parent, err := c.desk.Store.PostInWorkspace(ctx, current.WorkspaceID, *current.ThreadParentID)
	return &parent, err
}

func (c *check) changedFiles(ctx context.Context, edit Edit, current post.Post, change *post.Change) (files []media.Item, urls []string, err error) {
	if edit.Attachments != nil {
		if files, err = c.attachments(ctx, *edit.Attachments); err != nil {
			return nil, nil, err
		}
		ids := make([]uuid.UUID, 0, len(files))
		for _, f := range files {
			ids = append(ids, f.ID)
			urls = append(urls, c.desk.ObjectURL(f.ObjectKey))
		}
		change.AttachmentIDs = &ids
		return files, urls, nil
	}
	known, err := c.desk.Store.MediaByID(ctx, current.WorkspaceID, current.AttachmentIDs)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range current.AttachmentIDs {
		files = append(files, known[id])
	}
	return files, nil, nil
}

func (c *check) changedAccounts(ctx context.Context, edit Edit, current post.Post, parent *post.Post, change *post.Change) ([]account.Account, error) {
	if edit.Accounts == nil {
		ids := make([]uuid.UUID, 0, len(current.Targets))
		for _, t := range current.Targets {
			ids = append(ids, t.AccountID)
		}
		return c.desk.Store.AccountsByID(ctx, current.WorkspaceID, ids)
	}
	if len(*edit.Accounts) == 0 {
		change.AccountIDs = &[]uuid.UUID{}
		c.add("accounts", "required", "Name at least one account, or leave the field out.")
		return nil, nil
	}
	accounts, err := c.accounts(ctx, *edit.Accounts, parent)
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, 0, len(accounts))
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	change.AccountIDs = &ids
	return accounts, nil
}

func isMissing(err error) bool {
	var e *post.Error
	return errors.As(err, &e) && e.Kind == post.NotFound
}
