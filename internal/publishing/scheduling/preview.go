package scheduling

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// PostPreview shows how a draft would be published.
type PostPreview struct {
	Targets  []TargetPreview
	Problems []apperr.FieldError // that prevent scheduling
	Warnings []post.Warning
	Price    post.Price
	TimeZone string    // of the post
	Next     *NextSlot // in the queue of its accounts; nil: no queue has them
}

// TargetPreview is a draft on one account.
type TargetPreview struct {
	Account  account.Account
	Segments []SegmentPreview
	Price    post.Price
}

// SegmentPreview is one segment of a draft on one account.
type SegmentPreview struct {
	Characters    int
	MaxCharacters int  // 0: unlimited
	LimitsKnown   bool // false: characters are not counted
	Problems      []apperr.FieldError
	Network       network.Preview
	Price         post.Price
}

// Preview returns how a draft would be published. It stores nothing.
func (s *Scheduler) Preview(ctx context.Context, who workspace.Principal, draft Draft) (PostPreview, error) {
	workspace, err := s.Store.Workspace(ctx, who.WorkspaceID)
	if err != nil {
		return PostPreview{}, err
	}
	c := s.check(workspace)
	n, err := c.validate(ctx, who, draft)
	if err != nil {
		return PostPreview{}, err
	}
	n.Post.ID = uuid.Nil // the post does not exist
	accounts, err := c.lookup.accounts(ctx, n.AccountIDs)
	if err != nil {
		return PostPreview{}, err
	}
	p := previewPost(n, accounts)
	shown := PostPreview{Problems: c.problems, TimeZone: n.Post.TimeZone}
	c.targets = nil
	for _, t := range p.Targets {
		a := accounts[t.AccountID]
		c.targets = append(c.targets, a)
		one := c.previewTarget(ctx, p, t, a)
		shown.Targets = append(shown.Targets, one)
		shown.Price.Add(one.Price)
	}
	p.Status, p.Approval = post.Scheduled, post.Approval{} // once it is scheduled
	shown.Warnings = c.warnings(ctx, p)
	shown.Next, err = c.next().nextSlot(ctx, draft.QueueGroupID, c.targets)
	return shown, err
}

// PreviewStored returns how a stored post would be published on each of its accounts.
func (s *Scheduler) PreviewStored(ctx context.Context, p post.Post) ([]TargetPreview, error) {
	workspace, err := s.Store.Workspace(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	c := s.check(workspace)
	if err := c.loadFiles(ctx, p); err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(p.Targets))
	for i, t := range p.Targets {
		ids[i] = t.AccountID
	}
	accounts, err := c.lookup.accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]TargetPreview, len(p.Targets))
	for i, t := range p.Targets {
		out[i] = c.previewTarget(ctx, p, t, accounts[t.AccountID])
	}
	return out, nil
}

// previewTarget renders a post for one account and counts its characters.
func (c *check) previewTarget(ctx context.Context, p post.Post, t post.Target, a account.Account) TargetPreview {
	one := TargetPreview{Account: a}
	adapter, supported := c.scheduler.Networks.Get(a.Network)
	var limits network.Limits
	known := false
	if supported {
		var err error
		limits, err = c.lookup.limits(ctx, adapter, a)
		known = err == nil
	}
	var options network.PostOptions
	var problems []apperr.FieldError // of the options
	if supported {
		options = c.options(p, a, t.Override, adapter, func(found apperr.FieldError) {
			problems = append(problems, found)
		})
	}
	for i, s := range p.Segments(t) {
		seen := SegmentPreview{LimitsKnown: known, Network: network.Preview{Text: s.Content}}
		if i == 0 {
			seen.Problems = problems
		}
		add := func(found apperr.FieldError) { seen.Problems = append(seen.Problems, found) }
		readable := c.checkReadable([]post.Segment{s}, a, t.Override, func(found apperr.FieldError) {
			found.Field = fieldOfSegment(i, s, a, t.Override, "content")
			add(found)
		})
		if !isValidText(s.Content) {
			add(apperr.Field(fieldOfSegment(i, s, a, t.Override, "content"), "invalid_text",
				"The text must be valid UTF-8 without NUL."))
		}
		if readable && known {
			content := c.networkContent(p, i, s, options, limits)
			seen.Characters, seen.MaxCharacters = adapter.Count(s.Content, limits), network.LimitsOf(adapter, content,
				limits).MaxCharacters
			for _, found := range adapter.Check(content, limits) {
				add(apperr.FieldError{
					Field: fieldOfSegment(i, s, a, t.Override, found.Field), Code: found.Code,
					Message: found.Message, Params: found.Params,
				})
			}
			if previewer, ok := adapter.(network.Previewer); ok {
				seen.Network = previewer.Preview(content, limits)
			}
		}
		if pricer, ok := adapter.(network.Pricer); ok && readable {
			seen.Price = priceOf(pricer, c.networkContent(p, i, s, options, limits))
			one.Price.Add(seen.Price)
		}
		one.Segments = append(one.Segments, seen)
	}
	return one
}
