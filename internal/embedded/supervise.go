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
	// firstDelay is the delay before the first restart. It doubles with every exit within exitWindow.
	firstDelay = 500 * time.Millisecond
	// A child that exits more than maxExits times within exitWindow is not restarted.
	maxExits   = 5
	exitWindow = time.Minute
)

// superviseInBackground supervises a child until ctx ends. The channel then delivers the last child, to stop it.
func (h *Host) superviseInBackground(
	ctx context.Context, c *child, log *slog.Logger, delay time.Duration, failed chan<- error,
) <-chan *child {
	last := make(chan *child, 1)
	go func() {
		c, err := h.supervise(ctx, c, log, delay)
		if err != nil {
			failed <- err
		}
		last <- c
	}()
	return last
}

// supervise restarts a child when it exits, with the same arguments, port and data. It returns
// when ctx ends, or with an error if the child exits repeatedly or cannot be restarted. The
// returned child may still be running.
func (h *Host) supervise(ctx context.Context, c *child, log *slog.Logger, delay time.Duration) (*child, error) {
	log = log.With("engine", c.spec.name)
	var exits []time.Time
	ready := true
	for {
		select {
		case <-ctx.Done():
			return c, nil
		case <-c.done:
		}
		// Only if it was ready, or a child that fails slowly would be restarted forever.
		if ready {
			exits = slices.DeleteFunc(exits, func(t time.Time) bool { return time.Since(t) > exitWindow })
		}
		exits = append(exits, time.Now())
		if len(exits) > maxExits {
			return c, fmt.Errorf("%s exited %d times within a minute and is not restarted: %w", c.spec.name, len(exits),
				c.failure())
		}
		wait := delay << (len(exits) - 1)
		log.Warn("an engine exited unexpectedly and will be restarted", "status", c.status(), "log_file", c.logPath,
			"wait", wait)
		if retry.Sleep(ctx, wait) != nil {
			return c, nil //nolint:nilerr // stopping was requested
		}
		if err := h.checkDataDir(); err != nil {
			return c, err
		}
		next, err := h.startChild(c.spec)
		if err != nil {
			return c, fmt.Errorf("%w\nIt cannot be restarted: %w", c.failure(), err)
		}
		c = next
		err = c.waitReady(ctx)
		ready = err == nil
		switch {
		case ctx.Err() != nil:
			return c, nil //nolint:nilerr // stopping was requested
		case ready:
			log.Info("the engine was restarted", "exits", len(exits))
		case c.alive():
			return c, fmt.Errorf("after an unexpected exit, %w", err)
		}
	}
}
