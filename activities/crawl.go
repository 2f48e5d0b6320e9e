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

// CrawlFrontier is the database as it plans the crawl.
type CrawlFrontier interface {
	EnqueueDueSeeds(ctx context.Context, batch int) (planned int, err error)
	ListDueDomains(ctx context.Context, most int) ([]string, error)
	ApplyDomainCommand(ctx context.Context, workspace uuid.UUID, domain string, what crawl.Command, why string) (forgotten int64, err error)
}

// DomainCrawler fetches what is due of a domain.
type DomainCrawler interface {
	Crawl(ctx context.Context, domain string, stop <-chan struct{}, beat func(crawler.Result)) (crawler.Result, error)
}

// Crawl plans the crawl and drains domains.
type Crawl struct {
	Frontier CrawlFrontier
	Crawler  DomainCrawler
	// MaxDomains is how many domains are drained at once, by all workers together.
	MaxDomains int
}

// seedBatchSize is how many seeds are planned in one transaction.
const seedBatchSize = 500

// CrawlPlan says what a run of the schedule found to do.
type CrawlPlan struct {
	Seeds   int      // that came due
	Domains []string // to be drained
}

// PlanCrawl makes the URLs of due seeds due, and lists the domains to drain.
func (c *Crawl) PlanCrawl(ctx context.Context) (plan CrawlPlan, err error) {
	if plan.Seeds, err = c.enqueueDueSeeds(ctx); err != nil {
		return plan, err
	}
	plan.Domains, err = c.Frontier.ListDueDomains(ctx, c.MaxDomains)
	return plan, err
}

func (c *Crawl) enqueueDueSeeds(ctx context.Context) (all int, err error) {
	for {
		n, err := c.Frontier.EnqueueDueSeeds(ctx, seedBatchSize)
		all += n
		if err != nil || n < seedBatchSize {
			return all, err
		}
		activity.RecordHeartbeat(ctx, all)
	}
}

// FetchDomainInput names a domain.
type FetchDomainInput struct {
	Domain string
}

// FetchDomainResult says what a drain did, in numbers: no URL and no content enters a
// history.
type FetchDomainResult struct {
	Fetched int
	Stored  int
	Found   int
	Paused  bool       // or not known any more
	NextDue *time.Time `json:",omitempty"`
}

// FetchDomain fetches what is due of a domain, politely. It is safe to run
// again, and to run by mistake twice at once: leases and gates are in the
// database.
func (c *Crawl) FetchDomain(ctx context.Context, in FetchDomainInput) (FetchDomainResult, error) {
	out, err := c.Crawler.Crawl(ctx, in.Domain, activity.GetWorkerStopChannel(ctx), func(so crawler.Result) {
		activity.RecordHeartbeat(ctx, so.Fetched, so.Stored)
	})
	return FetchDomainResult(out), err
}

// DomainCommandInput says what is to be done with a domain.
type DomainCommandInput struct {
	Domain  string
	Command crawl.Command
}

// ApplyDomainCommand does what an operator's signal asks for.
func (c *Crawl) ApplyDomainCommand(ctx context.Context, in DomainCommandInput) error {
	_, err := c.Frontier.ApplyDomainCommand(ctx, uuid.Nil, in.Domain, in.Command, "by an operator")
	var refused *apperr.Error
	if errors.As(err, &refused) {
		return nil // of a domain that nobody knows: there is nothing to do
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
