package scheduling

import (
	"context"
	"slices"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

// waits says whether what somebody puts on the schedule has to be approved
// first.
func (c *check) waits(author bool) bool { return author && c.workspace.AuthorsNeedApproval }

func needsEditor(reason string) *apperr.Error {
	return post.NeedsApproval(reason + ", and in this workspace that takes an editor. Ask one to do it.")
}

// begun says of a post that something of it was sent, or was to be: then an edit
// goes out at once, and nothing is left that could wait.
func begun(p post.Post) bool {
	return p.Status.Final() || slices.ContainsFunc(p.Targets, func(t post.Target) bool {
		return t.Status != post.TargetScheduled && t.Status != post.TargetCancelled
	})
}

// changesPost says whether an edit changes what is published, when or where. A
// zone alone only changes how the time is shown.
func changesPost(c post.Change) bool {
	c.TimeZone = nil
	return !c.Empty()
}

// Submit makes a draft wait for approval.
func (d *Desk) Submit(ctx context.Context, g post.Guard) (post.Post, error) {
	return d.checked(ctx, g, func(c *check, draft post.Post, g post.Guard) (post.Post, error) {
		switch {
		case draft.Status != post.Draft:
			return post.Post{}, post.NotDraft(draft.Status)
		case draft.Waiting():
			return post.Post{}, post.AlreadyPending()
		}
		c.future(draft.ScheduledTime)
		if err := c.finished(ctx, draft, draft.ScheduledTime); err != nil {
			return post.Post{}, err
		}
		return d.Store.Submit(ctx, g, post.Change{})
	})
}

// Approve puts a post that waits on the schedule, exactly as it stands.
func (d *Desk) Approve(ctx context.Context, g post.Guard) (post.Post, error) {
	return d.checked(ctx, g, func(c *check, p post.Post, g post.Guard) (post.Post, error) {
		switch {
		case !p.Waiting():
			return post.Post{}, post.NotPending(p)
		case !p.ScheduledTime.After(d.now()):
			return d.Store.Approve(ctx, g) // which says so, by the database's clock
		}
		if err := c.finished(ctx, p, p.ScheduledTime); err != nil {
			return post.Post{}, err
		}
		return d.Store.Approve(ctx, g)
	})
}

// Reject sends a post that waits back to its author, with the reason.
func (d *Desk) Reject(ctx context.Context, g post.Guard, note string) (post.Post, error) {
	if !isText(note) {
		return post.Post{}, apperr.InvalidFields(apperr.FieldError{Field: "note", Code: "invalid", Message: "The note holds bytes that are no characters."})
	}
	return d.announce(ctx, func() (post.Post, error) { return d.Store.Reject(ctx, g, note) })
}
