package scheduling

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
)

// applyEdit applies an edit to the current post.
func (c *check) applyEdit(ctx context.Context, edit Edit, current post.Post) (change post.Change, err error) {
	change = post.Change{Content: edit.Content, Language: edit.Language, Options: edit.Options}
	begun := current.Status.IsFinal() // it failed, and may be partly published
	partlyOut := begun && slices.ContainsFunc(current.Targets, func(t post.Target) bool { return t.RemoteID != "" })
	if begun {
		// Published and discarded targets are neither checked nor changed.
		c.settled = map[uuid.UUID]bool{}
		for _, t := range current.Targets {
			c.settled[t.AccountID] = t.Status != post.TargetFailed
		}
		current.Targets = slices.DeleteFunc(slices.Clone(current.Targets), func(t post.Target) bool {
			return t.Status != post.TargetFailed
		})
	}
	parent, err := c.parentOf(ctx, current)
	if err != nil {
		return change, err
	}
	if begun && edit.Accounts != nil {
		c.add("accounts", "too_late", "The accounts of a published post cannot be changed.")
	}
	if partlyOut && edit.ScheduledTime != nil {
		c.add("scheduled_time", "too_late",
			"The time of a partly published post cannot be changed; failed accounts are retried immediately.")
	}
	c.checkWhen(edit.When, optional.Value(edit.ScheduledTime))
	c.changedTime(edit, current, parent, &change)
	if err := c.loadFiles(ctx, current); err != nil {
		return change, err
	}
	next := current // the post after the edit
	if edit.Content != nil {
		next.Content = *edit.Content
	}
	if edit.Attachments != nil {
		if next.AttachmentIDs, err = c.attachments(ctx, "attachments", *edit.Attachments); err != nil {
			return change, err
		}
		change.AttachmentIDs = &next.AttachmentIDs
	}
	if edit.Thread != nil {
		if next.Thread, err = c.thread(ctx, "thread", *edit.Thread); err != nil {
			return change, err
		}
		change.Thread = &next.Thread
	}
	if edit.Options != nil {
		next.Options = *edit.Options
	}
	accounts, err := c.changedAccounts(ctx, edit, current, parent, &change)
	if err != nil {
		return change, err
	}
	if err := c.changedQueue(ctx, edit, current, parent, accounts, &change); err != nil {
		return change, err
	}
	overrides, err := c.changedOverrides(ctx, edit, current, accounts, &change)
	if err != nil {
		return change, err
	}
	if edit.LateLimit != nil {
		limit := c.lateLimit(*edit.LateLimit)
		change.LateLimit = &limit
	}
	if edit.TrackLinks != nil {
		next.LinkBase = c.linkBase(*edit.TrackLinks, current.LinkBase)
		change.LinkBase = &next.LinkBase
	}
	if change.UTM = edit.UTM; edit.UTM != nil {
		c.problems = append(c.problems, edit.UTM.Check("utm")...)
	}
	if change.IsEmpty() && len(c.problems) == 0 {
		c.add("", "nothing_to_change", "Name at least one field to change.")
	}
	if edit.Language != nil {
		c.checkLanguage(*edit.Language)
	}
	c.checkText(next, overrides)
	if current.Status != post.Draft || current.IsPendingApproval() {
		c.checkContent(ctx, next, overrides, accounts)
	}
	return change, nil
}

// changedTime parses a new time, time zone, or both. A new time zone alone keeps the
// instant and changes only how the time is displayed.
func (c *check) changedTime(edit Edit, current post.Post, parent *post.Post, change *post.Change) {
	zone := current.TimeZone
	if edit.TimeZone != nil {
		zone = *edit.TimeZone
		change.TimeZone = &zone
	}
	if edit.ScheduledTime != nil {
		var at time.Time
		at, zone = c.parseTime(*edit.ScheduledTime, zone)
		change.ScheduledTime = &at
		if parent != nil {
			c.checkNotBeforeParent(*parent, at)
		}
		return
	}
	c.checkZone(zone)
}

// changedQueue reads what an edit means for the post's slot in a queue.
func (c *check) changedQueue(ctx context.Context, edit Edit, current post.Post, parent *post.Post,
	accounts []account.Account, change *post.Change,
) (err error) {
	switch {
	case edit.When == NextFree:
		at, zone, group, err := c.queueTime(ctx, edit.QueueGroupID, optional.Value(edit.TimeZone), accounts, current.ID)
		if err != nil || group == nil {
			return err
		}
		change.ScheduledTime, change.TimeZone, change.QueueGroupID = &at, &zone, group
		if parent != nil {
			c.checkNotBeforeParent(*parent, at)
		}
	case edit.QueueGroupID != "":
		at := current.ScheduledTime
		if change.ScheduledTime != nil {
			at = *change.ScheduledTime
		}
		change.QueueGroupID, err = c.namedSlot(ctx, edit.QueueGroupID, at, accounts)
	case change.ScheduledTime != nil:
		change.QueueGroupID, err = c.movedQueue(ctx, current, *change.ScheduledTime)
	}
	return err
}

// parentOf returns the post that a post replies to; nil if it is not a reply.
func (c *check) parentOf(ctx context.Context, current post.Post) (*post.Post, error) {
	if current.ThreadParentID == nil {
		return nil, nil
	}
	parent, err := c.scheduler.Store.PostInWorkspace(ctx, current.WorkspaceID, *current.ThreadParentID)
	return &parent, err
}

// changedOverrides applies changed overrides and returns all overrides.
func (c *check) changedOverrides(
	ctx context.Context, edit Edit, current post.Post, accounts []account.Account, change *post.Change,
) (map[uuid.UUID]*post.Override, error) {
	all := overridesOf(current)
	if len(edit.Overrides) == 0 {
		return all, nil
	}
	ids := make([]uuid.UUID, 0, len(accounts))
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	stored := make(map[string]Override, len(edit.Overrides))
	change.Overrides = map[uuid.UUID]*post.Override{}
	for _, text := range slices.Sorted(maps.Keys(edit.Overrides)) {
		o := edit.Overrides[text]
		if o != nil {
			stored[text] = *o
		} else if id, ok := c.overrideAccount(text, ids); ok {
			change.Overrides[id] = nil
			delete(all, id)
		}
	}
	changed, err := c.overrides(ctx, stored, ids)
	for id, o := range changed {
		change.Overrides[id], all[id] = o, o
	}
	return all, err
}

func overridesOf(p post.Post) map[uuid.UUID]*post.Override {
	all := map[uuid.UUID]*post.Override{}
	for _, t := range p.Targets {
		if t.Override != nil {
			all[t.AccountID] = t.Override
		}
	}
	return all
}

// targetAccounts returns the accounts of a post's targets.
func (c *check) targetAccounts(ctx context.Context, p post.Post) ([]account.Account, error) {
	ids := make([]uuid.UUID, 0, len(p.Targets))
	for _, t := range p.Targets {
		ids = append(ids, t.AccountID)
	}
	if len(ids) == 0 {
		c.add("accounts", "required", "Name at least one account.")
		return nil, nil
	}
	return c.scheduler.Store.AccountsByID(ctx, p.WorkspaceID, ids)
}

func (c *check) changedAccounts(
	ctx context.Context, edit Edit, current post.Post, parent *post.Post, change *post.Change,
) ([]account.Account, error) {
	if edit.Accounts == nil {
		if len(current.Targets) == 0 && current.Status == post.Draft {
			return nil, nil
		}
		return c.targetAccounts(ctx, current)
	}
	if len(*edit.Accounts) == 0 {
		change.AccountIDs = &[]uuid.UUID{}
		c.add("accounts", "required", "Name at least one account, or omit the field.")
		return nil, nil
	}
	accounts, err := c.accounts(ctx, *edit.Accounts, parent, false)
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

func isStale(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e) && e.Kind == apperr.KindPreconditionFailed
}

func isConflict(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e) && e.Kind == apperr.KindConflict
}
