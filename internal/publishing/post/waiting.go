package post

import (
	"slices"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
)

// HasWaitingSegments reports whether the post is being published and the next segment
// of one of its threads follows later.
func (p Post) HasWaitingSegments() bool {
	return p.Status == Publishing && slices.ContainsFunc(p.Targets, func(t Target) bool {
		next, segments := len(t.Published), p.originalSegments(t)
		return t.Status == TargetPublishing && next > 0 && next < len(segments) && segments[next].AfterMinutes > 0
	})
}

// KeepsPublished reports whether an edit of a post that is being published leaves alone
// what is already sent: on the accounts that wait the published segments and the
// options, on all others everything.
func KeepsPublished(before, after Post, waiting []uuid.UUID) bool {
	for _, t := range after.Targets {
		i := slices.IndexFunc(before.Targets, func(b Target) bool { return b.ID == t.ID })
		if i < 0 {
			return false
		}
		was, is := before.originalSegments(before.Targets[i]), after.originalSegments(t)
		fixed := len(before.Targets[i].Published)
		if !slices.Contains(waiting, t.ID) {
			fixed = max(len(was), len(is))
		}
		if len(was) < fixed || len(is) < fixed || !equalThreads(was[:fixed], is[:fixed]) {
			return false
		}
		if !before.optionsOf(before.Targets[i]).Equal(after.optionsOf(t)) {
			return false
		}
	}
	return len(after.Targets) == len(before.Targets)
}

// optionsOf returns the options for a target's network only.
func (p Post) optionsOf(t Target) Options {
	if raw := p.OptionsFor(t); len(raw) > 0 {
		return Options{t.Network: raw}
	}
	return nil
}

// IsThreadOnly reports whether the change is about the segments after the first only.
func (c Change) IsThreadOnly() bool {
	c.Thread, c.Overrides = nil, nil
	return c.IsEmpty()
}

// AlreadyPublished refuses to change what is already sent.
func AlreadyPublished() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "already_published",
		Message: "Publishing of this post has begun. Only the parts of its thread that are not published yet can be " +
			"changed; load the post again.",
	}
}
