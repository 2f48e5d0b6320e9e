// Package worker runs workflows and activities: it registers them on their
// queues and keeps the schedules in place.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/infra/retry"
	"dateline/internal/publishing/delivery"
	"dateline/workflows"
)

// Activities are the worker's activities, assembled by the caller.
type Activities struct {
	Publishing *activities.Publishing
	Webhooks   *activities.Webhooks
	Series     *activities.Series
	Library    *activities.Library
	Archive    *activities.Archive
	Tokens     *activities.Tokens
	Views      *activities.Views   // nil: readers are not counted
	Reports    *activities.Reports // set together with Views
	Crawler    *CrawlActivities    // nil: the crawler is switched off
	Search     *activities.Search  // nil: without articles
	Stories    *activities.Stories // set together with Search
	Rules      *activities.Rules   // set together with Search
	Measure    *activities.Measure // nil: metrics of posts are not read
}

// Dispatcher turns events into deliveries of webhooks until ctx ends.
type Dispatcher interface {
	Run(ctx context.Context)
}

// Watcher notifies members of engines that are down until ctx ends: status.Watcher.
type Watcher interface {
	Run(ctx context.Context)
}

// Notices reports changes of posts, see delivery.InFlight.Follow.
type Notices interface {
	ListenPosts(ctx context.Context) <-chan []uuid.UUID
}

// Store is the database as the worker itself uses it.
type Store interface {
	RegistryStore
	delivery.ChangeStore
}

// Deps are the worker's dependencies besides its activities.
type Deps struct {
	Dispatcher Dispatcher
	Watcher    Watcher // nil: nobody is notified of engines that are down
	Store      Store
	Releaser   Releaser
	Notices    Notices
	Log        *slog.Logger
	Build      string // of the program, recorded in histories; empty: a checksum of its file
}

// Worker polls Temporal until it is stopped.
type Worker struct {
	client   client.Client
	posts    worker.Worker
	webhooks worker.Worker
	crawl    worker.Worker // nil: the crawler is switched off
	views    bool          // readers are counted
	search   worker.Worker // nil: without articles
	webSub   bool          // hubs of feeds are used
	stories  bool          // articles are placed in stories
	rules    bool          // rules are evaluated
	measure  worker.Worker // nil: metrics of posts are not read
	running  *delivery.InFlight
	deps     Deps
	registry *registry
	log      *slog.Logger
}

// stopTimeout is how long a stop waits for calls in flight.
const stopTimeout = 20 * time.Second

// maxArmedPosts is the maximum number of posts that wait armed in memory.
const maxArmedPosts = 10_000

// maxDeliveries is the maximum number of concurrent webhook attempts, most of which
// wait for a response.
const maxDeliveries = 500

// stickyTimeout is how long a workflow task waits for the worker that has the workflow
// in its cache. A dead worker delays a task by as much.
const stickyTimeout = 15 * time.Second

// New prepares a worker that follows notifications about its posts; Run begins to poll.
func New(c client.Client, a Activities, around Deps) *Worker {
	if around.Build != "" {
		// Without it, the SDK reads the file of the program, which takes a moment and panics
		// if root started it in a directory that the user nobody cannot enter.
		worker.SetBinaryChecksum(around.Build)
	}
	identity := newIdentity()
	inFlight := a.Publishing.Publisher.InFlight()
	posts := worker.New(c, workflows.PostQueue, worker.Options{
		Identity:                                identity,
		MaxConcurrentActivityExecutionSize:      maxArmedPosts,
		MaxConcurrentLocalActivityExecutionSize: 200,
		// The publisher plans its heartbeats itself.
		MaxHeartbeatThrottleInterval: time.Second,
		// Under load a task may wait longer than the default of 5 s; dispatching it to
		// a worker without the workflow in its cache then adds to the load.
		StickyScheduleToStartTimeout: stickyTimeout,
		WorkerStopTimeout:            stopTimeout,
		WorkflowTaskPollerBehavior:   worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior:   worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
	})
	posts.RegisterWorkflowWithOptions(workflows.Post, workflow.RegisterOptions{Name: workflows.PostWorkflow})
	posts.RegisterWorkflowWithOptions(workflows.ReconcilePosts, workflow.RegisterOptions{
		Name: workflows.ReconcilePostsWorkflow,
	})
	posts.RegisterWorkflowWithOptions(workflows.MaterializeSeries, workflow.RegisterOptions{
		Name: workflows.MaterializeSeriesWorkflow,
	})
	posts.RegisterWorkflowWithOptions(workflows.SweepMedia, workflow.RegisterOptions{
		Name: workflows.SweepMediaWorkflow,
	})
	posts.RegisterWorkflowWithOptions(workflows.MaintainAccounts, workflow.RegisterOptions{
		Name: workflows.MaintainAccountsWorkflow,
	})
	posts.RegisterWorkflowWithOptions(workflows.RefreshToken, workflow.RegisterOptions{
		Name: workflows.RefreshTokenWorkflow,
	})
	posts.RegisterWorkflowWithOptions(workflows.ExportWorkspace, workflow.RegisterOptions{
		Name: workflows.ExportWorkspaceWorkflow,
	})
	posts.RegisterActivityWithOptions(a.Publishing, activity.RegisterOptions{})
	posts.RegisterActivityWithOptions(a.Series, activity.RegisterOptions{})
	posts.RegisterActivityWithOptions(a.Library, activity.RegisterOptions{})
	posts.RegisterActivityWithOptions(a.Tokens, activity.RegisterOptions{})
	posts.RegisterActivityWithOptions(a.Archive, activity.RegisterOptions{})
	if a.Views != nil {
		posts.RegisterWorkflowWithOptions(workflows.FlushViews, workflow.RegisterOptions{
			Name: workflows.FlushViewsWorkflow,
		})
		posts.RegisterWorkflowWithOptions(workflows.MaintainViews, workflow.RegisterOptions{
			Name: workflows.MaintainViewsWorkflow,
		})
		posts.RegisterActivityWithOptions(a.Views, activity.RegisterOptions{})
		posts.RegisterWorkflowWithOptions(workflows.SendReports, workflow.RegisterOptions{
			Name: workflows.SendReportsWorkflow,
		})
		posts.RegisterActivityWithOptions(a.Reports, activity.RegisterOptions{})
	}
	if a.Rules != nil {
		posts.RegisterWorkflowWithOptions(workflows.EvaluateRules, workflow.RegisterOptions{
			Name: workflows.EvaluateRulesWorkflow,
		})
		posts.RegisterWorkflowWithOptions(workflows.DecideRule, workflow.RegisterOptions{
			Name: workflows.DecideRuleWorkflow,
		})
		posts.RegisterActivityWithOptions(a.Rules, activity.RegisterOptions{})
	}
	webhooks := worker.New(c, workflows.WebhookQueue, worker.Options{
		MaxConcurrentActivityExecutionSize: maxDeliveries,
		WorkerStopTimeout:                  stopTimeout,
	})
	webhooks.RegisterWorkflowWithOptions(workflows.DeliverWebhook, workflow.RegisterOptions{
		Name: workflows.DeliverWebhookWorkflow,
	})
	webhooks.RegisterActivityWithOptions(a.Webhooks, activity.RegisterOptions{})
	w := &Worker{
		client: c, posts: posts, webhooks: webhooks, views: a.Views != nil, stories: a.Stories != nil,
		rules: a.Rules != nil, running: inFlight, deps: around, log: around.Log, registry: &registry{
			store: around.Store, releaser: around.Releaser, running: inFlight.Count, horizon: delivery.Horizon,
			identity: identity, log: around.Log,
		},
	}
	if a.Crawler != nil {
		w.crawl, w.webSub = NewCrawl(c, *a.Crawler), a.Crawler.WebSub != nil
	}
	if a.Search != nil {
		w.search = NewSearch(c, a.Search, a.Stories)
	}
	if a.Measure != nil {
		w.measure = NewMeasure(c, a.Measure)
	}
	return w
}

// Run works until ctx ends, then waits for calls in flight. It waits for Temporal to
// become available.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	// Beyond ctx: while the worker stops it still has posts in flight.
	registryCtx, stopRegistry := context.WithCancel(context.WithoutCancel(ctx))
	var registry sync.WaitGroup
	registry.Go(func() { w.registry.run(registryCtx) })
	defer registry.Wait()
	defer stopRegistry()
	if err := w.posts.Start(); err != nil {
		return fmt.Errorf("starting the worker: %w", err)
	}
	defer w.stop()
	if err := w.webhooks.Start(); err != nil {
		return fmt.Errorf("starting the worker of webhooks: %w", err)
	}
	queues := []string{workflows.PostQueue, workflows.WebhookQueue}
	if w.crawl != nil {
		if err := w.crawl.Start(); err != nil {
			return fmt.Errorf("starting the worker of the crawler: %w", err)
		}
		queues = append(queues, workflows.CrawlQueue)
	}
	if w.search != nil {
		if err := w.search.Start(); err != nil {
			return fmt.Errorf("starting the worker of the search: %w", err)
		}
		queues = append(queues, workflows.SearchQueue)
	}
	if w.measure != nil {
		if err := w.measure.Start(); err != nil {
			return fmt.Errorf("starting the worker of metrics: %w", err)
		}
		queues = append(queues, workflows.MeasureQueue)
	}
	var aside sync.WaitGroup
	aside.Go(func() { w.deps.Dispatcher.Run(ctx) })
	if w.deps.Watcher != nil {
		aside.Go(func() { w.deps.Watcher.Run(ctx) })
	}
	aside.Go(func() { w.running.Follow(ctx, w.deps.Notices.ListenPosts(ctx), w.deps.Store, w.log) })
	w.log.Info("worker started", "queues", queues)
	w.ensureAllSchedules(ctx)
	<-ctx.Done()
	aside.Wait()
	w.log.Info("worker stopping", "timeout", stopTimeout)
	return nil
}

// ensureAllSchedules retries until all schedules exist: Temporal may become unavailable
// again, which must not end a worker that has posts to publish.
func (w *Worker) ensureAllSchedules(ctx context.Context) {
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		err := ensureSchedules(ctx, w.client)
		for _, part := range []struct {
			on  bool
			all []client.ScheduleOptions
		}{
			{w.views, viewSchedules()},
			{w.crawl != nil, crawlSchedules()},
			{w.webSub, webSubSchedules()},
			{w.search != nil, searchSchedules()},
			{w.stories, storySchedules()},
			{w.rules, ruleSchedules()},
			{w.measure != nil, measureSchedules()},
		} {
			if err == nil && part.on {
				err = ensure(ctx, w.client, part.all)
			} else if err == nil {
				err = deleteSchedules(ctx, w.client, part.all)
			}
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		w.log.Warn("the schedules are not in place yet", "error", err)
		_ = retry.Sleep(ctx, pause)
	}
}

// stop stops all queues concurrently.
func (w *Worker) stop() {
	var all sync.WaitGroup
	all.Go(w.posts.Stop)
	all.Go(w.webhooks.Stop)
	if w.crawl != nil {
		all.Go(w.crawl.Stop)
	}
	if w.search != nil {
		all.Go(w.search.Stop)
	}
	if w.measure != nil {
		all.Go(w.measure.Stop)
	}
	all.Wait()
}

// connect waits for Temporal to respond.
func (w *Worker) connect(ctx context.Context) error {
	for isLogged := false; ; {
		_, err := w.client.CheckHealth(ctx, &client.CheckHealthRequest{})
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !isLogged {
			w.log.Warn("waiting for Temporal", "error", err)
			isLogged = true
		}
		if err := retry.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}
