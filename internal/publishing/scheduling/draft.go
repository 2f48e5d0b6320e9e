package scheduling

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

// ScheduleDraft makes a draft a scheduled post; when is its time, or empty for
// the one that it has.
func (d *Scheduler) ScheduleDraft(ctx context.Context, g post.Guard, when, zone string) (post.Post, error) {
	return d.changeChecked(ctx, g, func(c *check, draft post.Post, g post.Guard) (post.Post, error) {
		if draft.Status != post.Draft {
			return post.Post{}, post.NotDraft(draft.Status)
		}
		var change post.Change
		switch {
		case when != "":
			if zone == "" {
				zone = draft.TimeZone
			}
			draft.ScheduledTime, draft.TimeZone = c.parseTime(when, zone)
			change.ScheduledTime, change.TimeZone = &draft.ScheduledTime, &draft.TimeZone
		case zone != "":
			// As in an edit, a zone alone only changes how the time is shown.
			zone = c.checkZone(zone)
			change.TimeZone = &zone
			fallthrough
		default:
			c.checkFuture(draft.ScheduledTime)
		}
		if err := c.checkComplete(ctx, draft, draft.ScheduledTime); err != nil {
			return post.Post{}, err
		}
		if c.needsApproval(g.IsAuthor) {
			return d.Store.Submit(ctx, g, change)
		}
		return d.Store.ScheduleDraft(ctx, g, change)
	})
}

// checkComplete checks a draft as a post that is to go out at the time given.
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

// checkText checks what the database cannot keep, of a draft as well.
func (c *check) checkText(p post.Post, overrides map[uuid.UUID]*post.Override) {
	look := func(prefix string, content *string, thread []post.Segment) {
		if content != nil && !isValidText(*content) {
			c.add(prefix+"content", "invalid", "The text must be valid UTF-8 without NUL.")
		}
		for i, s := range thread {
			if !isValidText(s.Content) {
				c.add(fmt.Sprintf("%sthread[%d].content", prefix, i), "invalid", "The text must be valid UTF-8 without NUL.")
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
