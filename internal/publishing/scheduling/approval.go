package scheduling

import (
	"context"
	"slices"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

// needsApproval reports whether posts that a member schedules must be approved first.
func (c *check) needsApproval(author bool) bool { return author && c.workspace.AuthorsNeedApproval }

func editorRequired(reason string) *apperr.Error {
	return post.NeedsApproval(reason + ", and this workspace requires an editor for that. Ask an editor.")
}

// hasStarted reports whether publishing of a post has started. Then an edit takes
// effect immediately, and approval cannot delay it.
func hasStarted(p post.Post) bool {
	return p.Status.IsFinal() || slices.ContainsFunc(p.Targets, func(t post.Target) bool {
		return t.Status != post.TargetScheduled && t.Status != post.TargetCanceled
	})
}

// changesContent reports whether an edit changes what is published, when, or where. A
// new time zone alone changes only how the time is displayed.
func changesContent(c post.Change) bool {
	c.TimeZone = nil
	return !c.IsEmpty()
}

// Submit submits a draft for approval.
func (s *Scheduler) Submit(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.changeChecked(ctx, g, func(c *check, draft post.Post, g post.Guard) (post.Post, error) {
		switch {
		case draft.Status != post.Draft:
			return post.Post{}, post.NotDraft(draft.Status)
		case draft.IsPendingApproval():
			return post.Post{}, post.AlreadyPending()
		}
		c.checkFuture(inZone(draft.ScheduledTime, draft.TimeZone))
		if err := c.checkComplete(ctx, draft, draft.ScheduledTime); err != nil {
			return post.Post{}, err
		}
		return s.Store.Submit(ctx, g, post.Change{})
	})
}

// Approve schedules a submitted post without changes.
func (s *Scheduler) Approve(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.changeChecked(ctx, g, func(c *check, p post.Post, g post.Guard) (post.Post, error) {
		switch {
		case !p.IsPendingApproval():
			return post.Post{}, post.NotPending(p)
		case !p.ScheduledTime.After(s.now()):
			return s.Store.Approve(ctx, g) // which returns the error, by the database's clock
		}
		if err := c.checkComplete(ctx, p, p.ScheduledTime); err != nil {
			return post.Post{}, err
		}
		return s.Store.Approve(ctx, g)
	})
}

// Reopen undoes the approval or rejection of a post.
func (s *Scheduler) Reopen(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.notifyChange(ctx, func() (post.Post, error) { return s.Store.Reopen(ctx, g) })
}

// Reject returns a submitted post to its author with a reason.
func (s *Scheduler) Reject(ctx context.Context, g post.Guard, note string) (post.Post, error) {
	if !isValidText(note) {
		return post.Post{}, apperr.InvalidFields(apperr.FieldError{
			Field: "note", Code: "invalid", Message: "The note must be valid UTF-8 without NUL.",
		})
	}
	return s.notifyChange(ctx, func() (post.Post, error) { return s.Store.Reject(ctx, g, note) })
}
