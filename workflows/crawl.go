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

// drainsPerRun is how many drains a CrawlDomain run does before it continues as
// new: a site with much to fetch is drained for days.
const drainsPerRun = 50

// soon is how long a CrawlDomain waits for the next URL by itself. What is due
// later is the schedule's.
const soon = 15 * time.Second

// Crawl makes due what is due by seeds, and starts a CrawlDomain for every
// domain that has work. A schedule runs it.
//
// Children are abandoned: they outlive the run that started them, which ends as
// soon as all have begun, so that the schedule's next run is not skipped because
// one large site is still being drained. One domain never has two: the id
// forbids it. How many there are at once is bounded by the plan.
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
		children = append(children, workflow.ExecuteChildWorkflow(child, CrawlDomainWorkflow, CrawlDomainInput{Domain: domain}))
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

// CrawlDomain drains one domain's queue, drain by drain, until nothing is due or
// the domain is paused. Everything that it needs to know is in the database: it
// may be terminated at any time, and is started anew when something is due.
func CrawlDomain(ctx workflow.Context, in CrawlDomainInput) (CrawlDomainResult, error) {
	var total CrawlDomainResult
	signals := crawlSignals(ctx)
	for drains := 0; ; drains++ {
		if err := applyControls(ctx, in.Domain, signals.pending()); err != nil {
			return total, err
		}
		if drains >= drainsPerRun || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return total, workflow.NewContinueAsNewError(ctx, CrawlDomainWorkflow, in)
		}
		result, asked, err := drainOnce(ctx, in.Domain, signals)
		if err != nil {
			return total, err
		}
		total.Fetched, total.Stored, total.Found = total.Fetched+result.Fetched, total.Stored+result.Stored, total.Found+result.Found
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%d pages fetched, %d stored, %d found", total.Fetched, total.Stored, total.Found))
		if asked != "" {
			if err := applyControls(ctx, in.Domain, []crawl.Control{asked}); err != nil {
				return total, err
			}
			continue
		}
		if result.Paused || result.NextDue == nil || result.NextDue.Sub(workflow.Now(ctx)) > soon {
			// A signal that came meanwhile must not end with the workflow.
			if late := signals.pending(); len(late) > 0 {
				if err := applyControls(ctx, in.Domain, late); err != nil {
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

// drainOnce runs one drain. A signal calls it off, and is returned.
func drainOnce(ctx workflow.Context, domain string, signals controls) (result activities.DrainResult, asked crawl.Control, err error) {
	var c *activities.Crawl
	draining, callOff := workflow.WithCancel(crawlOptions(ctx, "Crawls "+domain))
	future := workflow.ExecuteActivity(draining, c.DrainDomain, activities.DrainInput{Domain: domain})
	selector := workflow.NewSelector(ctx)
	selector.AddFuture(future, func(workflow.Future) {})
	signals.receive(selector, func(what crawl.Control) { asked = what; callOff() })
	selector.Select(ctx)
	err = future.Get(ctx, &result)
	if asked != "" && temporal.IsCanceledError(err) && ctx.Err() == nil {
		err = nil
	}
	return result, asked, err
}

// applyControls carries out what signals ask for. The row decides: a pause holds until
// somebody resumes, also when this workflow is long gone.
func applyControls(ctx workflow.Context, domain string, asked []crawl.Control) error {
	var c *activities.Crawl
	for _, what := range asked {
		err := workflow.ExecuteLocalActivity(databaseOptions(ctx, "Notes: "+string(what)), c.ControlDomain, activities.ControlInput{Domain: domain, What: what}).Get(ctx, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// controls are the channels of the signals, in a fixed order.
type controls []control

type control struct {
	what    crawl.Control
	channel workflow.ReceiveChannel
}

func crawlSignals(ctx workflow.Context) controls {
	return controls{
		{crawl.Empty, workflow.GetSignalChannel(ctx, SignalEmpty)},
		{crawl.Resume, workflow.GetSignalChannel(ctx, SignalResume)},
		{crawl.RunNow, workflow.GetSignalChannel(ctx, SignalRunNow)},
		{crawl.Pause, workflow.GetSignalChannel(ctx, SignalPause)}, // last: when in doubt, nothing is fetched
	}
}

// pending takes what has come.
func (s controls) pending() (asked []crawl.Control) {
	for _, one := range s {
		for one.channel.ReceiveAsync(nil) {
			asked = append(asked, one.what)
		}
	}
	return asked
}

// receive has a selector take one signal.
func (s controls) receive(selector workflow.Selector, then func(crawl.Control)) {
	for _, one := range s {
		selector.AddReceive(one.channel, func(c workflow.ReceiveChannel, _ bool) {
			c.ReceiveAsync(nil)
			then(one.what)
		})
	}
}

// wait sleeps, until a signal comes. It leaves the signal where it is.
func (s controls) wait(ctx workflow.Context, long time.Duration) {
	timing, stop := workflow.WithCancel(ctx)
	defer stop()
	selector := workflow.NewSelector(ctx)
	selector.AddFuture(workflow.NewTimer(timing, long), func(workflow.Future) {})
	for _, one := range s {
		selector.AddReceive(one.channel, func(workflow.ReceiveChannel, bool) {})
	}
	selector.Select(ctx)
}

// RebuildSeen makes the filter of seen URLs anew. A schedule runs it.
func RebuildSeen(ctx workflow.Context) (urls int, err error) {
	var k *activities.CrawlKeeper
	err = workflow.ExecuteActivity(longRunningOptions(ctx, "Reads all known URLs"), k.RebuildSeen).Get(ctx, &urls)
	return urls, err
}

// SweepPages drops old versions of pages. A schedule runs it.
func SweepPages(ctx workflow.Context) (dropped int, err error) {
	var k *activities.CrawlKeeper
	err = workflow.ExecuteActivity(longRunningOptions(ctx, "Drops old versions"), k.SweepPages).Get(ctx, &dropped)
	return dropped, err
}

// ExportPages writes an archive of a domain into the object store.
func ExportPages(ctx workflow.Context, in ExportPagesInput) (out activities.ExportResult, err error) {
	var k *activities.CrawlKeeper
	err = workflow.ExecuteActivity(longRunningOptions(ctx, "Writes the archive"), k.ExportPages, activities.ExportInput(in)).Get(ctx, &out)
	return out, err
}
