package activities

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"dateline/internal/infra/apperr"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
)

// CrawlFrontier finds due seeds and domains.
type CrawlFrontier interface {
	EnqueueDueSeeds(ctx context.Context, batch int) (enqueued int, err error)
	ListDueDomains(ctx context.Context, limit int) ([]string, error)
	ApplyDomainCommand(ctx context.Context, workspace uuid.UUID, domain string, command crawl.Command,
		reason string) (deleted int64, err error)
}

// DomainCrawler fetches the due URLs of a domain.
type DomainCrawler interface {
	Crawl(ctx context.Context, domain string, stop <-chan struct{}, heartbeat func(crawler.Result)) (crawler.Result,
		error)
}

// Crawl contains the activities that plan the crawl and fetch domains.
type Crawl struct {
	Frontier CrawlFrontier
	Crawler  DomainCrawler
	// MaxDomains is the number of domains that all workers together crawl at a time.
	MaxDomains int
}

// seedBatchSize is how many seeds are enqueued in one transaction.
const seedBatchSize = 500

// CrawlPlan is the work that a run of the schedule found.
type CrawlPlan struct {
	Seeds   int      // that were due
	Domains []string // to crawl
}

// PlanCrawl enqueues the URLs of due seeds and lists the due domains.
func (c *Crawl) PlanCrawl(ctx context.Context) (plan CrawlPlan, err error) {
	if plan.Seeds, err = c.enqueueDueSeeds(ctx); err != nil {
		return plan, err
	}
	plan.Domains, err = c.Frontier.ListDueDomains(ctx, c.MaxDomains)
	return plan, err
}

func (c *Crawl) enqueueDueSeeds(ctx context.Context) (total int, err error) {
	for {
		n, err := c.Frontier.EnqueueDueSeeds(ctx, seedBatchSize)
		total += n
		if err != nil || n < seedBatchSize {
			return total, err
		}
		activity.RecordHeartbeat(ctx, total)
	}
}

// FetchDomainInput is the input of FetchDomain.
type FetchDomainInput struct {
	Domain string
}

// FetchDomainResult counts what FetchDomain did. URLs and content stay out of
// the workflow history.
type FetchDomainResult struct {
	Fetched int
	Stored  int
	Found   int
	Paused  bool       // or unknown
	NextDue *time.Time `json:",omitempty"`
}

// FetchDomain fetches the due URLs of a domain. It can be retried at any time,
// and even run twice at once, because leases and request slots are in the
// database.
func (c *Crawl) FetchDomain(ctx context.Context, in FetchDomainInput) (FetchDomainResult, error) {
	out, err := c.Crawler.Crawl(ctx, in.Domain, activity.GetWorkerStopChannel(ctx), func(progress crawler.Result) {
		activity.RecordHeartbeat(ctx, progress.Fetched, progress.Stored)
	})
	return FetchDomainResult(out), err
}

// DomainCommandInput is the input of ApplyDomainCommand.
type DomainCommandInput struct {
	Domain  string
	Command crawl.Command
}

// ApplyDomainCommand applies a command that an operator sent as a signal.
func (c *Crawl) ApplyDomainCommand(ctx context.Context, in DomainCommandInput) error {
	_, err := c.Frontier.ApplyDomainCommand(ctx, uuid.Nil, in.Domain, in.Command, "by an operator")
	var known *apperr.Error
	if errors.As(err, &known) {
		return nil // unknown domain: nothing to do
	}
	if err != nil {
		return err
	}
	if in.Command != crawl.RunNow && in.Command != crawl.Empty {
		return nil
	}
	_, err = c.enqueueDueSeeds(ctx)
	return err
}
