package webhook

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/retry"
)

// DispatchStore is the database as the dispatcher uses it.
type DispatchStore interface {
	SettleEvents(ctx context.Context) (restored bool, err error)
	WebhookWork(ctx context.Context, overdue time.Duration) (events, deliveries bool, err error)
	DispatchWebhooks(ctx context.Context, limit int, body func(Event) (string, error)) (looked int, err error)
	DeliveriesToStart(ctx context.Context, most int, l Limits) ([]uuid.UUID, error)
	DeliveryStarted(ctx context.Context, id uuid.UUID) error
	PruneDeliveries(ctx context.Context, keepDays, most int) (int64, error)
}

// Limits say which deliveries may be started.
type Limits struct {
	PerEndpoint int           // attempts of one endpoint that may be under way
	Again       time.Duration // after a start that did not succeed
	Overdue     time.Duration // after which a workflow that was started is not believed in
}

// Starter starts a delivery's workflow, or wakes the one that runs.
type Starter interface {
	StartDelivery(ctx context.Context, id uuid.UUID) error
}

// Notices tell that there are new events.
type Notices interface {
	ListenAll(ctx context.Context) <-chan struct{}
}

// Dispatcher turns events into deliveries, each once, and starts a workflow for
// each. Several may run: one at a time moves the cursor, and all start.
type Dispatcher struct {
	Store     DispatchStore
	Starter   Starter
	Notices   Notices
	PublicURL string
	Log       *slog.Logger
	Pace      Pace
}

// Pace are the dispatcher's pauses. A zero field has the default that suits a
// real installation; tests shorten them.
type Pace struct {
	Look    time.Duration // between looks when no notice comes; 2 s
	Rest    time.Duration // between looks at least; 100 ms
	Spacing time.Duration // between starts: a crowd of posts that goes out needs the machine more; 20 ms
	Overdue time.Duration // see Limits; 2 min
	Again   time.Duration // see Limits; 10 s
}

func (p Pace) orDefaults() Pace {
	for field, fallback := range map[*time.Duration]time.Duration{&p.Look: 2 * time.Second, &p.Rest: 100 * time.Millisecond,
		&p.Spacing: 20 * time.Millisecond, &p.Overdue: 2 * time.Minute, &p.Again: 10 * time.Second} {
		if *field <= 0 {
			*field = fallback
		}
	}
	return p
}

const (
	eventsAtOnce = 500
	startsAtOnce = 50
	perEndpoint  = 64
	pruneEvery   = time.Hour
	pruneAtOnce  = 1000
	keepDays     = 30
)

// Run dispatches until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) {
	pace := d.Pace.orDefaults()
	wake := d.Notices.ListenAll(ctx)
	var settled bool
	var pruned time.Time
	for rest := pace.Rest; ctx.Err() == nil; {
		err := d.settle(ctx, &settled)
		var did, waits bool
		if err == nil {
			did, waits, err = d.look(ctx, pace)
		}
		if err == nil && time.Since(pruned) > pruneEvery {
			pruned, err = time.Now(), d.prune(ctx)
		}
		if err != nil && ctx.Err() == nil {
			d.Log.Warn("webhooks wait", "error", err)
		}
		if retry.Sleep(ctx, rest) != nil {
			return
		}
		switch {
		case did && err == nil:
			rest = pace.Rest
		case waits && err == nil:
			// For a transaction that takes long; or another dispatcher is at it.
			rest = min(rest*3/2, pace.Look)
		default:
			rest = pace.Rest
			if !sleepOrWake(ctx, pace.Look, wake) {
				return
			}
		}
	}
}

func (d *Dispatcher) settle(ctx context.Context, settled *bool) error {
	if *settled {
		return nil
	}
	restored, err := d.Store.SettleEvents(ctx)
	if err != nil {
		return err
	}
	if *settled = true; restored {
		d.Log.Warn("the database was restored from a dump; webhooks go on behind the last event that was dispatched")
	}
	return nil
}

// look does what there is to do. waits says that there are events whose turn
// has not come.
func (d *Dispatcher) look(ctx context.Context, pace Pace) (did, waits bool, err error) {
	events, deliveries, err := d.Store.WebhookWork(ctx, pace.Overdue)
	if err != nil || (!events && !deliveries) {
		return false, false, err
	}
	looked := 0
	for more := events; more; {
		n, err := d.Store.DispatchWebhooks(ctx, eventsAtOnce, func(e Event) (string, error) { return e.Body(d.PublicURL) })
		if err != nil {
			return false, false, err
		}
		looked += n
		more = n == eventsAtOnce
	}
	started, err := d.start(ctx, pace)
	return looked+started > 0, events, err
}

// start starts the workflows of deliveries that have none. A failure leaves the
// rest for later: Temporal is away.
func (d *Dispatcher) start(ctx context.Context, pace Pace) (started int, err error) {
	ids, err := d.Store.DeliveriesToStart(ctx, startsAtOnce, Limits{PerEndpoint: perEndpoint, Again: pace.Again, Overdue: pace.Overdue})
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := d.Starter.StartDelivery(ctx, id); err != nil {
			return started, err
		}
		if err := d.Store.DeliveryStarted(ctx, id); err != nil {
			return started, err
		}
		if started++; started < len(ids) && retry.Sleep(ctx, pace.Spacing) != nil {
			return started, ctx.Err()
		}
	}
	return started, nil
}

func (d *Dispatcher) prune(ctx context.Context) error {
	for {
		n, err := d.Store.PruneDeliveries(ctx, keepDays, pruneAtOnce)
		if err != nil || n < pruneAtOnce {
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
