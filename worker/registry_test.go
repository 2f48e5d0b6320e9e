package worker

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/temporalclient"
	"dateline/internal/notify/webhook"
	"dateline/internal/publishing/delivery"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/internal/storage/postgres/installation"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/temporaltest"
	"dateline/platforms/fake"
	"dateline/workflows"
	"dateline/workflows/starter"
)

// publishing is a newsroom with Temporal, and no worker yet.
type publishing struct {
	*newsroomtest.Newsroom
	t        *testing.T
	temporal client.Client
	starter  *starter.Starter
}

func openPublishing(t *testing.T) *publishing {
	t.Helper()
	p := &publishing{
		Newsroom: newsroomtest.OpenWith(t, fake.Options{AutoApprove: true}), t: t,
		temporal: temporaltest.Dial(t, temporaltest.Start(t), nil),
	}
	p.starter = &starter.Starter{Client: p.temporal, Namespace: temporaltest.Namespace}
	p.Allow("desk")
	return p
}

func (p *publishing) activities() Activities {
	log := slog.New(slog.DiscardHandler)
	return Activities{
		Publishing: &activities.Publishing{
			Publisher: delivery.New(delivery.Deps{
				Store: p.Store.Delivery(), Accounts: p.Accounts, Networks: p.Networks, Objects: p.Objects, Live: p.Bus, Log: log,
			}),
			Planner:  &delivery.Planner{Store: p.Store.Publishing.Ledger},
			Commands: &delivery.Commands{Store: p.Store.Delivery(), Scheduler: p.Scheduler, Live: p.Bus},
			Recovery: &delivery.Recovery{Store: p.Store.Publishing.Ledger, Signaler: p.starter, Live: p.Bus, Log: log},
		},
		Series:  &activities.Series{Store: p.Store.Publishing.Series, Scheduler: p.Scheduler, Signaler: p.starter, Log: log},
		Library: &activities.Library{Media: p.Media},
		Tokens:  &activities.Tokens{Store: p.Store.Publishing.Accounts, Accounts: p.Accounts, Starter: p.starter, Live: p.Bus, Log: log},
		Webhooks: &activities.Webhooks{
			Deliverer: &webhook.Deliverer{Store: p.Store.Notify.Webhooks, Sealer: p.Sealer, Live: p.Bus, Log: log},
		},
	}
}

// worker creates a worker with notifications of changes and of other workers.
func (p *publishing) worker() *Worker {
	return New(p.temporal, p.activities(), Deps{
		Dispatcher: idle{}, Store: p.Store.Installation.Workers, Releaser: p.starter, Notices: p.Bus,
		Log: slog.New(slog.DiscardHandler),
	})
}

func (p *publishing) run(w *Worker) {
	ctx, end := context.WithCancel(context.WithoutCancel(p.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	p.t.Cleanup(func() { end(); p.Must(<-ended) })
}

func (p *publishing) schedule(in time.Duration) post.Post {
	p.t.Helper()
	made, _, err := p.Scheduler.Schedule(p.t.Context(), p.Owner,
		scheduling.Draft{Content: uuid.NewString(), ScheduledTime: time.Now().Add(in).Format(time.RFC3339Nano)},
		idempotency.Key{})
	p.Must(err)
	p.Must(p.starter.Start(p.t.Context(), made))
	return made
}

// give makes Temporal dispatch a post's publishing to a worker that never processes it.
func (p *publishing) give(made post.Post, identity string) {
	p.t.Helper()
	a := p.activities()
	deciding := worker.New(p.temporal, workflows.PostQueue, worker.Options{
		LocalActivityWorkerOnly: true, DisableEagerActivities: true, WorkerStopTimeout: time.Second,
	})
	deciding.RegisterWorkflowWithOptions(workflows.Post, workflow.RegisterOptions{Name: workflows.PostWorkflow})
	deciding.RegisterActivityWithOptions(a.Publishing, activity.RegisterOptions{})
	p.Must(deciding.Start())
	defer deciding.Stop()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	task, err := p.temporal.WorkflowService().PollActivityTaskQueue(ctx,
		&workflowservice.PollActivityTaskQueueRequest{
			Namespace: temporaltest.Namespace,
			TaskQueue: &taskqueuepb.TaskQueue{Name: workflows.PostQueue}, Identity: identity,
		})
	p.Must(err)
	if task.GetWorkflowExecution().GetWorkflowId() != workflows.PostID(made.ID) ||
		task.GetActivityType().GetName() != workflows.PublishActivity {
		p.t.Fatalf("got %v of %v", task.GetActivityType(), task.GetWorkflowExecution())
	}
}

func (p *publishing) wantPosted(made post.Post) {
	p.t.Helper()
	await(p.t, "the post", func() bool {
		now, err := p.Store.Publishing.Posts.Post(p.t.Context(), made.ID)
		return err == nil && now.Status == post.Posted
	})
	if n := len(p.Fake.Posts()); n != 1 {
		p.t.Errorf("%d are published", n)
	}
}

// Posts that were in flight on a killed worker are soon published by another one,
// without waiting for a heartbeat timeout in Temporal.
func TestRegistry_AnotherWorkerPublishesPostsOfADeadWorker(t *testing.T) {
	t.Parallel()
	p := openPublishing(t)
	made := p.schedule(2 * time.Second)
	p.Must(p.Store.Installation.Workers.RecordHeartbeat(t.Context(), "newsroom-2/4711"))
	p.give(made, "newsroom-2/4711")
	p.Exec("update workers set seen_at = clock_timestamp() - interval '1 minute'")
	p.run(p.worker())
	p.wantPosted(made)
	await(t, "the removal of the worker's row from the registry", func() bool {
		renewed, err := p.Store.Installation.Workers.RenewWorkerLease(t.Context(), "newsroom-2/4711", time.Second)
		return err == nil && !renewed
	})
}

// A live worker keeps its posts, however long they take.
func TestTakeover_SkipsPostsOfALiveWorker(t *testing.T) {
	t.Parallel()
	p := openPublishing(t)
	made := p.schedule(2 * time.Second)
	p.give(made, "newsroom-2/4711")
	alive, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for alive.Err() == nil {
			_ = p.Store.Installation.Workers.RecordHeartbeat(alive, "newsroom-2/4711")
			time.Sleep(200 * time.Millisecond)
		}
	}()
	p.run(p.worker())
	time.Sleep(deadAfter + 2*heartbeatInterval)
	if n := len(p.Fake.Posts()); n != 0 {
		t.Fatalf("%d are published", n)
	}
	stop()
	p.wantPosted(made)
}

// Temporal may assume that a worker has a task that never arrived.
func TestTakeover_DispatchesALostTaskAgain(t *testing.T) {
	t.Parallel()
	p := openPublishing(t)
	made := p.schedule(2 * time.Second)
	w := p.worker()
	p.give(made, w.registry.identity)
	p.run(w)
	p.wantPosted(made)
}

// A worker is killed after it claimed the target, and the task of the next attempt
// is lost, too.
func TestTakeover_DispatchesALostTaskOfAClaimedTargetAgain(t *testing.T) {
	t.Parallel()
	p := openPublishing(t)
	made := p.schedule(2 * time.Second)
	w := p.worker()
	p.give(made, w.registry.identity)
	p.Exec("update scheduled_posts set status = 'publishing', scheduled_time = clock_timestamp() - interval '1 minute'")
	p.Exec("update post_targets set status = 'publishing', fence = 1, claimed_until = clock_timestamp() - interval " +
		"'1 second'")
	p.run(w)
	p.wantPosted(made)
}

// heartbeats counts those of a worker, one of whose posts is overdue.
type heartbeats struct {
	idle
	sent atomic.Int32
}

func (h *heartbeats) RecordHeartbeat(context.Context, string) error {
	h.sent.Add(1)
	return nil
}

func (h *heartbeats) ListOverduePosts(context.Context, time.Duration, int) ([]uuid.UUID, error) {
	return []uuid.UUID{uuid.New()}, nil
}

// slowTemporal responds to nothing.
type slowTemporal struct{}

func (slowTemporal) Release(ctx context.Context, _ uuid.UUID, _ temporalclient.Orphans) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func TestRegistry_SendsHeartbeatsWhileTemporalIsSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &heartbeats{}
		r := &registry{
			store: h, releaser: slowTemporal{}, running: func(uuid.UUID) int { return 0 },
			log: slog.New(slog.DiscardHandler),
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r.run(ctx)
		if got, want := int(h.sent.Load()), int(time.Minute/heartbeatInterval); got < want {
			t.Errorf("got %d heartbeats in a minute, want %d", got, want)
		}
	})
}

// deadWorker had 1,200 posts in flight, and one takeover is enough for it.
type deadWorker struct {
	idle
	posts   []installation.DuePost
	leased  atomic.Bool
	deleted atomic.Bool
}

func (d *deadWorker) LeaseDeadWorkers(context.Context, time.Duration, time.Duration) ([]string, error) {
	if d.leased.Swap(true) {
		return nil, nil
	}
	return []string{"dead"}, nil
}

func (d *deadWorker) RenewWorkerLease(context.Context, string, time.Duration) (bool, error) {
	return true, nil
}

func (d *deadWorker) DeleteWorker(context.Context, string) error {
	d.deleted.Store(true)
	return nil
}

func (d *deadWorker) ListDuePosts(
	_ context.Context, _ time.Time, after installation.DuePost, limit int,
) ([]installation.DuePost, error) {
	from := slices.Index(d.posts, after) + 1
	return d.posts[from:min(from+limit, len(d.posts))], nil
}

// lostNode does not respond about one of eight posts, for some time.
type lostNode struct {
	until    time.Time
	mu       sync.Mutex
	released map[uuid.UUID]time.Time
}

func (l *lostNode) Release(ctx context.Context, id uuid.UUID, _ temporalclient.Orphans) (int, error) {
	if id[0] == 0 {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Until(l.until)):
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.released[id] = time.Now()
	return 1, nil
}

// A node of Temporal may be lost together with a worker.
func TestTakeover_ReachesEveryPostWhileAPartOfTemporalDoesNotRespond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &deadWorker{}
		for i := range 1200 {
			id := uuid.UUID{byte(i % 8), byte(i >> 8), byte(i)}
			d.posts = append(d.posts, installation.DuePost{ID: id, At: time.Unix(int64(i), 0)})
		}
		start := time.Now()
		temporal := &lostNode{until: start.Add(15 * time.Second), released: map[uuid.UUID]time.Time{}}
		r := &registry{store: d, releaser: temporal, log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r.run(ctx)
		if n := len(temporal.released); n != len(d.posts) || !d.deleted.Load() {
			t.Fatalf("%d of %d posts were released, worker removed: %t", n, len(d.posts), d.deleted.Load())
		}
		for id, at := range temporal.released {
			limit := 12 * time.Second
			if id[0] == 0 {
				limit = 20 * time.Second
			}
			if took := at.Sub(start); took > limit {
				t.Fatalf("a post was released after %s, want at most %s", took, limit)
			}
		}
	})
}

// lease is that of a dead worker. It ends like that of the database.
type lease struct {
	deadWorker
	mu        sync.Mutex
	until     time.Time
	takeovers int
}

func (l *lease) LeaseDeadWorkers(_ context.Context, _, lease time.Duration) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deleted.Load() || time.Now().Before(l.until) {
		return nil, nil
	}
	l.until = time.Now().Add(lease)
	l.takeovers++
	return []string{"dead"}, nil
}

func (l *lease) RenewWorkerLease(_ context.Context, _ string, lease time.Duration) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !time.Now().Before(l.until) {
		return false, nil
	}
	l.until = time.Now().Add(lease)
	return true, nil
}

// lostNodes do not respond, one of them forever and the other for a minute.
type lostNodes struct{ lostNode }

func (l *lostNodes) Release(ctx context.Context, id uuid.UUID, o temporalclient.Orphans) (int, error) {
	if id[0] == 1 {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return l.lostNode.Release(ctx, id, o)
}

// The lease has to outlast the longest round, and posts that respond again must not wait for those that do not.
func TestTakeover_KeepsItsLeaseAndAsksAboutEveryPost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &lease{}
		for i := range 400 {
			id := uuid.UUID{1, byte(i >> 8), byte(i)}
			if i >= 200 {
				id[0] = 0
			}
			d.posts = append(d.posts, installation.DuePost{ID: id, At: time.Unix(int64(i), 0)})
		}
		temporal := &lostNodes{lostNode{until: time.Now().Add(time.Minute), released: map[uuid.UUID]time.Time{}}}
		r := &registry{store: d, releaser: temporal, log: slog.New(slog.DiscardHandler)}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		r.run(ctx)
		if d.takeovers != 1 {
			t.Errorf("got %d takeovers, want one that keeps its lease", d.takeovers)
		}
		if n := len(temporal.released); n != 200 {
			t.Errorf("%d posts were released, want the 200 for which Temporal responds", n)
		}
	})
}
