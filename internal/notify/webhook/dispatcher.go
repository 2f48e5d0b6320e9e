package webhook

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/retry"
)

// DispatchStore is the outbox of the dispatcher.
type DispatchStore interface {
	AlignCursor(ctx context.Context) (restored bool, err error)
	PendingWebhookWork(ctx context.Context, overdue time.Duration) (events, deliveries bool, err error)
	DispatchWebhooks(ctx context.Context, limit int, body func(Event) (string, error)) (dispatched int, err error)
	DeliveriesToStart(ctx context.Context, limit int, l Limits) ([]uuid.UUID, error)
	DeliveryStarted(ctx context.Context, id uuid.UUID) error
	PruneDeliveries(ctx context.Context, retentionDays, limit int) (int64, error)
}

// Limits select the deliveries to start.
type Limits struct {
	PerEndpoint int           // maximum attempts in flight per endpoint
	RetryAfter  time.Duration // after a failed start
	Overdue     time.Duration // after which the workflow of a delivery is started again
}

// DeliveryWorkflows starts the workflow of a delivery, or signals the running one.
type DeliveryWorkflows interface {
	StartDelivery(ctx context.Context, id uuid.UUID) error
}

// Notifications signal new events.
type Notifications interface {
	ListenAll(ctx context.Context) <-chan struct{}
}

// Dispatcher creates deliveries from events, exactly once, and starts a workflow for
// each. Several dispatchers can run: one at a time moves the cursor, all start workflows.
type Dispatcher struct {
	Store         DispatchStore
	Workflows     DeliveryWorkflows
	Notifications Notifications
	PublicURL     string
	Log           *slog.Logger
	Pace          Pace
}

// Pace contains the intervals of the dispatcher. Zero fields have defaults; tests use
// shorter intervals.
type Pace struct {
	PollInterval  time.Duration // without notifications; default 2 s
	MinInterval   time.Duration // minimum between polls; default 300 ms
	StartInterval time.Duration // between workflow starts, so that publishing has priority; default 20 ms
	Overdue       time.Duration // see Limits; default 2 min
	RetryAfter    time.Duration // see Limits; default 10 s
}

func (p Pace) withDefaults() Pace {
	for field, fallback := range map[*time.Duration]time.Duration{
		&p.PollInterval:  2 * time.Second,
		&p.MinInterval:   300 * time.Millisecond,
		&p.StartInterval: 20 * time.Millisecond, &p.Overdue: 2 * time.Minute, &p.RetryAfter: 10 * time.Second,
	} {
		if *field <= 0 {
			*field = fallback
		}
	}
	return p
}

const (
	eventBatchSize = 500
	startBatchSize = 50
	maxPerEndpoint = 64
	pruneInterval  = time.Hour
	pruneBatchSize = 1000
	retentionDays  = 30
)

// Run dispatches until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) {
	pace := d.Pace.withDefaults()
	wake := d.Notifications.ListenAll(ctx)
	var aligned bool
	var prunedAt time.Time
	for interval := pace.MinInterval; ctx.Err() == nil; {
		err := d.alignCursor(ctx, &aligned)
		var progressed, pending bool
		if err == nil {
			progressed, pending, err = d.poll(ctx, pace)
		}
		if err == nil && time.Since(prunedAt) > pruneInterval {
			prunedAt, err = time.Now(), d.prune(ctx)
		}
		if err != nil && ctx.Err() == nil {
			d.Log.Warn("webhooks were not dispatched", "error", err)
		}
		if retry.Sleep(ctx, interval) != nil {
			return
		}
		switch {
		case progressed && err == nil:
			interval = pace.MinInterval
		case pending && err == nil:
			// Events wait for a long transaction, or another dispatcher holds the lock.
			interval = min(interval*3/2, pace.PollInterval)
		default:
			interval = pace.MinInterval
			if !sleepOrWake(ctx, pace.PollInterval, wake) {
				return
			}
		}
	}
}

func (d *Dispatcher) alignCursor(ctx context.Context, aligned *bool) error {
	if *aligned {
		return nil
	}
	restored, err := d.Store.AlignCursor(ctx)
	if err != nil {
		return err
	}
	if *aligned = true; restored {
		d.Log.Warn("the database was restored from a dump; webhooks continue after the last dispatched event")
	}
	return nil
}

// poll dispatches events and starts deliveries. pending reports whether events remain
// that cannot be dispatched yet.
func (d *Dispatcher) poll(ctx context.Context, pace Pace) (progressed, pending bool, err error) {
	events, deliveries, err := d.Store.PendingWebhookWork(ctx, pace.Overdue)
	if err != nil || (!events && !deliveries) {
		return false, false, err
	}
	dispatched := 0
	for more := events; more; {
		n, err := d.Store.DispatchWebhooks(ctx, eventBatchSize, func(e Event) (string, error) {
			return e.Body(d.PublicURL)
		})
		if err != nil {
			return false, false, err
		}
		dispatched += n
		more = n == eventBatchSize
	}
	started, err := d.start(ctx, pace)
	return dispatched+started > 0, events, err
}

// start starts the workflows of deliveries without one. After a failure, the remaining
// ones are started later.
func (d *Dispatcher) start(ctx context.Context, pace Pace) (started int, err error) {
	ids, err := d.Store.DeliveriesToStart(ctx, startBatchSize, Limits{
		PerEndpoint: maxPerEndpoint, RetryAfter: pace.RetryAfter, Overdue: pace.Overdue,
	})
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := d.Workflows.StartDelivery(ctx, id); err != nil {
			return started, err
		}
		if err := d.Store.DeliveryStarted(ctx, id); err != nil {
			return started, err
		}
		if started++; started < len(ids) && retry.Sleep(ctx, pace.StartInterval) != nil {
			return started, ctx.Err()
		}
	}
	return started, nil
}

func (d *Dispatcher) prune(ctx context.Context) error {
	for {
		n, err := d.Store.PruneDeliveries(ctx, retentionDays, pruneBatchSize)
		if err != nil || n < pruneBatchSize {
			return err
		}
	}
}

// sleepOrWake waits for d, or until wake fires. It returns false if ctx ended.
func sleepOrWake(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-wake:
	}
	return true
}
