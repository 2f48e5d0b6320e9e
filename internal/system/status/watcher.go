package status

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"dateline/internal/infra/retry"
)

// EngineDown is the alert about an engine that does not respond.
const EngineDown = "EngineDown"

// EngineDownMessage says what an engine that is down means.
func EngineDownMessage(engine string) string {
	return engine + " does not respond. No data is lost; work that needs it resumes when it is back."
}

// WatcherStore records which engines are down.
type WatcherStore interface {
	RecordEngines(ctx context.Context, source string, down []string, stale time.Duration) (changed bool, err error)
}

// Watcher notifies members when an engine goes down and when it is back. An outage of
// the database cannot be recorded: Prometheus alerts of it.
type Watcher struct {
	Store   WatcherStore
	Checks  map[string]func(context.Context) error // by engine
	Source  string                                 // this process
	Changed func()                                 // announces new events
	Log     *slog.Logger
	// Interval is the interval of checks; 0: 30 s. An engine is down, or back, after two
	// equal results.
	Interval time.Duration
}

const (
	checkInterval = 30 * time.Second
	checkTimeout  = 5 * time.Second
	staleAlert    = 10 * time.Minute
)

// Run checks until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	interval := w.Interval
	if interval <= 0 {
		interval = checkInterval
	}
	var last, stable map[string]bool
	for retry.Sleep(ctx, interval) == nil {
		now := w.check(ctx)
		if stable == nil {
			stable = map[string]bool{}
		}
		for name, isDown := range now {
			if before, known := last[name]; known && before == isDown {
				stable[name] = isDown
			}
		}
		last = now
		if len(stable) == 0 {
			continue // the first check
		}
		down := slices.DeleteFunc(slices.Sorted(maps.Keys(stable)), func(name string) bool { return !stable[name] })
		changed, err := w.Store.RecordEngines(ctx, w.Source, down, staleAlert)
		if err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "the state of the engines was not recorded", "error", err)
		}
		if changed {
			w.Changed()
		}
	}
}

func (w *Watcher) check(ctx context.Context) map[string]bool {
	down := map[string]bool{}
	for name, check := range w.Checks {
		limited, cancel := context.WithTimeout(ctx, checkTimeout)
		down[name] = check(limited) != nil && ctx.Err() == nil
		cancel()
	}
	return down
}
