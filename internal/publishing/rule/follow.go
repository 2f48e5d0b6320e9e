package rule

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

// errUnfinished reports that a post of the article is being created. The article stays
// in the queue, so that the post follows it afterwards.
var errUnfinished = errors.New("a post of the article is being created") //nolint:gochecknoglobals // a sentinel

// follow brings the posts of an article up to its current version and returns the posts
// that changed. It is idempotent.
func (e *Engine) follow(ctx context.Context, a Article) (changed []uuid.UUID, err error) {
	decisions, err := e.Store.DecisionsOnArticle(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	for _, d := range decisions {
		if d.Outcome == Reserved {
			return changed, errUnfinished
		}
		if a.Version == d.ArticleVersion && a.IsWithdrawn == d.Attention.isWithdrawal() {
			continue
		}
		p, err := e.Posts.Post(ctx, d.WorkspaceID, *d.PostID)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return changed, err
		}
		was := p.Version
		if a.IsWithdrawn {
			p, err = e.withdraw(ctx, d, p)
		} else {
			p, err = e.correct(ctx, a, d, p)
		}
		if err != nil {
			return changed, err
		}
		if p.Version != was {
			changed = append(changed, p.ID)
		}
	}
	return changed, nil
}

func (a Attention) isWithdrawal() bool { return a == WithdrawnPending || a == WithdrawnPublished }

func dateline(p post.Post) post.Guard {
	return post.Guard{WorkspaceID: p.WorkspaceID, PostID: p.ID, IfVersion: p.Version, Actor: post.ActorDateline}
}

// withdraw takes the post of a withdrawn article off the schedule, and asks for attention
// if it is published.
func (e *Engine) withdraw(ctx context.Context, d Decision, p post.Post) (post.Post, error) {
	if p.Status == post.Scheduled {
		unscheduled, err := e.Posts.Unschedule(ctx, dateline(p))
		if isRefused(err) { // it is being published, or a person has changed it
			if p, err = e.Posts.Post(ctx, p.WorkspaceID, p.ID); err == nil && p.Status == post.Scheduled {
				err = errUnfinished // evaluate the article again
			}
		} else if err == nil {
			p = unscheduled
		}
		if err != nil {
			return p, err
		}
	}
	d.Attention = WithdrawnPublished
	note := "The article was withdrawn after this post was published. Check whether to delete the post."
	switch p.Status {
	case post.Draft, post.Failed:
		d.Attention, note = WithdrawnPending, "The article was withdrawn. Cancel this post, or schedule it again."
	case post.Canceled:
		d.Attention, note = "", ""
	}
	if d.Attention == WithdrawnPending {
		d.PostRevision = p.Revision
	}
	return p, e.Store.SaveFollowUp(ctx, d, note)
}

// correct updates the text of a pending post that no person has edited or approved. Of
// any other, it asks for attention if the text would be another one.
func (e *Engine) correct(ctx context.Context, a Article, d Decision, p post.Post) (post.Post, error) {
	hasReturned := d.Attention.isWithdrawal()
	if hasReturned {
		d.Attention = ""
	}
	r, err := e.Store.RuleByID(ctx, d.RuleID)
	if err != nil {
		return p, err
	}
	accounts, err := e.targets(ctx, p)
	if err != nil {
		return p, err
	}
	texts, err := e.followTexts(ctx, r, a, d, accounts)
	if err != nil {
		return p, err
	}
	hash := hashTexts(texts)
	hasNewText := !bytes.Equal(hash, d.TextHash)
	// An earlier attempt has updated it.
	isUpdated := bytes.Equal(hash, hashTexts(textsOf(p)))
	isPending := p.Status == post.Draft || p.Status == post.Scheduled
	d.ArticleVersion = a.Version
	note := ""
	switch {
	case len(texts) == 0 || p.Status == post.Canceled || !hasNewText && !hasReturned:
	case isUpdated:
		d.PostRevision, d.TextHash = p.Revision, hash
	case isPending && p.Revision == d.PostRevision:
		content, others := overrides(texts)
		edited, err := e.Posts.Edit(ctx, dateline(p), scheduling.Edit{Content: &content, Overrides: others})
		if isRefused(err) {
			return p, errors.Join(errUnfinished, err) // evaluate the article again: the post has changed
		}
		if err != nil {
			return p, err
		}
		p, d.PostRevision, d.TextHash = edited, edited.Revision, hash
	case isPending:
		d.Attention, note = CorrectedEdited, "The article was corrected. This post was not updated, because a member "+
			"has changed or approved it: check its text."
		d.TextHash = hash
	default:
		d.Attention, note = CorrectedPublished, "The article was corrected after this post was published. "+
			"Check its text."
		d.TextHash = hash
	}
	return p, e.Store.SaveFollowUp(ctx, d, note)
}

// targets returns the accounts of a post, in the order of their ids.
func (e *Engine) targets(ctx context.Context, p post.Post) ([]account.Account, error) {
	ids := make([]uuid.UUID, len(p.Targets))
	for i, t := range p.Targets {
		ids[i] = t.AccountID
	}
	found, err := e.Lookup.AccountsByID(ctx, p.WorkspaceID, ids)
	slices.SortFunc(found, func(a, b account.Account) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return found, err
}

// textsOf returns the texts of a post.
func textsOf(p post.Post) (out []Text) {
	for _, t := range p.Targets {
		text := p.Content
		if t.Override != nil && t.Override.Content != nil {
			text = *t.Override.Content
		}
		out = append(out, Text{AccountID: t.AccountID, Network: t.Network, Text: text})
	}
	return out
}

func isRefused(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e)
}
