package publishing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/rule"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// LeaseViewRules returns active rules that select articles by their views and were not
// evaluated within their interval. Each is returned to one caller.
func (s *RuleStore) LeaseViewRules(ctx context.Context, trending, evergreen time.Duration) ([]rule.Rule, error) {
	rows, err := s.q.LeaseViewRules(ctx, db.LeaseViewRulesParams{
		TrendingSeconds: trending.Seconds(), EvergreenSeconds: evergreen.Seconds(),
	})
	if err != nil {
		return nil, err
	}
	return articleRulesFromRows(rows)
}

// SiteHosts returns the hosts of the sites of a workspace.
func (s *RuleStore) SiteHosts(ctx context.Context, workspaceID uuid.UUID) ([]string, error) {
	return s.q.SiteHosts(ctx, workspaceID)
}

// ArticlesReadInHours lists the most viewed articles of a workspace's sites in some hours.
func (s *RuleStore) ArticlesReadInHours(
	ctx context.Context, workspaceID uuid.UUID, from, to time.Time, minViews, limit int,
) ([]rule.ReadArticle, error) {
	rows, err := s.q.ArticlesReadInHours(ctx, db.ArticlesReadInHoursParams{
		WorkspaceID: workspaceID, FromHour: from,
		ToHour: to, MinViews: int64(minViews),
		MaxCount: limit,
	})
	out := make([]rule.ReadArticle, len(rows))
	for i, r := range rows {
		out[i] = rule.ReadArticle{ArticleID: r.ArticleID, Views: r.Views}
	}
	return out, err
}

// ArticlesReadOnDays lists the most viewed articles of a workspace's sites on some days.
func (s *RuleStore) ArticlesReadOnDays(
	ctx context.Context, workspaceID uuid.UUID, from, to time.Time, minViews, limit int,
) ([]rule.ReadArticle, error) {
	rows, err := s.q.ArticlesReadOnDays(ctx,
		db.ArticlesReadOnDaysParams{
			WorkspaceID: workspaceID, FromDay: dateOrNull(from), ToDay: dateOrNull(to),
			MinViews: int64(minViews),
			MaxCount: limit,
		})
	out := make([]rule.ReadArticle, len(rows))
	for i, r := range rows {
		out[i] = rule.ReadArticle{ArticleID: r.ArticleID, Views: r.Views}
	}
	return out, err
}

// ViewUsage returns the usage for the next decision about an article, and the stored
// decision that it would replace.
func (s *RuleStore) ViewUsage(
	ctx context.Context, r rule.Rule, a rule.Article, at time.Time,
) (rule.Usage, *rule.Decision, error) {
	u, err := usageOf(ctx, s.q, r, a, at)
	if err != nil {
		return u, nil, err
	}
	row, err := s.q.RuleDecisionOn(ctx, db.RuleDecisionOnParams{RuleID: r.ID, ArticleID: a.ID, Round: u.Round})
	if tx.NoRows(err) {
		return u, nil, nil
	}
	if err != nil {
		return u, nil, err
	}
	d, err := decisionFromRow(row)
	return u, &d, err
}

// EarlierTexts returns the texts of a workspace's posts about the article of a decision
// or its group by account, without those of the decision itself.
func (s *RuleStore) EarlierTexts(ctx context.Context, d rule.Decision) (map[uuid.UUID][]string, error) {
	post := uuid.Nil
	if d.PostID != nil {
		post = *d.PostID
	}
	rows, err := s.q.RuleEarlierTexts(ctx, db.RuleEarlierTextsParams{
		WorkspaceID: d.WorkspaceID, ArticleID: d.ArticleID, GroupID: d.GroupID, PostID: post,
	})
	out := map[uuid.UUID][]string{}
	for _, r := range rows {
		out[r.AccountID] = append(out[r.AccountID], r.Content)
	}
	return out, err
}
