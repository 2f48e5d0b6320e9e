package workflows

import (
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/news/crawl"
)

// fetchesPerRun is how many fetch activities a CrawlDomain run executes before
// it continues as new: a large site is crawled for days.
const fetchesPerRun = 50

// maxInlineWait is how long a CrawlDomain waits for the next due URL itself.
// Later URLs are left to the schedule.
const maxInlineWait = 15 * time.Second

// Crawl enqueues the URLs of due seeds and starts a CrawlDomain for every due
// domain. A schedule runs it.
//
// Children are abandoned, so that they outlive this run: it ends once all have
// started, and the schedule never skips a run because a large site is still
// being crawled. The workflow ID prevents two crawls of one domain. The plan
// bounds their number.
func Crawl(ctx workflow.Context) (CrawlResult, error) {
	var c *activities.Crawl
	var plan activities.CrawlPlan
	if err := workflow.ExecuteActivity(housekeepingOptions(ctx), c.PlanCrawl).Get(ctx, &plan); err != nil {
		return CrawlResult{}, err
	}
	result := CrawlResult{Seeds: plan.Seeds}
	children := make([]workflow.ChildWorkflowFuture, 0, len(plan.Domains))
	for _, domain := range plan.Domains {
		child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
			WorkflowID:            CrawlDomainID(domain),
			ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
			WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
			TypedSearchAttributes: temporal.NewSearchAttributes(DomainKey.ValueSet(domain)),
			StaticSummary:         "Crawls " + domain,
		})
		children = append(children, workflow.ExecuteChildWorkflow(child, CrawlDomainWorkflow, CrawlDomainInput{
			Domain: domain,
		}))
	}
	for _, child := range children {
		err := child.GetChildWorkflowExecution().Get(ctx, nil)
		var running *temporal.ChildWorkflowExecutionAlreadyStartedError
		switch {
		case err == nil:
			result.Started++
		case errors.As(err, &running):
			result.Running++
		default:
			return result, err
		}
	}
	return result, nil
}

// CrawlDomain crawls a domain until no URL is due or the domain is paused. All
// state is in the database: the workflow can be terminated at any time and is
// started again when something is due.
func CrawlDomain(ctx workflow.Context, in CrawlDomainInput) (CrawlDomainResult, error) {
	var total CrawlDomainResult
	signals := crawlCommandSignals(ctx)
	for fetches := 0; ; fetches++ {
		if err := applyCommands(ctx, in.Domain, signals.pending()); err != nil {
			return total, err
		}
		if fetches >= fetchesPerRun || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return total, workflow.NewContinueAsNewError(ctx, CrawlDomainWorkflow, in)
		}
		result, requested, err := fetchOnce(ctx, in.Domain, signals)
		if err != nil {
			return total, err
		}
		total.Fetched, total.Stored, total.Found = total.Fetched+result.Fetched, total.Stored+
			result.Stored, total.Found+result.Found
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%d pages fetched, %d stored, %d found", total.Fetched,
			total.Stored, total.Found))
		if requested != "" {
			if err := applyCommands(ctx, in.Domain, []crawl.Command{requested}); err != nil {
				return total, err
			}
			continue
		}
		if result.Paused || result.NextDue == nil || result.NextDue.Sub(workflow.Now(ctx)) > maxInlineWait {
			// A signal that arrived in the meantime must not get lost.
			if pending := signals.pending(); len(pending) > 0 {
				if err := applyCommands(ctx, in.Domain, pending); err != nil {
					return total, err
				}
				continue
			}
			return total, nil
		}
		if wait := result.NextDue.Sub(workflow.Now(ctx)); wait > 0 {
			signals.wait(ctx, wait)
		}
	}
}

// fetchOnce runs one fetch activity. A signal cancels it and is returned.
func fetchOnce(
	ctx workflow.Context, domain string, signals commandSignals,
) (result activities.FetchDomainResult, requested crawl.Command, err error) {
	var c *activities.Crawl
	fetchCtx, cancel := workflow.WithCancel(crawlOptions(ctx, "Crawls "+domain))
	future := workflow.ExecuteActivity(fetchCtx, c.FetchDomain, activities.FetchDomainInput{Domain: domain})
	selector := workflow.NewSelector(ctx)
	selector.AddFuture(future, func(workflow.Future) {})
	signals.receive(selector, func(command crawl.Command) { requested = command; cancel() })
	selector.Select(ctx)
	err = future.Get(ctx, &result)
	if requested != "" && temporal.IsCanceledError(err) && ctx.Err() == nil {
		err = nil
	}
	return result, requested, err
}

// applyCommands applies the commands of signals. The row decides: a pause lasts
// until the domain is resumed, even after this workflow has ended.
func applyCommands(ctx workflow.Context, domain string, requested []crawl.Command) error {
	var c *activities.Crawl
	for _, command := range requested {
		err := workflow.ExecuteLocalActivity(databaseOptions(ctx, "Applies "+string(command)), c.ApplyDomainCommand,
			activities.DomainCommandInput{Domain: domain, Command: command}).Get(ctx, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// commandSignals are the signal channels, in a fixed order.
type commandSignals []commandSignal

type commandSignal struct {
	command crawl.Command
	channel workflow.ReceiveChannel
}

func crawlCommandSignals(ctx workflow.Context) commandSignals {
	return commandSignals{
		{crawl.Empty, workflow.GetSignalChannel(ctx, SignalEmpty)},
		{crawl.Resume, workflow.GetSignalChannel(ctx, SignalResume)},
		{crawl.RunNow, workflow.GetSignalChannel(ctx, SignalRunNow)},
		{crawl.Pause, workflow.GetSignalChannel(ctx, SignalPause)}, // last, so that it wins over the others
	}
}

// pending returns the signals received so far.
func (s commandSignals) pending() (requested []crawl.Command) {
	for _, signal := range s {
		for signal.channel.ReceiveAsync(nil) {
			requested = append(requested, signal.command)
		}
	}
	return requested
}

// receive registers the channels with a selector, which takes one signal.
func (s commandSignals) receive(selector workflow.Selector, handle func(crawl.Command)) {
	for _, signal := range s {
		selector.AddReceive(signal.channel, func(c workflow.ReceiveChannel, _ bool) {
			c.ReceiveAsync(nil)
			handle(signal.command)
		})
	}
}

// wait sleeps until a signal arrives, which stays in its channel.
func (s commandSignals) wait(ctx workflow.Context, d time.Duration) {
	timerCtx, stop := workflow.WithCancel(ctx)
	defer stop()
	selector := workflow.NewSelector(ctx)
	selector.AddFuture(workflow.NewTimer(timerCtx, d), func(workflow.Future) {})
	for _, signal := range s {
		selector.AddReceive(signal.channel, func(workflow.ReceiveChannel, bool) {})
	}
	selector.Select(ctx)
}

// RebuildURLFilter rebuilds the filter of known URLs from the database. A
// schedule runs it.
func RebuildURLFilter(ctx workflow.Context) (urls int, err error) {
	var k *activities.CrawlMaintenance
	err = workflow.ExecuteActivity(longRunningOptions(ctx, "Rebuilds the URL filter"), k.RebuildURLFilter).Get(ctx,
		&urls)
	return urls, err
}

// DeleteOldPageVersions deletes old versions of pages. A schedule runs it.
func DeleteOldPageVersions(ctx workflow.Context) (dropped int, err error) {
	var k *activities.CrawlMaintenance
	err = workflow.ExecuteActivity(longRunningOptions(ctx, "Deletes old page versions"), k.DeleteOldPageVersions).
		Get(ctx, &dropped)
	return dropped, err
}

// ExportPages writes a WARC file of a domain into the object store.
func ExportPages(ctx workflow.Context, in ExportPagesInput) (out activities.ExportResult, err error) {
	var k *activities.CrawlMaintenance
	err = workflow.ExecuteActivity(longRunningOptions(ctx, "Writes the WARC file"), k.ExportPages,
		activities.ExportInput(in)).Get(ctx, &out)
	return out, err
}
