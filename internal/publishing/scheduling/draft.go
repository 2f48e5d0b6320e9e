package scheduling

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
)

// Time is when a draft is to be published, as it arrives.
type Time struct {
	ScheduledTime string // empty: the one that the draft has
	TimeZone      string
	When          string // NextFree: the next free slot of a queue
	QueueGroupID  string // whose slot ScheduledTime is, or which queue NextFree means
}

// ScheduleDraft schedules a draft.
func (s *Scheduler) ScheduleDraft(ctx context.Context, g post.Guard, at Time) (post.Post, error) {
	return untilSlot(at.When, func() (post.Post, error) { return s.scheduleDraft(ctx, g, at) })
}

func (s *Scheduler) scheduleDraft(ctx context.Context, g post.Guard, at Time) (post.Post, error) {
	return s.changeChecked(ctx, g, func(c *check, draft post.Post, g post.Guard) (post.Post, error) {
		if draft.Status != post.Draft {
			return post.Post{}, post.NotDraft(draft.Status)
		}
		change, err := c.draftTime(ctx, &draft, at)
		if err != nil {
			return post.Post{}, err
		}
		if err := c.checkComplete(ctx, draft, draft.ScheduledTime); err != nil {
			return post.Post{}, err
		}
		if c.needsApproval(g.IsAuthor) {
			return s.Store.Submit(ctx, g, change)
		}
		return s.Store.ScheduleDraft(ctx, g, change)
	})
}

// draftTime sets the time at which a draft is to be published.
func (c *check) draftTime(ctx context.Context, draft *post.Post, at Time) (change post.Change, err error) {
	c.checkWhen(at.When, at.ScheduledTime)
	zone := at.TimeZone
	var accounts []account.Account
	if at.When == NextFree || at.QueueGroupID != "" {
		if accounts, err = c.next().targetAccounts(ctx, *draft); err != nil {
			return change, err
		}
	}
	switch {
	case at.When == NextFree:
		draft.ScheduledTime, draft.TimeZone, change.QueueGroupID, err = c.queueTime(ctx, at.QueueGroupID, zone,
			accounts, draft.ID)
		change.ScheduledTime, change.TimeZone = &draft.ScheduledTime, &draft.TimeZone
		return change, err
	case at.ScheduledTime != "":
		if zone == "" {
			zone = draft.TimeZone
		}
		before := *draft
		draft.ScheduledTime, draft.TimeZone = c.parseTime(at.ScheduledTime, zone)
		change.ScheduledTime, change.TimeZone = &draft.ScheduledTime, &draft.TimeZone
		if change.QueueGroupID, err = c.movedQueue(ctx, before, draft.ScheduledTime); err != nil {
			return change, err
		}
	case zone != "":
		// As in an edit, a time zone alone changes only how the time is displayed.
		zone = c.checkZone(zone)
		change.TimeZone = &zone
		fallthrough
	default:
		c.checkFuture(inZone(draft.ScheduledTime, draft.TimeZone))
	}
	if at.QueueGroupID != "" {
		change.QueueGroupID, err = c.namedSlot(ctx, at.QueueGroupID, draft.ScheduledTime, accounts)
	}
	return change, err
}

// checkComplete checks a draft as a post to be published at the given time.
func (c *check) checkComplete(ctx context.Context, draft post.Post, at time.Time) error {
	parent, err := c.parentOf(ctx, draft)
	if err != nil {
		return err
	}
	if parent != nil {
		c.checkParent(*parent, at)
	}
	accounts, err := c.targetAccounts(ctx, draft)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		c.checkConnected("accounts", a)
	}
	if err := c.loadFiles(ctx, draft); err != nil {
		return err
	}
	c.checkContent(ctx, draft, overridesOf(draft), accounts)
	if len(c.problems) > 0 {
		return apperr.InvalidFields(c.problems...)
	}
	return nil
}

// checkText rejects text that the database cannot store, also in drafts.
func (c *check) checkText(p post.Post, overrides map[uuid.UUID]*post.Override) {
	look := func(prefix string, content *string, thread []post.Segment) {
		if content != nil && !isValidText(*content) {
			c.add(prefix+"content", "invalid_text", "The text must be valid UTF-8 without NUL.")
		}
		for i, s := range thread {
			if !isValidText(s.Content) {
				c.add(fmt.Sprintf("%sthread[%d].content", prefix, i), "invalid_text",
					"The text must be valid UTF-8 without NUL.")
			}
		}
	}
	for name, raw := range p.Options {
		c.checkOptionText("options."+name, raw)
	}
	look("", &p.Content, p.Thread)
	for id, o := range overrides {
		var thread []post.Segment
		if o.Thread != nil {
			thread = *o.Thread
		}
		look("overrides."+id.String()+".", o.Content, thread)
		if o.Options != nil {
			for name, raw := range *o.Options {
				c.checkOptionText("overrides."+id.String()+".options."+name, raw)
			}
		}
	}
}
