package rule

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

// CreatePost creates the post of a reserved decision and stores the result. Repeated
// calls create the same post. An error is temporary.
func (e *Engine) CreatePost(ctx context.Context, request Request) (postID uuid.UUID, outcome Outcome, err error) {
	d, err := e.Store.DecisionOn(ctx, request.RuleID, request.ArticleID, request.Round)
	if isNotFound(err) {
		return uuid.Nil, Skipped, nil // the rule was deleted
	}
	if err != nil || d.Outcome != Reserved {
		return optional.Value(d.PostID), d.Outcome, err
	}
	p, d, err := e.createPost(ctx, d)
	var refused *apperr.Error
	if errors.As(err, &refused) {
		d.Outcome, d.Reason, d.Params = Failed, InvalidPost, Params{"message": refused.Error()}
	} else if err != nil {
		return uuid.Nil, "", err
	}
	if d.Outcome == Created {
		d.PostRevision = p.Revision
	}
	return p.ID, d.Outcome, e.Store.FinishDecision(ctx, d, maxFailures)
}

func (e *Engine) createPost(ctx context.Context, d Decision) (post.Post, Decision, error) {
	// An earlier attempt may have created it from an earlier version of rule and article.
	p, err := e.Posts.Post(ctx, d.WorkspaceID, *d.PostID)
	exists := err == nil
	if err != nil && !isNotFound(err) {
		return p, d, err
	}
	r, err := e.Store.RuleByID(ctx, d.RuleID)
	if err != nil {
		return p, d, err
	}
	articles, err := e.Store.RuleArticles(ctx, []uuid.UUID{d.ArticleID})
	if err != nil {
		return p, d, err
	}
	if !exists && (len(articles) == 0 || articles[0].IsWithdrawn) {
		d.Outcome, d.Reason, d.Params = Skipped, Withdrawn, nil
		return p, d, nil
	}
	accounts, err := e.accounts(ctx, r)
	if err != nil && (!exists || !isRefused(err)) {
		return p, d, err
	}
	if exists {
		// The version that it was created from is not known: follow compares the texts.
		d.Outcome, d.ArticleVersion, d.TextHash = Created, 0, hashTexts(textsOf(p))
		if len(articles) > 0 {
			_, d.Variant, err = e.newTexts(ctx, r, articles[0], d, accounts)
		}
		if isRefused(err) { // now; the post is there
			err = nil
		}
		return p, d, err
	}
	a := articles[0]
	if len(accounts) == 0 {
		d.Outcome, d.Reason, d.Params = Failed, NoAccounts, nil
		return p, d, nil
	}
	texts, variant, err := e.newTexts(ctx, r, a, d, accounts)
	if err != nil {
		return p, d, err
	}
	if d.Variant = variant; len(texts) == 0 {
		d.Outcome, d.Reason, d.Params = Skipped, NoNewText, nil
		return p, d, nil
	}
	in, err := e.automaticPost(ctx, r, a, d, texts)
	if err != nil {
		return p, d, err
	}
	p, err = e.Posts.CreateAutomatic(ctx, in)
	d.Outcome, d.ArticleVersion, d.TextHash = Created, a.Version, hashTexts(texts)
	return p, d, err
}

// automaticPost returns the request for the post of a decision.
func (e *Engine) automaticPost(
	ctx context.Context, r Rule, a Article, d Decision, texts []Text,
) (scheduling.Automatic, error) {
	now := e.now()
	who := workspace.Principal{WorkspaceID: r.WorkspaceID, UserID: r.UserID, Role: workspace.Editor}
	content, others := overrides(texts)
	draft := scheduling.Draft{
		Content: content, TrackLinks: r.TrackLinks, SaveAsDraft: r.Mode == CreateDraft,
		Overrides: map[string]scheduling.Override{},
	}
	if len(a.Language) == 2 {
		draft.Language = a.Language
	}
	for _, t := range texts {
		draft.Accounts = append(draft.Accounts, t.AccountID.String())
		if o := others[t.AccountID.String()]; o != nil {
			draft.Overrides[t.AccountID.String()] = *o
		}
	}
	in := scheduling.Automatic{ID: *d.PostID, DecisionID: d.ID, Who: who, NeedsApproval: r.Mode == NeedsApproval}
	embargo := a.embargo(now)
	switch {
	case r.Timing.When == NextFree && r.Mode == CreateDraft:
	case r.Timing.When == NextFree:
		draft.When, draft.QueueGroupID, in.NotBefore = scheduling.NextFree, r.GroupID.String(), embargo
	case r.Mode != CreateDraft || r.Timing.When == Delayed || r.Timing.Hours != nil || !embargo.IsZero():
		draft.ScheduledTime = r.Timing.publishTime(a, now).Format(time.RFC3339)
	}
	if r.Image == ArticleImage && a.ImageURL != "" {
		image, _, err := e.Images.Fetch(ctx, who, a.ImageURL, "", "rule-decision-"+d.ID.String())
		var refused *apperr.Error
		switch {
		case err == nil:
			draft.Attachments = []string{image.ID.String()}
		case errors.As(err, &refused):
			e.Log.InfoContext(ctx, "the image of an article could not be fetched; its post has none", "rule_id", r.ID,
				"article_id", a.ID, "error", err)
		default:
			return in, err
		}
	}
	in.Draft = draft
	return in, nil
}
