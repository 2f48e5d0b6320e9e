package publishing

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/rule"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/internal/storage/postgres/tx"
)

// LeaseRuleArticles leases queued articles for evaluation.
func (s *RuleStore) LeaseRuleArticles(
	ctx context.Context, limit int, lease time.Duration,
) ([]rule.QueuedArticle, error) {
	rows, err := s.q.LeaseRuleArticles(ctx, db.LeaseRuleArticlesParams{Seconds: lease.Seconds(), Batch: limit})
	out := make([]rule.QueuedArticle, len(rows))
	for i, r := range rows {
		out[i] = rule.QueuedArticle{ID: r.ID, ArticleID: r.ArticleID, Attempts: r.Attempts}
	}
	return out, err
}

// CompleteRuleArticles deletes evaluated articles from the queue.
func (s *RuleStore) CompleteRuleArticles(ctx context.Context, ids []int64) error {
	return s.q.CompleteRuleArticles(ctx, ids)
}

// PostponeRuleArticles evaluates articles again after a while.
func (s *RuleStore) PostponeRuleArticles(ctx context.Context, ids []int64, wait time.Duration) error {
	return s.q.PostponeRuleArticles(ctx, db.PostponeRuleArticlesParams{Ids: ids, Seconds: wait.Seconds()})
}

// RuleArticles returns the existing articles among ids.
func (s *RuleStore) RuleArticles(ctx context.Context, ids []uuid.UUID) ([]rule.Article, error) {
	rows, err := s.q.RuleArticles(ctx, ids)
	out := make([]rule.Article, len(rows))
	for i, r := range rows {
		out[i] = ruleArticleFromRow(r)
	}
	return out, err
}

// RuleArticlesBetween returns the articles of a workspace that were stored in a time, the
// oldest first.
func (s *RuleStore) RuleArticlesBetween(
	ctx context.Context, workspaceID uuid.UUID, from, to time.Time, limit int,
) ([]rule.Article, error) {
	rows, err := s.q.RuleArticlesBetween(ctx,
		db.RuleArticlesBetweenParams{
			WorkspaceID: workspaceID, FromID: firstID(from), ToID: firstID(to),
			MaxCount: limit,
		})
	out := make([]rule.Article, len(rows))
	for i, r := range rows {
		out[i] = ruleArticleFromRow(db.RuleArticlesRow(r))
	}
	return out, err
}

// firstID returns the lowest id that is created at an instant (RFC 9562, version 7).
func firstID(at time.Time) (id uuid.UUID) {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(at.UnixMilli(), 0)))
	copy(id[:6], ms[2:])
	return id
}

func ruleArticleFromRow(r db.RuleArticlesRow) rule.Article {
	a := rule.Article{
		ID: r.ID, GroupID: r.GroupID, StoryID: r.StoryID, Version: r.Version, Domain: r.Domain,
		URL: r.CanonicalUrl, Title: r.Title, Lead: r.Lead, Section: r.Section, Language: r.Language,
		ImageURL: r.ImageUrl, Authors: r.Authors, Tags: r.Tags, Words: r.Words,
		PublishedAt: optional.UTC(r.PublishedAt), DateOnly: r.DateOnly, IsWithdrawn: r.Withdrawn,
	}
	if r.TitleOnly {
		a.Lead = ""
	}
	return a
}

// RulesForArticle returns the active rules that evaluate an article.
func (s *RuleStore) RulesForArticle(ctx context.Context, article uuid.UUID, storedAt time.Time) ([]rule.Rule, error) {
	rows, err := s.q.RulesForArticle(ctx, db.RulesForArticleParams{ArticleID: article, StoredAt: storedAt})
	if err != nil {
		return nil, err
	}
	return articleRulesFromRows(rows)
}

// SkipArticle stores a decision without a post, unless there is one that is final.
func (s *RuleStore) SkipArticle(ctx context.Context, r rule.Rule, d rule.Decision) error {
	d.ID = column.NewID()
	return saveDecision(ctx, s.q, r, d)
}

// ReserveDecision stores the result of decide, which the usage of the rule is passed to,
// and pauses the rule if the decision says so. A final decision is returned as it is.
func (s *RuleStore) ReserveDecision(ctx context.Context, request rule.Request, a rule.Article, at time.Time,
	decide func(rule.Rule, rule.Usage) rule.Decision,
) (d rule.Decision, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		row, err := q.LockRule(ctx, request.RuleID)
		if err != nil {
			return tx.OrNotFound(err, "rule")
		}
		r, err := articleRuleFromRow(row)
		if err != nil {
			return err
		}
		if r.Trigger.Evergreen != nil {
			if err := q.LockEvergreenRules(ctx, r.WorkspaceID.String()); err != nil {
				return err
			}
		}
		decisionID := column.NewID()
		stored, err := q.RuleDecisionOn(ctx, db.RuleDecisionOnParams{
			RuleID: r.ID, ArticleID: a.ID, Round: request.Round,
		})
		if err == nil {
			if d, err = decisionFromRow(stored); err != nil || !r.Repeats(d) {
				return err
			}
			decisionID = d.ID
		} else if !tx.NoRows(err) {
			return err
		}
		used, err := usageOf(ctx, q, r, a, at)
		if err != nil {
			return err
		}
		if used.Round != request.Round { // a post of an earlier round was decided meanwhile
			d = rule.Decision{Outcome: rule.Skipped}
			return nil
		}
		d = decide(r, used)
		d.ID = decisionID
		if d.Outcome == rule.Reserved {
			postID := column.NewID()
			d.PostID = &postID
		}
		if err := saveDecision(ctx, q, r, d); err != nil || d.Pauses == "" {
			return err
		}
		return pauseRule(ctx, q, r.ID, d.Pauses, "")
	})
	return d, err
}

func usageOf(ctx context.Context, q *queries, r rule.Rule, a rule.Article, at time.Time) (rule.Usage, error) {
	row, err := q.RuleUsage(ctx, db.RuleUsageParams{
		RuleID: r.ID, HourAgo: at.Add(-time.Hour), DayAgo: at.Add(-24 * time.Hour),
	})
	if err != nil {
		return rule.Usage{}, err
	}
	u := rule.Usage{Hour: int(row.Hour), Day: int(row.Day), Matched: int(row.Matched)}
	if r.Trigger.Evergreen != nil {
		last, err := q.RuleLastPost(ctx, db.RuleLastPostParams{
			RuleID: r.ID, WorkspaceID: r.WorkspaceID,
			ArticleID: a.ID, GroupID: a.GroupID, Url: a.URL,
			Since: at.AddDate(0, 0, -r.Trigger.Evergreen.RepeatDays),
		})
		u.Round = last.Rounds + 1
		if last.PostedAt.Unix() > 0 {
			u.LastPost = &last.PostedAt
		}
		return u, err
	}
	other, err := q.RuleGroupArticle(ctx, db.RuleGroupArticleParams{RuleID: r.ID, GroupID: a.GroupID, ArticleID: a.ID})
	if tx.NoRows(err) && r.Conditions.OncePerStory {
		// The current story, not the one that the caller read: the article may have been moved.
		other, err = q.RuleStoryArticle(ctx, db.RuleStoryArticleParams{RuleID: r.ID, ArticleID: a.ID})
	}
	if tx.NoRows(err) {
		return u, nil
	}
	u.GroupArticle = &other
	return u, err
}

func saveDecision(ctx context.Context, q *queries, r rule.Rule, d rule.Decision) error {
	params, err := column.Object(d.Params)
	if err != nil {
		return err
	}
	return q.SaveRuleDecision(ctx, db.SaveRuleDecisionParams{
		ID: d.ID, RuleID: d.RuleID, WorkspaceID: d.WorkspaceID,
		ArticleID: d.ArticleID, GroupID: d.GroupID,
		ArticleVersion: d.ArticleVersion, Title: d.Title, Url: d.URL, Outcome: db.RuleOutcome(d.Outcome),
		Reason: string(d.Reason), Params: params,
		Round: d.Round, PostID: d.PostID, DecidedAt: d.DecidedAt, Repeatable: r.RepeatableReasons(),
	})
}

// DecisionOn returns the decision of a rule about an article.
func (s *RuleStore) DecisionOn(ctx context.Context, ruleID, article uuid.UUID, round int) (rule.Decision, error) {
	row, err := s.q.RuleDecisionOn(ctx, db.RuleDecisionOnParams{
		RuleID: ruleID, ArticleID: article, Round: round,
	})
	if err != nil {
		return rule.Decision{}, tx.OrNotFound(err, "decision")
	}
	return decisionFromRow(row)
}

// errHasPost is temporary: the next attempt finds the post.
var errHasPost = errors.New("another attempt has created the post") //nolint:gochecknoglobals // a sentinel

// FinishDecision stores the result of a reserved decision, unless it is finished. A number
// of failures in a row pauses the rule.
func (s *RuleStore) FinishDecision(ctx context.Context, d rule.Decision, maxFailures int) error {
	params, err := column.Object(d.Params)
	if err != nil {
		return err
	}
	return s.inTx(ctx, func(q *queries) error {
		if _, err := q.LockRule(ctx, d.RuleID); tx.NoRows(err) {
			return nil // it was deleted with its decisions
		} else if err != nil {
			return err
		}
		// A concurrent attempt may be storing the post: see CreatePost.
		if stored, err := q.LockRuleDecision(ctx,
			d.ID); tx.NoRows(err) || err == nil && stored != db.RuleOutcomeReserved {
			return nil
		} else if err != nil {
			return err
		}
		n, err := q.FinishRuleDecision(ctx, db.FinishRuleDecisionParams{
			ID: d.ID, Outcome: db.RuleOutcome(d.Outcome),
			Reason: string(d.Reason), Params: params,
			ArticleVersion: d.ArticleVersion, PostRevision: d.PostRevision, Variant: d.Variant,
			TextHash: d.TextHash,
		})
		if err == nil && n == 0 {
			err = errHasPost
		}
		if err != nil {
			return err
		}
		if d.Outcome != rule.Failed {
			return q.ResetRuleFailures(ctx, d.RuleID)
		}
		failures, err := q.CountRuleFailure(ctx, d.RuleID)
		if err != nil || failures < maxFailures {
			return err
		}
		problem, _ := d.Params["message"].(string)
		return pauseRule(ctx, q, d.RuleID, rule.PausedFailures, problem)
	})
}

// DecisionsOnArticle returns the decisions about an article that have a post, or will.
func (s *RuleStore) DecisionsOnArticle(ctx context.Context, article uuid.UUID) ([]rule.Decision, error) {
	rows, err := s.q.RuleDecisionsOnArticle(ctx, article)
	if err != nil {
		return nil, err
	}
	return decisionsFromRows(rows)
}

// SaveFollowUp stores what a change of an article meant for a post. A note is added to
// the timeline of the post.
func (s *RuleStore) SaveFollowUp(ctx context.Context, d rule.Decision, note string) error {
	return s.inTx(ctx, func(q *queries) error {
		n, err := q.SaveRuleFollowUp(ctx, db.SaveRuleFollowUpParams{
			ID: d.ID, ArticleVersion: d.ArticleVersion,
			PostRevision: d.PostRevision, TextHash: d.TextHash,
			Attention: string(d.Attention),
		})
		if err != nil || n == 0 || note == "" {
			return err
		}
		return addEvent(ctx, q, db.ScheduledPost{PostID: *d.PostID, WorkspaceID: d.WorkspaceID}, nil, post.EventProblem,
			post.ActorDateline, map[string]any{"message": note})
	})
}

// UnfinishedDecisions returns reserved decisions that are older than age.
func (s *RuleStore) UnfinishedDecisions(ctx context.Context, age time.Duration, limit int) ([]rule.Decision, error) {
	rows, err := s.q.UnfinishedRuleDecisions(ctx, db.UnfinishedRuleDecisionsParams{
		Seconds: age.Seconds(), Batch: limit,
	})
	if err != nil {
		return nil, err
	}
	return decisionsFromRows(rows)
}

// DeleteOldDecisions deletes some decisions without a post that are older than age.
func (s *RuleStore) DeleteOldDecisions(ctx context.Context, age time.Duration) (int64, error) {
	now, err := tx.Time(ctx, s.pool)
	if err != nil {
		return 0, err
	}
	return s.q.DeleteOldRuleDecisions(ctx, firstID(now.Add(-age)))
}

// RuleDecisions lists decisions of a workspace, the newest first.
func (s *RuleStore) RuleDecisions(ctx context.Context, f rule.DecisionFilter) ([]rule.Decision, error) {
	rows, err := s.q.ListRuleDecisions(ctx, db.ListRuleDecisionsParams{
		WorkspaceID: f.WorkspaceID, Before: f.Before,
		RuleID: f.RuleID, Outcome: string(f.Outcome),
		NeedsAttention: f.NeedsAttention, PageSize: f.Limit,
	})
	if err != nil {
		return nil, err
	}
	return decisionsFromRows(rows)
}

// ResolveDecision records that a decision needs no more attention.
func (s *RuleStore) ResolveDecision(ctx context.Context, workspaceID, id uuid.UUID) (rule.Decision, error) {
	row, err := s.q.ResolveRuleDecision(ctx, db.ResolveRuleDecisionParams{ID: id, WorkspaceID: workspaceID})
	if tx.NoRows(err) {
		return rule.Decision{}, apperr.NotFound("decision")
	}
	if err != nil {
		return rule.Decision{}, err
	}
	return decisionFromRow(row)
}

func decisionsFromRows(rows []db.RuleDecision) ([]rule.Decision, error) {
	out := make([]rule.Decision, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = decisionFromRow(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func decisionFromRow(r db.RuleDecision) (rule.Decision, error) {
	d := rule.Decision{
		ID: r.ID, RuleID: r.RuleID, WorkspaceID: r.WorkspaceID, ArticleID: r.ArticleID,
		GroupID: r.GroupID, ArticleVersion: r.ArticleVersion, Title: r.Title, URL: r.Url,
		Round: r.Round, Variant: r.Variant, Outcome: rule.Outcome(r.Outcome), Reason: rule.Reason(r.Reason),
		PostID: r.PostID, PostRevision: r.PostRevision, TextHash: r.TextHash,
		Attention: rule.Attention(r.Attention), DecidedAt: r.DecidedAt.UTC(),
	}
	err := json.Unmarshal(r.Params, &d.Params)
	return d, err
}
