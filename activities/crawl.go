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
	PlanSeeds(ctx context.Context, batch int) (planned int, err error)
	DueDomains(ctx context.Context, most int) ([]string, error)
	ControlDomain(ctx context.Context, workspace uuid.UUID, domain string, what crawl.Control, why string) (forgotten int64, err error)
}

// DomainDrainer fetches what is due of a domain.
type DomainDrainer interface {
	Drain(ctx context.Context, domain string, stop <-chan struct{}, beat func(crawler.Result)) (crawler.Result, error)
}

// Crawl plans the crawl and drains domains.
type Crawl struct {
	Frontier CrawlFrontier
	Drainer  DomainDrainer
	// Most is how many domains are drained at once, by all workers together.
	Most int
}

// planBatch is how many seeds are planned in one transaction.
const planBatch = 500

// CrawlPlan says what a run of the schedule found to do.
type CrawlPlan struct {
	Seeds   int      // that came due
	Domains []string // to be drained
}

// PlanCrawl makes the URLs of due seeds due, and lists the domains to drain.
func (c *Crawl) PlanCrawl(ctx context.Context) (plan CrawlPlan, err error) {
	if plan.Seeds, err = c.planSeeds(ctx); err != nil {
		return plan, err
	}
	plan.Domains, err = c.Frontier.DueDomains(ctx, c.Most)
	return plan, err
}

func (c *Crawl) planSeeds(ctx context.Context) (all int, err error) {
	for {
		n, err := c.Frontier.PlanSeeds(ctx, planBatch)
		all += n
		if err != nil || n < planBatch {
			return all, err
		}
		activity.RecordHeartbeat(ctx, all)
	}
}

// DrainInput names a domain.
type DrainInput struct {
	Domain string
}

// DrainResult says what a drain did, in numbers: no URL and no content enters a
// history.
type DrainResult struct {
	Fetched int
	Stored  int
	Found   int
	Paused  bool       // or not known any more
	NextDue *time.Time `json:",omitempty"`
}

// DrainDomain fetches what is due of a domain, politely. It is safe to run
// again, and to run by mistake twice at once: leases and gates are in the
// database.
func (c *Crawl) DrainDomain(ctx context.Context, in DrainInput) (DrainResult, error) {
	out, err := c.Drainer.Drain(ctx, in.Domain, activity.GetWorkerStopChannel(ctx), func(so crawler.Result) {
		activity.RecordHeartbeat(ctx, so.Fetched, so.Stored)
	})
	return DrainResult(out), err
}

// ControlInput says what is to be done with a domain.
type ControlInput struct {
	Domain string
	What   crawl.Control
}

// ControlDomain does what an operator's signal asks for.
func (c *Crawl) ControlDomain(ctx context.Context, in ControlInput) error {
	_, err := c.Frontier.ControlDomain(ctx, uuid.Nil, in.Domain, in.What, "by an operator")
	var refused *apperr.Error
	if errors.As(err, &refused) {
		return nil // of a domain that nobody knows: there is nothing to do
	}
	if err != nil {
		return err
	}
	if in.What != crawl.RunNow && in.What != crawl.Empty {
		return nil
	}
	_, err = c.planSeeds(ctx)
	return err
}
