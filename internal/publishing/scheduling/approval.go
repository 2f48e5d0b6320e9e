package scheduling

import (
	"context"
	"slices"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

// needsApproval says whether what somebody puts on the schedule has to be approved
// first.
func (c *check) needsApproval(author bool) bool { return author && c.workspace.AuthorsNeedApproval }

func editorRequired(reason string) *apperr.Error {
	return post.NeedsApproval(reason + ", and this workspace requires an editor for that. Ask an editor.")
}

// hasStarted says of a post that something of it was sent, or was to be: then an edit
// goes out at once, and nothing is left that could wait.
func hasStarted(p post.Post) bool {
	return p.Status.IsFinal() || slices.ContainsFunc(p.Targets, func(t post.Target) bool {
		return t.Status != post.TargetScheduled && t.Status != post.TargetCanceled
	})
}

// changesContent says whether an edit changes what is published, when or where. A
// zone alone only changes how the time is shown.
func changesContent(c post.Change) bool {
	c.TimeZone = nil
	return !c.IsEmpty()
}

// Submit makes a draft wait for approval.
func (d *Scheduler) Submit(ctx context.Context, g post.Guard) (post.Post, error) {
	return d.changeChecked(ctx, g, func(c *check, draft post.Post, g post.Guard) (post.Post, error) {
		switch {
		case draft.Status != post.Draft:
			return post.Post{}, post.NotDraft(draft.Status)
		case draft.IsPendingApproval():
			return post.Post{}, post.AlreadyPending()
		}
		c.checkFuture(draft.ScheduledTime)
		if err := c.checkComplete(ctx, draft, draft.ScheduledTime); err != nil {
			return post.Post{}, err
		}
		return d.Store.Submit(ctx, g, post.Change{})
	})
}

// Approve puts a post that waits on the schedule, exactly as it stands.
func (d *Scheduler) Approve(ctx context.Context, g post.Guard) (post.Post, error) {
	return d.changeChecked(ctx, g, func(c *check, p post.Post, g post.Guard) (post.Post, error) {
		switch {
		case !p.IsPendingApproval():
			return post.Post{}, post.NotPending(p)
		case !p.ScheduledTime.After(d.now()):
			return d.Store.Approve(ctx, g) // which says so, by the database's clock
		}
		if err := c.checkComplete(ctx, p, p.ScheduledTime); err != nil {
			return post.Post{}, err
		}
		return d.Store.Approve(ctx, g)
	})
}

// Reject sends a post that waits back to its author, with the reason.
func (d *Scheduler) Reject(ctx context.Context, g post.Guard, note string) (post.Post, error) {
	if !isValidText(note) {
		return post.Post{}, apperr.InvalidFields(apperr.FieldError{Field: "note", Code: "invalid", Message: "The note must be valid UTF-8 without NUL."})
	}
	return d.notifyChange(ctx, func() (post.Post, error) { return d.Store.Reject(ctx, g, note) })
}
