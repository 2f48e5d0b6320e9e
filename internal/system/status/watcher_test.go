package status_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dateline/internal/system/status"
)

// engineStates keeps the recorded states.
type engineStates struct{ recorded []string }

func (e *engineStates) RecordEngines(_ context.Context, _ string, down []string, _ time.Duration) (bool, error) {
	now := strings.Join(down, ",")
	changed := len(e.recorded) == 0 && now != "" || len(e.recorded) > 0 && e.recorded[len(e.recorded)-1] != now
	if changed {
		e.recorded = append(e.recorded, now)
	}
	return changed, nil
}

// One failed check is no outage, and one good check is no recovery.
func TestWatcher_RecordsAfterTwoEqualResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		states, announced := &engineStates{}, 0
		w := &status.Watcher{
			Store: states, Source: "test", Log: slog.New(slog.DiscardHandler),
			Changed: func() { announced++ }, Checks: map[string]func(context.Context) error{
				"redis": func(context.Context) error {
					if down.Load() {
						return errors.New("connection refused")
					}
					return nil
				}, "temporal": func(context.Context) error { return nil },
			},
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.Run(ctx) }()
		for _, isDown := range []bool{false, false, true, false, true, true, true, false, true, false, false} {
			down.Store(isDown)
			time.Sleep(30 * time.Second)
			synctest.Wait()
		}
		stop()
		<-ended
		if got := strings.Join(states.recorded, "|"); got != "redis|" || announced != 2 {
			t.Errorf("got %q and %d announcements, want an outage and a recovery of redis", got, announced)
		}
	})
}
