// Package starter starts and signals Dateline's workflows.
package starter

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"dateline/internal/infra/temporalclient"
	"dateline/internal/news/crawl"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/rule"
	"dateline/workflows"
)

// Starter starts and signals workflows. It is safe for concurrent use.
type Starter struct {
	Client    client.Client
	Namespace string
	// Posts plans new posts, so that their workflows need not read them; nil: they do.
	Posts Posts
	// MaxTaskAttempts is how often a workflow task has to fail for EnsureRunning to
	// restart the workflow; 0: six times, which takes Temporal more than a minute.
	MaxTaskAttempts int32
}

const defaultMaxTaskAttempts = 6

// Posts plans new posts and records that their workflows have started:
// delivery.Started.
type Posts interface {
	View(ctx context.Context, p post.Post) (delivery.PostView, error)
	Acknowledge(ctx context.Context, post uuid.UUID)
}

func (s *Starter) temporal() temporalclient.Client {
	return temporalclient.Client{SDK: s.Client, Namespace: s.Namespace}
}

// postWorkflow describes the workflow of a post. One that an operator terminated
// is started again: its post must not be lost with it.
func postWorkflow(in workflows.PostInput) temporalclient.Workflow {
	return temporalclient.Workflow{
		ID: workflows.PostID(in.PostID), Type: workflows.PostWorkflow,
		Queue: workflows.PostQueue,
		Input: in, Summary: "Publishes post " + in.PostID.String(),
	}
}

// Start starts the workflow of a new post. Unlike SignalChanged it sends no
// signal. A workflow that already runs, because the same request came before, is
// left alone: it reads the row by itself, or was started with its first revision.
func (s *Starter) Start(ctx context.Context, p post.Post) error {
	in := workflows.PostInput{PostID: p.ID, HasSearchAttributes: true}
	if s.Posts != nil {
		view, err := s.Posts.View(ctx, p)
		if err != nil {
			return err
		}
		in.View = &view
	}
	w := postWorkflow(in)
	w.Attributes = workflows.AttributesOf(p)
	w.Eager = true
	if err := s.temporal().Start(ctx, w); err != nil {
		return err
	}
	if s.Posts != nil && p.Revision == 1 {
		s.Posts.Acknowledge(ctx, p.ID)
	}
	return nil
}

// SignalChanged makes sure that a post's workflow runs and reads its row again.
// Repeating it is harmless: the row decides what may happen.
func (s *Starter) SignalChanged(ctx context.Context, postID uuid.UUID) error {
	return s.temporal().SignalWithStart(ctx, workflows.SignalChanged, postWorkflow(workflows.PostInput{PostID: postID}))
}

// Wake makes a post that waits for a rate limit try again. A post without a
// workflow waits for nothing.
func (s *Starter) Wake(ctx context.Context, postID uuid.UUID) error {
	return s.temporal().SignalIfRunning(ctx, workflows.PostID(postID), workflows.SignalWake)
}

// EnsureRunning makes sure that a post's workflow runs, without signaling one that
// does; started reports whether it did not run. It reads first: also a start
// without effect writes to Temporal's store.
//
// A workflow whose task fails again and again is no better than none: this
// version cannot replay its history, because a later version has written it or
// because of a bug. It is terminated and restarted from the post's row, as if
// Temporal had lost it. Its activities in flight change nothing: the row and the
// ledger decide what may be sent.
func (s *Starter) EnsureRunning(ctx context.Context, postID uuid.UUID) (started bool, err error) {
	running, err := s.temporal().EndIfStuck(ctx, workflows.PostID(postID),
		cmp.Or(s.MaxTaskAttempts, defaultMaxTaskAttempts),
		"Its history fails to replay; it is restarted from the post's row.")
	if err != nil || running {
		return false, err
	}
	return true, s.temporal().Start(ctx, postWorkflow(workflows.PostInput{PostID: postID}))
}

// Release makes Temporal dispatch the publishing of a post again that no worker
// runs, instead of waiting for the heartbeat timeout. It returns how many
// activities it released. One that does run is harmless: the claim on the post's
// row goes to one attempt only.
func (s *Starter) Release(ctx context.Context, postID uuid.UUID, o temporalclient.Orphans) (int, error) {
	return s.temporal().ReleaseOrphans(ctx, workflows.PostID(postID), workflows.PublishActivity, o)
}

// StartDelivery makes sure that a webhook's delivery has a workflow, which reads
// its row again. Repeating it is harmless.
func (s *Starter) StartDelivery(ctx context.Context, id uuid.UUID) error {
	return s.temporal().SignalWithStart(ctx, workflows.SignalChanged, temporalclient.Workflow{
		ID: workflows.DeliveryID(id), Type: workflows.DeliverWebhookWorkflow, Queue: workflows.WebhookQueue,
		Input: workflows.DeliverWebhookInput{DeliveryID: id}, Summary: "Delivers webhook " + id.String(),
	})
}

// StartRefresh makes sure that an account's token is being renewed.
func (s *Starter) StartRefresh(ctx context.Context, id uuid.UUID) error {
	return s.temporal().Start(ctx, temporalclient.Workflow{
		ID: workflows.AccountID(id), Type: workflows.RefreshTokenWorkflow, Queue: workflows.PostQueue,
		Input: workflows.RefreshTokenInput{AccountID: id}, Summary: "Renews the token of account " + id.String(),
		Attributes: temporal.NewSearchAttributes(workflows.AccountIDKey.ValueSet(id.String())),
	})
}

// StartMeasuring makes sure that the metrics of an account's posts are being read.
func (s *Starter) StartMeasuring(ctx context.Context, account uuid.UUID) error {
	return s.temporal().Start(ctx, temporalclient.Workflow{
		ID: workflows.MeasureID(account), Type: workflows.MeasureAccountWorkflow, Queue: workflows.MeasureQueue,
		Input: workflows.MeasureAccountInput{AccountID: account}, Summary: "Reads the metrics of account " +
			account.String(),
		Attributes: temporal.NewSearchAttributes(workflows.AccountIDKey.ValueSet(account.String())),
	})
}

// SignalCrawl signals a domain's crawl that the domain was changed. A pause is
// only for a crawl that runs; all other signals start one.
func (s *Starter) SignalCrawl(ctx context.Context, domain string, command crawl.Command) error {
	id := workflows.CrawlDomainID(domain)
	if command == crawl.Pause {
		return s.temporal().SignalIfRunning(ctx, id, workflows.SignalPause)
	}
	return s.temporal().SignalWithStart(ctx, string(command), temporalclient.Workflow{
		ID: id, Type: workflows.CrawlDomainWorkflow, Queue: workflows.CrawlQueue,
		Input: workflows.CrawlDomainInput{Domain: domain}, Summary: "Crawls " + domain,
		Attributes: domainAttributes(domain),
	})
}

// StartCrawl makes sure that a domain is being crawled.
func (s *Starter) StartCrawl(ctx context.Context, domain string) error {
	return s.temporal().Start(ctx, temporalclient.Workflow{
		ID: workflows.CrawlDomainID(domain), Type: workflows.CrawlDomainWorkflow, Queue: workflows.CrawlQueue,
		Input: workflows.CrawlDomainInput{Domain: domain}, Summary: "Crawls " + domain,
		Attributes: domainAttributes(domain),
	})
}

func domainAttributes(domain string) temporal.SearchAttributes {
	return temporal.NewSearchAttributes(workflows.DomainKey.ValueSet(domain))
}

// StartExport starts the export of a domain's pages.
func (s *Starter) StartExport(ctx context.Context, domain, export, key string, from, to time.Time) error {
	return s.temporal().Start(ctx, temporalclient.Workflow{
		ID: workflows.ExportID(export), Type: workflows.ExportPagesWorkflow, Queue: workflows.CrawlQueue,
		Input:   workflows.ExportPagesInput{Domain: domain, From: from, To: to, Key: key},
		Summary: "Exports pages of " + domain, Attributes: domainAttributes(domain),
	})
}

// StartWorkspaceExport makes sure that a workspace's export is running.
func (s *Starter) StartWorkspaceExport(ctx context.Context, id uuid.UUID) error {
	return s.temporal().Start(ctx, temporalclient.Workflow{
		ID: workflows.WorkspaceExportID(id), Type: workflows.ExportWorkspaceWorkflow, Queue: workflows.PostQueue,
		Input: workflows.ExportWorkspaceInput{ExportID: id}, Summary: "Exports a workspace",
	})
}

// StartDecision starts the decision of a rule about an article, unless it is running or
// completed.
func (s *Starter) StartDecision(ctx context.Context, request rule.Request) error {
	return s.temporal().Start(ctx, temporalclient.Workflow{
		ID: workflows.DecisionID(request), Type: workflows.DecideRuleWorkflow, Queue: workflows.PostQueue, Once: true,
		Input: request, Summary: "Applies a rule to an article",
	})
}

// StartSelectorLearning makes sure that the selectors of a site are being learned.
// A workflow that already does reads from the database what is requested.
func (s *Starter) StartSelectorLearning(ctx context.Context, domain string) error {
	return s.temporal().Start(ctx, temporalclient.Workflow{
		ID: workflows.LearnSelectorsID(domain), Type: workflows.LearnSelectorsWorkflow, Queue: workflows.CrawlQueue,
		Input: workflows.LearnSelectorsInput{Domain: domain}, Summary: "Selectors of " + domain,
		Attributes: domainAttributes(domain),
	})
}

// StartReindex rebuilds the search index, one rebuild at a time, and returns the
// id of the workflow.
func (s *Starter) StartReindex(ctx context.Context) (id string, err error) {
	return workflows.ReindexArticlesID, s.temporal().Start(ctx, temporalclient.Workflow{
		ID: workflows.ReindexArticlesID, Type: workflows.ReindexArticlesWorkflow, Queue: workflows.SearchQueue,
		Summary: "Rebuilds the search index",
	})
}

// StoreIdentity identifies Temporal's store, see temporalclient.Client.StoreIdentity.
func (s *Starter) StoreIdentity(ctx context.Context) (string, error) {
	return s.temporal().StoreIdentity(ctx)
}

// Ping reports whether Temporal responds.
func (s *Starter) Ping(ctx context.Context) error { return s.temporal().Ping(ctx) }

// HasPostWorkers reports whether a worker polls for posts.
func (s *Starter) HasPostWorkers(ctx context.Context) (bool, error) {
	return s.temporal().HasPollers(ctx, workflows.PostQueue)
}

// Backlogs reads the backlogs of the queues of posts, webhooks and crawls.
func (s *Starter) Backlogs(ctx context.Context) ([]temporalclient.Backlog, error) {
	return s.temporal().Backlogs(ctx, workflows.PostQueue, workflows.WebhookQueue, workflows.CrawlQueue)
}
