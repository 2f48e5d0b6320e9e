package rule

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

// QueuedArticle is a stored or changed article that waits for evaluation.
type QueuedArticle struct {
	ID        int64
	ArticleID uuid.UUID
	Attempts  int // with this one
}

// EngineStore stores what the engine decides.
type EngineStore interface {
	ArticleStore
	DecisionStore
}

// ArticleStore reads articles and the queue of changed ones, which the transaction that
// changes an article fills.
type ArticleStore interface {
	LeaseRuleArticles(ctx context.Context, limit int, lease time.Duration) ([]QueuedArticle, error)
	CompleteRuleArticles(ctx context.Context, ids []int64) error
	// PostponeRuleArticles evaluates articles again after a while.
	PostponeRuleArticles(ctx context.Context, ids []int64, wait time.Duration) error
	RuleArticles(ctx context.Context, ids []uuid.UUID) ([]Article, error)
	RuleArticlesBetween(ctx context.Context, workspace uuid.UUID, from, to time.Time, limit int) ([]Article, error)
	RulesForArticle(ctx context.Context, article uuid.UUID, storedAt time.Time) ([]Rule, error)
	// SiteHosts returns the hosts of the sites of a workspace.
	SiteHosts(ctx context.Context, workspace uuid.UUID) ([]string, error)
	ViewStore
}

// DecisionStore stores decisions.
type DecisionStore interface {
	RuleByID(ctx context.Context, id uuid.UUID) (Rule, error)
	PauseRule(ctx context.Context, id uuid.UUID, reason PauseReason) error
	SkipArticle(ctx context.Context, r Rule, d Decision) error
	// ReserveDecision stores the result of decide and returns it, or the decision that
	// is stored already. It serializes the decisions of a rule, and those of all
	// evergreen rules of a workspace.
	ReserveDecision(ctx context.Context, request Request, a Article, at time.Time,
		decide func(Rule, Usage) Decision) (Decision, error)
	DecisionOn(ctx context.Context, rule, article uuid.UUID, round int) (Decision, error)
	// EarlierTexts returns the texts of a workspace's posts about the article of a
	// decision or its group by account, without those of the decision itself.
	EarlierTexts(ctx context.Context, d Decision) (map[uuid.UUID][]string, error)
	FinishDecision(ctx context.Context, d Decision, maxFailures int) error
	DecisionsOnArticle(ctx context.Context, article uuid.UUID) ([]Decision, error)
	SaveFollowUp(ctx context.Context, d Decision, note string) error
	UnfinishedDecisions(ctx context.Context, age time.Duration, limit int) ([]Decision, error)
	DeleteOldDecisions(ctx context.Context, age time.Duration) (int64, error)
}

// Posts creates and changes posts: scheduling.Scheduler.
type Posts interface {
	CreateAutomatic(ctx context.Context, in scheduling.Automatic) (post.Post, error)
	Edit(ctx context.Context, g post.Guard, e scheduling.Edit) (post.Post, error)
	Unschedule(ctx context.Context, g post.Guard) (post.Post, error)
	Post(ctx context.Context, workspace, id uuid.UUID) (post.Post, error)
	TextLimits(ctx context.Context, workspace uuid.UUID, accounts []uuid.UUID,
		trackLinks bool) (map[uuid.UUID]scheduling.TextLimit, error)
}

// Images adds images of articles to the media library: media.Service.
type Images interface {
	Fetch(ctx context.Context, who workspace.Principal, address, altText, idempotencyKey string) (media.Item, bool,
		error)
}

// Searches matches articles against saved searches, which belong to the news.
type Searches interface {
	MatchingArticles(ctx context.Context, workspace, search uuid.UUID, articles []uuid.UUID) (map[uuid.UUID]bool, error)
}

// Engine evaluates articles and creates posts.
type Engine struct {
	Store    EngineStore
	Lookup   Lookup
	Posts    Posts
	Images   Images
	Searches Searches
	Now      func() time.Time // the database's time; nil: the host's
	Log      *slog.Logger
}

func (e *Engine) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

const (
	evaluateBatch = 50
	evaluateLease = time.Minute
	// An article is usually placed in a story within seconds. A rule that posts once per
	// story waits for that, but not forever.
	storyWait     = 3 * time.Second
	storyAttempts = 20
	// unfinishedAge is how old a reserved decision is whose workflow may be lost.
	unfinishedAge = 5 * time.Minute
	// skippedRetention is how long decisions without a post are stored.
	skippedRetention = 30 * 24 * time.Hour
)

// Request asks for a decision of a rule about an article.
type Request struct {
	RuleID    uuid.UUID
	ArticleID uuid.UUID
	Round     int       // 0, or that of an evergreen rule
	Views     int64     // that selected the article; 0: it is new
	Hour      time.Time // in which it was selected by its views; zero: it is new
}

// Start starts the workflow of a decision, unless it runs already or has completed.
type Start func(ctx context.Context, r Request) error

// Evaluate evaluates a batch of queued articles and returns their number, and the posts
// that it changed. An article leaves the queue once the workflows of its decisions have
// started, so a crash evaluates it again.
func (e *Engine) Evaluate(ctx context.Context, start Start) (done int, changed []uuid.UUID, err error) {
	queued, err := e.Store.LeaseRuleArticles(ctx, evaluateBatch, evaluateLease)
	if err != nil || len(queued) == 0 {
		return 0, nil, err
	}
	ids := make([]uuid.UUID, len(queued))
	for i, q := range queued {
		ids[i] = q.ArticleID
	}
	articles, err := e.Store.RuleArticles(ctx, ids)
	if err != nil {
		return 0, nil, err
	}
	var complete, postponed []int64
	for _, q := range queued {
		at := slices.IndexFunc(articles, func(a Article) bool { return a.ID == q.ArticleID })
		if at >= 0 { // a deleted article is a copy of another one
			posts, err := e.evaluate(ctx, articles[at], q.Attempts < storyAttempts, start)
			changed = append(changed, posts...)
			if errors.Is(err, errNotPlaced) {
				postponed = append(postponed, q.ID)
				continue
			}
			if err != nil {
				e.Log.WarnContext(ctx, "an article could not be evaluated by rules yet", "article_id", q.ArticleID,
					"error", err)
				continue
			}
		}
		complete = append(complete, q.ID)
	}
	if len(postponed) > 0 {
		if err := e.Store.PostponeRuleArticles(ctx, postponed, storyWait); err != nil {
			return 0, changed, err
		}
	}
	return len(complete), changed, e.Store.CompleteRuleArticles(ctx, complete)
}

var errNotPlaced = errors.New("the article is not placed in a story yet") //nolint:gochecknoglobals // a sentinel

// Recover starts the workflows of reserved decisions again that may have lost theirs, and
// deletes old decisions without a post.
func (e *Engine) Recover(ctx context.Context, start Start) error {
	unfinished, err := e.Store.UnfinishedDecisions(ctx, unfinishedAge, evaluateBatch)
	if err != nil {
		return err
	}
	for _, d := range unfinished {
		if err := start(ctx, Request{RuleID: d.RuleID, ArticleID: d.ArticleID, Round: d.Round}); err != nil {
			return err
		}
	}
	_, err = e.Store.DeleteOldDecisions(ctx, skippedRetention)
	return err
}

// evaluate starts the decisions about an article. mayWait allows it to wait until the
// article is placed in a story.
func (e *Engine) evaluate(ctx context.Context, a Article, mayWait bool, start Start) (changed []uuid.UUID, err error) {
	rules, err := e.Store.RulesForArticle(ctx, a.ID, a.StoredAt())
	if err != nil {
		return nil, err
	}
	for _, r := range rules {
		if r.Trigger.byViews() {
			continue
		}
		selected, err := e.selected(ctx, r, []Article{a})
		if isNotFound(err) {
			err = e.Store.PauseRule(ctx, r.ID, PausedNoSearch)
		}
		if err != nil {
			return nil, err
		}
		if len(selected) == 0 {
			continue
		}
		if d := Decide(r, a, Usage{}, e.now()); d.Outcome == Skipped {
			err = e.Store.SkipArticle(ctx, r, d)
		} else if mayWait && r.Conditions.OncePerStory && a.StoryID == nil {
			err = errNotPlaced
		} else {
			err = start(ctx, Request{RuleID: r.ID, ArticleID: a.ID})
		}
		if err != nil {
			return nil, err
		}
	}
	return e.follow(ctx, a)
}

// searchBatch is the number of articles that are matched against a saved search at once.
const searchBatch = 200

// selected returns the articles that the trigger of a rule selects.
func (e *Engine) selected(ctx context.Context, r Rule, articles []Article) ([]Article, error) {
	articles = slices.DeleteFunc(slices.Clone(articles), func(a Article) bool { return !r.Trigger.selects(a) })
	if r.Trigger.OwnSites && len(articles) > 0 {
		hosts, err := e.Store.SiteHosts(ctx, r.WorkspaceID)
		if err != nil {
			return nil, err
		}
		articles = slices.DeleteFunc(articles, func(a Article) bool { return !a.isOn(hosts) })
	}
	if r.Trigger.SavedSearchID == nil {
		return articles, nil
	}
	var out []Article
	for batch := range slices.Chunk(articles, searchBatch) {
		ids := make([]uuid.UUID, len(batch))
		for i, a := range batch {
			ids[i] = a.ID
		}
		matching, err := e.Searches.MatchingArticles(ctx, r.WorkspaceID, *r.Trigger.SavedSearchID, ids)
		if err != nil {
			return nil, err
		}
		for _, a := range batch {
			if matching[a.ID] {
				out = append(out, a)
			}
		}
	}
	return out, nil
}

// Reserve decides about an article and stores the decision. Caps hold across processes,
// because the decisions of a rule are serialized. Repeated calls return the same.
func (e *Engine) Reserve(ctx context.Context, request Request) (Outcome, error) {
	articles, err := e.Store.RuleArticles(ctx, []uuid.UUID{request.ArticleID})
	if err != nil || len(articles) == 0 {
		return Skipped, err
	}
	a, at := articles[0], e.now()
	d, err := e.Store.ReserveDecision(ctx, request, a, at, func(r Rule, u Usage) Decision {
		u.Views = request.Views
		return Decide(r, a, u, at)
	})
	if isNotFound(err) {
		return Skipped, nil // the rule was deleted
	}
	if d.Pauses != "" {
		e.Log.WarnContext(ctx, "a rule paused itself", "rule_id", request.RuleID, "reason", d.Pauses)
	}
	return d.Outcome, err
}

func isNotFound(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e) && e.Kind == apperr.KindNotFound
}
