package rule_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/search/savedsearch"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/rule"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/searchtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// rig is a newsroom with rules.
type rig struct {
	*newsroomtest.Newsroom
	engine  *rule.Engine
	service *rule.Service
	account account.Account

	mu      sync.Mutex
	started map[rule.Request]bool
}

func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	n := newsroomtest.Open(t)
	d := &rig{Newsroom: n, account: n.Connect("desk"), started: map[rule.Request]bool{}}
	searchtest.Seed(n, n.Workspace.ID, "news.example")
	d.engine = d.newEngine(n.Store)
	d.service = &rule.Service{Store: n.Store.Publishing.Rules, Lookup: n.Store.Publishing.Accounts, Engine: d.engine}
	return d
}

func (d *rig) newEngine(store *postgres.Store) *rule.Engine {
	return &rule.Engine{
		Store: store.Publishing.Rules, Lookup: store.Publishing.Accounts, Posts: d.Scheduler, Images: noImages{},
		Searches: &savedsearch.Matcher{Store: store.News.Searches}, Log: slog.New(slog.DiscardHandler),
	}
}

// noImages refuses every image, like a server that does not respond.
type noImages struct{}

func (noImages) Fetch(context.Context, workspace.Principal, string, string, string) (media.Item, bool, error) {
	return media.Item{}, false, errors.New("tests reach no web")
}

// rule creates a rule that schedules every article in an hour.
func (d *rig) rule(change ...func(*rule.Rule)) rule.Rule {
	d.T.Helper()
	r := rule.Rule{Name: uuid.NewString(), Definition: rule.Definition{
		Conditions: rule.Conditions{MaxAgeHours: 24},
		Templates:  map[string]string{rule.DefaultTemplate: "{title}\n\n{url}"},
		AccountIDs: []uuid.UUID{d.account.ID}, Timing: rule.Timing{When: rule.Delayed, DelayMinutes: 60},
		Mode: rule.Automatic, MaxPerHour: 100, MaxPerDay: 1000,
	}}
	for _, f := range change {
		f(&r)
	}
	made, _, err := d.service.Create(d.T.Context(), d.Owner, r, idempotency.Key{})
	d.Must(err)
	d.Exec("update rules set active_since = '2020-01-01' where id = $1", made.ID)
	return made
}

// draft is an article of a test.
type draft struct {
	ID, Group uuid.UUID
	Title     string
	Section   string
	Published time.Time
}

// publish stores an article and queues it, as the extraction does.
func (d *rig) publish(change ...func(*draft)) uuid.UUID {
	d.T.Helper()
	a := draft{ID: uuid.Must(uuid.NewV7()), Title: "The river rises", Published: time.Now().Add(-time.Minute)}
	for _, f := range change {
		f(&a)
	}
	if a.Group == uuid.Nil {
		a.Group = a.ID
	}
	d.Exec(
		`insert into articles (id, domain_id, url_id, page_id, url, canonical_url, title, published_at, first_seen_at, lead, body_text, body_html, section, language, content_hash, group_id, object_key, fetched_at)
		select $1, c.id, $1, $1, $6, $6, $2, $3, $3, 'Rain for a week.', 'Rain fell for a week and the river rises.', '', $4, 'en', '', $5, '', now()
		from crawl_domains c where c.domain = 'news.example'`, a.ID, a.Title, a.Published, a.Section, a.Group,
		"https://news.example/"+a.ID.String())
	d.queue(a.ID)
	return a.ID
}

// place places an article in a story, as the placer does.
func (d *rig) place(article, story uuid.UUID) {
	d.T.Helper()
	d.Exec("insert into stories (id, language, first_at, last_at, articles, documents) values ($1, 'en', now(), "+
		"now(), 1, 1) on conflict do nothing", story)
	d.Exec(
		`insert into story_articles (article_id, story_id, group_id, domain_id, is_document, similarity, dated_at, article_version)
		select id, $2, group_id, domain_id, true, 1, now(), version from articles where id = $1
		on conflict (article_id) do update set story_id = excluded.story_id`, article, story)
}

func (d *rig) queue(id uuid.UUID) {
	d.T.Helper()
	d.Exec("insert into rule_articles (article_id) values ($1)", id)
}

// correct changes the title of an article.
func (d *rig) correct(id uuid.UUID, title string) {
	d.T.Helper()
	d.Exec("update articles set title = $2, version = version + 1 where id = $1", id, title)
	d.queue(id)
}

func (d *rig) start(_ context.Context, request rule.Request) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.started[request] = true
	return nil
}

// decide does what the workflow of a decision does. Errors are temporary.
func (d *rig) decide(ctx context.Context, e *rule.Engine, request rule.Request) error {
	outcome, err := e.Reserve(ctx, request)
	if err != nil || outcome != rule.Reserved {
		return err
	}
	_, _, err = e.CreatePost(ctx, request)
	return err
}

// run evaluates the queue and decides until nothing is left to do.
func (d *rig) run() {
	d.T.Helper()
	for {
		n, _, err := d.engine.Evaluate(d.T.Context(), d.start)
		d.Must(err)
		for id := range d.started {
			d.Must(d.decide(d.T.Context(), d.engine, id))
		}
		clear(d.started)
		if n == 0 {
			return
		}
	}
}

func (d *rig) decisions(r rule.Rule) []rule.Decision {
	d.T.Helper()
	all, err := d.service.Decisions(d.T.Context(), d.Owner, rule.DecisionFilter{RuleID: &r.ID, Limit: 1000})
	d.Must(err)
	return all
}

// only returns the one decision of a rule, and its post.
func (d *rig) only(r rule.Rule) (rule.Decision, post.Post) {
	d.T.Helper()
	all := d.decisions(r)
	if len(all) != 1 || all[0].PostID == nil {
		d.T.Fatalf("got the decisions %+v, want one with a post", all)
	}
	p, err := d.Scheduler.Post(d.T.Context(), d.Workspace.ID, *all[0].PostID)
	d.Must(err)
	return all[0], p
}

// faulty fails after the n-th change, which is stored: like a crash before the caller
// has the response.
type faulty struct {
	mu        sync.Mutex
	remaining int
}

var errCrash = errors.New("crashed")

func (f *faulty) after(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		return err
	}
	if f.remaining--; f.remaining == 0 {
		return errCrash
	}
	return nil
}

func (f *faulty) hasCrashed() bool { return f.remaining <= 0 }

type faultyStore struct {
	rule.EngineStore
	*faulty
}

func (s faultyStore) LeaseRuleArticles(ctx context.Context, limit int, _ time.Duration) ([]rule.QueuedArticle, error) {
	out, err := s.EngineStore.LeaseRuleArticles(ctx, limit, 0) // it ends at once, so that the test does not wait
	return out, s.after(err)
}

func (s faultyStore) CompleteRuleArticles(ctx context.Context, ids []int64) error {
	return s.after(s.EngineStore.CompleteRuleArticles(ctx, ids))
}

func (s faultyStore) ReserveDecision(ctx context.Context, request rule.Request, a rule.Article, at time.Time,
	decide func(rule.Rule, rule.Usage) rule.Decision,
) (rule.Decision, error) {
	d, err := s.EngineStore.ReserveDecision(ctx, request, a, at, decide)
	return d, s.after(err)
}

func (s faultyStore) FinishDecision(ctx context.Context, d rule.Decision, maxFailures int) error {
	return s.after(s.EngineStore.FinishDecision(ctx, d, maxFailures))
}

func (s faultyStore) SaveFollowUp(ctx context.Context, d rule.Decision, note string) error {
	return s.after(s.EngineStore.SaveFollowUp(ctx, d, note))
}

type faultyPosts struct {
	rule.Posts
	*faulty
}

func (p faultyPosts) CreateAutomatic(ctx context.Context, in scheduling.Automatic) (post.Post, error) {
	made, err := p.Posts.CreateAutomatic(ctx, in)
	return made, p.after(err)
}

func (p faultyPosts) Edit(ctx context.Context, g post.Guard, e scheduling.Edit) (post.Post, error) {
	edited, err := p.Posts.Edit(ctx, g, e)
	return edited, p.after(err)
}

func (p faultyPosts) Unschedule(ctx context.Context, g post.Guard) (post.Post, error) {
	changed, err := p.Posts.Unschedule(ctx, g)
	return changed, p.after(err)
}
