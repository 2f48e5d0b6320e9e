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
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"dateline/activities"
	"dateline/internal/infra/retry"
	"dateline/internal/publishing/delivery"
)

// Activities are the worker's activities, assembled by the caller. The parts of the product
// whose activities are nil are off.
type Activities struct {
	Publishing *activities.Publishing
	Webhooks   *activities.Webhooks
	Series     *activities.Series
	Library    *activities.Library
	Archive    *activities.Archive
	Tokens     *activities.Tokens
	Views      *activities.Views
	Reports    *activities.Reports
	Search     *activities.Search
	Stories    *activities.Stories
	Rules      *activities.Rules
	Measure    *activities.Measure

	Crawl            *activities.Crawl
	CrawlMaintenance *activities.CrawlMaintenance
	Articles         *activities.Articles
	Watches          *activities.Watches
	WebSub           *activities.WebSub
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
	queues   []taskQueue
	identity string
	running  *delivery.InFlight
	deps     Deps
	registry *registry
	log      *slog.Logger
}

// stopTimeout is how long a stop waits for calls in flight.
const stopTimeout = 20 * time.Second

// New prepares a worker that follows notifications about its posts; Run begins to poll.
func New(c client.Client, a Activities, around Deps) *Worker {
	if around.Build != "" {
		// Without it, Start reads the file of the program, also if the build is recorded
		// (SDK 1.50.0). That takes a moment, and fails if root started the program in a
		// directory that the user nobody cannot enter.
		worker.SetBinaryChecksum(around.Build)
	}
	identity, inFlight := newIdentity(), a.Publishing.Publisher.InFlight()
	return &Worker{
		client: c, queues: taskQueues(a), identity: identity, running: inFlight, deps: around, log: around.Log,
		registry: &registry{
			store: around.Store, releaser: around.Releaser, running: inFlight.Count, horizon: delivery.Horizon,
			identity: identity, log: around.Log,
		},
	}
}

// Deployment is the name of Dateline's worker deployment in histories and in the search
// attribute TemporalUsedWorkerDeploymentVersions.
const Deployment = "dateline"

// recordedBuild records in histories which build ran each task. It does not turn Worker
// Deployment Versioning on, with which a version without workers keeps the tasks of its
// posts (docs/explanation/delivery-engine.md).
func recordedBuild(build string) worker.DeploymentOptions {
	if build == "" {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{Version: worker.WorkerDeploymentVersion{DeploymentName: Deployment, BuildID: build}}
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
	var polled []string
	var stops sync.WaitGroup
	defer stops.Wait()
	for _, q := range w.queues {
		if !q.isOn() {
			continue
		}
		one := q.worker(w.client, w.identity, w.deps.Build)
		if err := one.Start(); err != nil {
			return fmt.Errorf("starting the worker of %s: %w", q.name, err)
		}
		defer stops.Go(one.Stop) // all at the same time
		polled = append(polled, q.name)
	}
	var aside sync.WaitGroup
	aside.Go(func() { w.deps.Dispatcher.Run(ctx) })
	if w.deps.Watcher != nil {
		aside.Go(func() { w.deps.Watcher.Run(ctx) })
	}
	aside.Go(func() { w.running.Follow(ctx, w.deps.Notices.ListenPosts(ctx), w.deps.Store, w.log) })
	w.log.Info("worker started", "queues", polled)
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
		err := ensureSchedules(ctx, w.client, w.queues)
		if err == nil || ctx.Err() != nil {
			return
		}
		w.log.Warn("the schedules are not in place yet", "error", err)
		_ = retry.Sleep(ctx, pause)
	}
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
