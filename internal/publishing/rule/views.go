package rule

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ReadArticle is an article with its views on the sites of a workspace.
type ReadArticle struct {
	ArticleID uuid.UUID
	Views     int64
}

// ViewStore finds articles by their views.
type ViewStore interface {
	// LeaseViewRules returns active rules that select articles by their views and were
	// not evaluated within their interval, each to one caller.
	LeaseViewRules(ctx context.Context, trending, evergreen time.Duration) ([]Rule, error)
	// ArticlesReadInHours and ArticlesReadOnDays list the most viewed articles of a
	// workspace's sites. The end is not included.
	ArticlesReadInHours(ctx context.Context, workspace uuid.UUID, from, to time.Time, minViews,
		limit int) ([]ReadArticle, error)
	ArticlesReadOnDays(ctx context.Context, workspace uuid.UUID, from, to time.Time, minViews,
		limit int) ([]ReadArticle, error)
	// ViewUsage returns the usage for the next decision about an article, and the stored
	// decision that it would replace.
	ViewUsage(ctx context.Context, r Rule, a Article, at time.Time) (u Usage, stored *Decision, err error)
}

const (
	trendingInterval  = 2 * time.Minute
	evergreenInterval = time.Hour
	maxReadArticles   = 200 // of an evaluation
)

// EvaluateViews evaluates the rules that select articles by their views. It starts at
// most as many decisions of a rule as its caps allow, of the most viewed articles first.
func (e *Engine) EvaluateViews(ctx context.Context, start Start) error {
	rules, err := e.Store.LeaseViewRules(ctx, trendingInterval, evergreenInterval)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if err := e.evaluateViews(ctx, r, start); err != nil {
			e.Log.WarnContext(ctx, "a rule that selects by views could not be evaluated yet", "rule_id", r.ID, "error",
				err)
		}
	}
	return nil
}

func (e *Engine) evaluateViews(ctx context.Context, r Rule, start Start) error {
	at := e.now()
	read, err := e.readArticles(ctx, r, at)
	if err != nil {
		return err
	}
	articles, err := e.viewedArticles(ctx, r, read, at)
	if isNotFound(err) {
		return e.Store.PauseRule(ctx, r.ID, PausedNoSearch)
	}
	if err != nil {
		return err
	}
	started := map[uuid.UUID]bool{} // groups: later articles of them are decided about when the post is known
	for _, one := range articles {
		if started[one.GroupID] {
			continue
		}
		u, stored, err := e.Store.ViewUsage(ctx, r, one.Article, at)
		if err != nil {
			return err
		}
		if stored != nil && !r.Repeats(*stored) {
			continue
		}
		u.Views, u.Hour, u.Day = one.Views, u.Hour+len(started), u.Day+len(started)
		d := Decide(r, one.Article, u, at)
		if err := e.checkWording(ctx, r, one.Article, &d); err != nil {
			return err
		}
		if d.Outcome == Skipped {
			err = e.Store.SkipArticle(ctx, r, d)
		} else {
			started[one.GroupID] = true
			err = start(ctx, Request{
				RuleID: r.ID, ArticleID: one.ID, Round: u.Round, Views: one.Views, Hour: at.Truncate(time.Hour),
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkWording skips a post of an evergreen rule whose networks would reject all
// wordings, so that it does not use up a cap.
func (e *Engine) checkWording(ctx context.Context, r Rule, a Article, d *Decision) error {
	if r.Trigger.Evergreen == nil || d.Outcome != Reserved {
		return nil
	}
	accounts, err := e.accounts(ctx, r)
	if err != nil || len(accounts) == 0 {
		return err
	}
	texts, _, err := e.newTexts(ctx, r, a, *d, accounts)
	if err == nil && len(texts) == 0 {
		d.Outcome, d.Reason, d.Params = Skipped, NoNewText, nil
	}
	return err
}

// readArticles returns the articles with enough views at an instant.
func (e *Engine) readArticles(ctx context.Context, r Rule, at time.Time) ([]ReadArticle, error) {
	if t := r.Trigger.Trending; t != nil {
		to := at.Truncate(time.Hour).Add(time.Hour)
		return e.Store.ArticlesReadInHours(ctx, r.WorkspaceID, to.Add(-time.Duration(t.Hours)*time.Hour), to,
			t.MinViews, maxReadArticles)
	}
	to := at.UTC().Truncate(24 * time.Hour)
	return e.Store.ArticlesReadOnDays(ctx, r.WorkspaceID, to.AddDate(0, 0, -r.Trigger.Evergreen.Days), to,
		r.Trigger.Evergreen.MinViews, maxReadArticles)
}

// viewedArticle is an article that a rule selects, with its views.
type viewedArticle struct {
	Article

	Views int64
}

// viewedArticles returns those of the read articles that the trigger selects, the most
// viewed first.
func (e *Engine) viewedArticles(
	ctx context.Context, r Rule, read []ReadArticle, at time.Time,
) ([]viewedArticle, error) {
	if len(read) == 0 {
		return nil, nil
	}
	ids := make([]uuid.UUID, len(read))
	for i, one := range read {
		ids[i] = one.ArticleID
	}
	articles, err := e.Store.RuleArticles(ctx, ids)
	if err != nil {
		return nil, err
	}
	if t := r.Trigger.Evergreen; t != nil {
		articles = slices.DeleteFunc(articles, func(a Article) bool {
			return at.Sub(a.publishedAt()) < days(t.MinAgeDays)
		})
	}
	selected, err := e.selected(ctx, r, articles)
	if err != nil {
		return nil, err
	}
	var out []viewedArticle
	for _, one := range read {
		if i := slices.IndexFunc(selected, func(a Article) bool { return a.ID == one.ArticleID }); i >= 0 {
			out = append(out, viewedArticle{selected[i], one.Views})
		}
	}
	return out, nil
}

// publishedAt returns when the page says that it was published, or when it was found.
func (a Article) publishedAt() time.Time {
	if a.PublishedAt != nil {
		return *a.PublishedAt
	}
	return a.StoredAt()
}

// isOn reports whether the article is on one of the hosts or their subdomains.
func (a Article) isOn(hosts []string) bool {
	u, err := url.Parse(a.URL)
	if err != nil {
		return false
	}
	name := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(hosts, func(host string) bool {
		return name == host || strings.HasSuffix(name, "."+host)
	})
}

// previewViews evaluates the rule at the end of each hour.
func (e *Engine) previewViews(ctx context.Context, r Rule, out *Preview) (map[uuid.UUID]Article, error) {
	accounts, limits, err := e.accountLimits(ctx, r)
	if err != nil {
		return nil, err
	}
	earlier := map[uuid.UUID]map[uuid.UUID][]string{} // texts by group and account
	h, byID := newHistory(), map[uuid.UUID]Article{}
	latest, seen := map[uuid.UUID]int{}, map[uuid.UUID]bool{} // the newest decision about an article without a post
	var read []ReadArticle
	var day time.Time
	for hour := out.From.Truncate(time.Hour); hour.Before(out.To); hour = hour.Add(time.Hour) {
		at := hour.Add(time.Hour - time.Millisecond)
		if at.After(out.To) {
			at = out.To
		}
		if today := at.UTC().Truncate(24 * time.Hour); r.Trigger.Trending != nil || !today.Equal(day) {
			if read, err = e.readArticles(ctx, r, at); err != nil {
				return nil, err
			}
			day = today
		}
		articles, err := e.viewedArticles(ctx, r, read, at)
		if err != nil {
			return nil, err
		}
		for _, one := range read {
			seen[one.ArticleID] = true
		}
		started := map[uuid.UUID]bool{}
		for _, one := range articles {
			if byID[one.ID] = one.Article; started[one.GroupID] {
				continue
			}
			u := h.usage(r, one.Article, at)
			u.Views = one.Views
			if r.Trigger.Evergreen != nil {
				u.Round = h.postCounts[one.GroupID] + 1
				if last, ok := h.last[one.GroupID]; ok {
					u.LastPost = &last
				}
			} else if h.groups[one.GroupID] == one.ID {
				continue
			}
			d := PreviewDecision{Decision: Decide(r, one.Article, u, at)}
			if i, ok := latest[one.ID]; ok && d.Round == out.Decisions[i].Round {
				if !r.Repeats(out.Decisions[i].Decision) {
					continue
				}
				out.Decisions = slices.Delete(out.Decisions, i, i+1)
				for id, at := range latest {
					if at > i {
						latest[id] = at - 1
					}
				}
			}
			if r.Trigger.Evergreen != nil && d.Outcome == Reserved && len(accounts) > 0 {
				d.Texts, _ = r.chooseTexts(one.Article, d.Round, accounts, limits, earlier[one.GroupID])
				if earlier[one.GroupID] == nil {
					earlier[one.GroupID] = map[uuid.UUID][]string{}
				}
				for _, t := range d.Texts {
					earlier[one.GroupID][t.AccountID] = append(earlier[one.GroupID][t.AccountID], t.Text)
				}
				if len(d.Texts) == 0 {
					d.Outcome, d.Reason, d.Params = Skipped, NoNewText, nil
				}
			}
			latest[one.ID] = len(out.Decisions)
			h.add(one.Article, d.Decision)
			started[one.GroupID] = d.Outcome == Reserved
			out.Decisions = append(out.Decisions, d)
		}
	}
	out.Articles = len(seen)
	if n := len(seen) - len(byID); n > 0 {
		out.Counts[NotSelected] = n
	}
	for _, d := range out.Decisions {
		out.Counts[d.Reason]++
	}
	return byID, nil
}
