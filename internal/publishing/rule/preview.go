package rule

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Preview is what a rule would have decided about past articles.
type Preview struct {
	From, To  time.Time
	Articles  int            // of the workspace in this time
	IsPartial bool           // there were more articles than a preview reads
	Counts    map[Reason]int // Matched counts posts
	Decisions []PreviewDecision
}

// PreviewDecision is a decision of a preview.
type PreviewDecision struct {
	Decision
	PublishAt *time.Time // nil: a slot of a queue, or a draft without a time
	Texts     []Text     // of the post; none if it is skipped
}

const (
	maxPreviewArticles  = 20_000
	maxPreviewDecisions = 200
)

// Preview decides about the articles that were stored in a time, each at the instant at
// which it was stored, and lists the newest decisions first.
func (e *Engine) Preview(ctx context.Context, r Rule, from, to time.Time) (Preview, error) {
	out := Preview{From: from, To: to, Counts: map[Reason]int{}}
	r.Status = Active
	var articles map[uuid.UUID]Article
	var err error
	if r.Trigger.byViews() {
		articles, err = e.previewViews(ctx, r, &out)
	} else {
		articles, err = e.previewArticles(ctx, r, &out)
	}
	if err != nil {
		return out, err
	}
	slices.Reverse(out.Decisions)
	out.Decisions = out.Decisions[:min(len(out.Decisions), maxPreviewDecisions)]
	if err := e.previewTexts(ctx, r, articles, out.Decisions); err != nil {
		return out, err
	}
	return out, nil
}

// previewArticles decides about new articles.
func (e *Engine) previewArticles(ctx context.Context, r Rule, out *Preview) (map[uuid.UUID]Article, error) {
	articles, err := e.Store.RuleArticlesBetween(ctx, r.WorkspaceID, out.From, out.To, maxPreviewArticles)
	if err != nil {
		return nil, err
	}
	out.Articles, out.IsPartial = len(articles), len(articles) == maxPreviewArticles
	selected, err := e.selected(ctx, r, articles)
	if err != nil {
		return nil, err
	}
	if n := len(articles) - len(selected); n > 0 {
		out.Counts[NotSelected] = n
	}
	byID := make(map[uuid.UUID]Article, len(selected))
	h := newHistory()
	for _, a := range selected {
		byID[a.ID] = a
		at := a.StoredAt()
		d := Decide(r, a, h.usage(r, a, at), at)
		h.add(a, d)
		if d.Pauses != "" {
			r.Status = Paused
		}
		out.Counts[d.Reason]++
		out.Decisions = append(out.Decisions, PreviewDecision{Decision: d})
	}
	return byID, nil
}

// previewTexts adds texts and times to the posts.
func (e *Engine) previewTexts(
	ctx context.Context, r Rule, articles map[uuid.UUID]Article, decisions []PreviewDecision,
) error {
	accounts, limits, err := e.accountLimits(ctx, r)
	if err != nil {
		return err
	}
	for i := range decisions {
		d := &decisions[i]
		if d.Outcome != Reserved {
			continue
		}
		a := articles[d.ArticleID]
		if d.Texts == nil {
			d.Texts = r.render(a, 0, accounts, limits)
		}
		if r.Timing.When != NextFree && (r.Mode != CreateDraft || r.Timing.When == Delayed || r.Timing.Hours != nil) {
			at := r.Timing.publishTime(a, d.DecidedAt)
			d.PublishAt = &at
		}
	}
	return nil
}
