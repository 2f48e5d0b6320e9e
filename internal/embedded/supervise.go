package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"dateline/internal/infra/retry"
)

const (
	// firstPause goes before the first new start; every further death within deathWindow doubles it.
	firstPause = 500 * time.Millisecond
	// A child that dies more than maxDeaths times within deathWindow is given up.
	maxDeaths   = 5
	deathWindow = time.Minute
)

// keep supervises the child in the background until ctx ends. The channel then delivers the last child, for its stop.
func (h *Host) keep(ctx context.Context, c *child, log *slog.Logger, pause time.Duration, failed chan<- error) <-chan *child {
	last := make(chan *child, 1)
	go func() {
		c, err := h.supervise(ctx, c, log, pause)
		if err != nil {
			failed <- err
		}
		last <- c
	}()
	return last
}

// supervise starts the child again whenever it ends: same arguments, same port, same data. It returns when ctx ends,
// or with an error when the child keeps dying or cannot be started again. The child that it returns may still run.
func (h *Host) supervise(ctx context.Context, c *child, log *slog.Logger, pause time.Duration) (*child, error) {
	log = log.With("engine", c.spec.name)
	var deaths []time.Time
	ready := true
	for {
		select {
		case <-ctx.Done():
			return c, nil
		case <-c.done:
		}
		// Without the condition, a child that takes long to fail would be started again for ever.
		if ready {
			deaths = slices.DeleteFunc(deaths, func(t time.Time) bool { return time.Since(t) > deathWindow })
		}
		deaths = append(deaths, time.Now())
		if len(deaths) > maxDeaths {
			return c, fmt.Errorf("%s ended %d times in a short while and is not started again: %w", c.spec.name, len(deaths), c.failure())
		}
		wait := pause << (len(deaths) - 1)
		log.Warn("an engine ended unexpectedly and will be started again", "status", c.status(), "log_file", c.logPath, "wait", wait)
		if retry.Sleep(ctx, wait) != nil {
			return c, nil
		}
		next, err := h.startChild(c.spec)
		if err != nil {
			return c, fmt.Errorf("%w\nIt cannot be started again: %w", c.failure(), err)
		}
		c = next
		err = c.waitReady(ctx)
		ready = err == nil
		switch {
		case ctx.Err() != nil:
			return c, nil //nolint:nilerr // it was told to stop
		case ready:
			log.Info("the engine is back", "deaths", len(deaths))
		case c.alive():
			return c, fmt.Errorf("after an unexpected end, %w", err)
		}
	}
}
